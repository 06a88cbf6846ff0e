// Decides which requests a loaded node turns away: by priority, and, once it is stressed, by giving each client its
// fair share. What is critical is never turned away, so probes, cancels and results outlive any flood of jobs. One per
// node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/time.h"
#include "resilience/options.h"
#include "resilience/overload.h"

namespace muster::resilience {

enum class Priority : std::uint8_t {
  kCritical,  // probes, cancel, final results, membership: never shed
  kHigh,      // submit, dispatch, sync: shed when overloaded
  kNormal,    // progress, stats, reconnect: shed when stressed
  kLow,       // detail, debug: shed when busy
};

constexpr bool sheds(Load load, Priority priority) {
  switch (priority) {
    case Priority::kCritical:
      return false;
    case Priority::kHigh:
      return load >= Load::kOverloaded;
    case Priority::kNormal:
      return load >= Load::kStressed;
    case Priority::kLow:
      return load >= Load::kBusy;
  }
  return false;
}

struct Admission {
  bool admitted = true;
  base::Duration retry_after{};  // if not admitted
};

class Shedder {
 public:
  explicit Shedder(const SheddingOptions& options = {}) : options_(options) {}

  // To be asked for every request, shed or not: shares are counted from what is asked for. A client's fair share is
  // what all asked for in the window before, divided by the number of clients that did; it applies while stressed or
  // worse.
  Admission admit(Priority priority, std::uint64_t client, Load load, base::Instant now);

 private:
  void advance(base::Instant now);
  std::uint32_t& asked_by(std::uint64_t client);
  base::Duration retry_after(Load load) const;

  SheddingOptions options_;
  base::Instant window_start_{};
  std::uint64_t share_ = UINT64_MAX;  // requests per client in this window
  std::uint64_t asked_ = 0;           // in this window, by all
  std::uint32_t asked_by_the_rest_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> asked_by_;  // in this window; only ever looked up
};

}  // namespace muster::resilience
