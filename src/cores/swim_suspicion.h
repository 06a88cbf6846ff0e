// How long a member may stay suspect before it counts as dead. A suspicion begins with a long time-out, which shrinks
// with every other member that accuses independently (Lifeguard section IV-B); the formulas stand here alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/node_id.h"
#include "base/time.h"
#include "cores/swim_options.h"

namespace muster::cores {

struct SuspicionTerms {
  base::Duration shortest{};
  base::Duration longest{};
  std::uint32_t confirmations = 0;  // expected beyond the first accuser; 0: the shortest applies at once
};

// For a group of `members` that are not dead, this one included.
SuspicionTerms suspicion_terms(const SwimOptions& options, std::size_t members);

// The whole time-out after `confirmed` accusers beyond the first.
base::Duration suspicion_timeout(const SuspicionTerms& terms, std::uint32_t confirmed);

// How often each node sends one update in a group of `members`.
std::uint32_t retransmit_limit(std::uint32_t multiplier, std::size_t members);

// How long between exchanges of full views in a group of `members`.
base::Duration push_pull_period(base::Duration base, std::size_t members);

class Suspicion {
 public:
  Suspicion(const SuspicionTerms& terms, base::NodeId accuser, base::Instant now);

  // True if this accuser is new and one more was expected; the end may then be sooner.
  bool confirm(base::NodeId accuser);
  // Time that does not count, because this node itself stood still.
  void postpone(base::Duration stalled) { began_ += stalled; }

  base::Instant end() const { return began_ + suspicion_timeout(terms_, confirmed_); }
  std::uint32_t confirmed() const { return confirmed_; }

 private:
  SuspicionTerms terms_;
  base::Instant began_;
  std::uint32_t confirmed_ = 0;
  std::vector<base::NodeId> accusers_;  // at most confirmations + 1
};

}  // namespace muster::cores
