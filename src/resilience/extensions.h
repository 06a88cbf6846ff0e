// Extensions of one worker's health deadline, as a manager grants them: each half as long as the one before, a few in
// all, and only against progress. After the last there is a grace in which the workflow may save; then comes eviction.
// One per watched worker; a worker that is found healthy starts afresh.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

enum class ExtensionReason : std::uint8_t { kLongWorkflow, kPause, kContention };

struct ExtensionRequest {
  ExtensionReason reason = ExtensionReason::kLongWorkflow;
  double progress = 0;             // of the work under way, 0 to 1
  base::Duration estimated_end{};  // from now, as the worker sees it
  std::uint32_t active = 0;        // workflows under way
};

enum class ExtensionVerdict : std::uint8_t {
  kGranted,
  kNoProgress,  // none since the last one was granted, or none at all
  kSuspect,     // who is suspected of being dead has to refute that first
  kExhausted,
  kMalformed,  // progress outside of 0 to 1
};

struct ExtensionAnswer {
  ExtensionVerdict verdict = ExtensionVerdict::kMalformed;
  base::Duration extension{};   // 0 unless granted
  base::Instant deadline{};     // in force after this answer
  std::uint32_t left = 0;       // extensions that may still be asked for
  bool warning = false;         // this was the last one
  base::Duration grace_left{};  // between the deadline and eviction; shrinks once the deadline has passed

  bool granted() const { return verdict == ExtensionVerdict::kGranted; }
};

class Extensions {
 public:
  explicit Extensions(const ExtensionOptions& options = {}) : options_(options) {}

  // `deadline` is the health deadline without extensions; it counts until one is granted. A request that is repeated
  // because its answer was lost gets the same answer again and uses up nothing.
  ExtensionAnswer ask(const ExtensionRequest& request, base::Instant deadline, bool suspect, base::Instant now);

  // The worker is well again.
  void reset();

  // The deadline in force, given the one without extensions.
  base::Instant deadline(base::Instant unextended) const;

  // When the worker is to be evicted if nothing changes: at the deadline, or a grace later if all extensions are used.
  base::Instant evict_at(base::Instant unextended) const;

  bool in_grace(base::Instant now) const;
  std::uint32_t granted() const { return granted_; }

 private:
  ExtensionAnswer answer(ExtensionVerdict verdict, base::Duration extension, base::Instant deadline,
                         base::Instant now) const;
  base::Duration extension(std::uint32_t number) const;

  ExtensionOptions options_;
  std::uint32_t granted_ = 0;
  double progress_ = 0;       // when the last one was granted
  base::Instant deadline_{};  // if granted_ > 0
};

}  // namespace muster::resilience
