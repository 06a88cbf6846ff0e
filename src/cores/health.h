// What to do with a peer, from whether it is alive, ready and getting on; the same for workers, managers and gates. And
// the guard that keeps a judge from evicting most of its peers at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "cores/health_options.h"
#include "cores/pace.h"

namespace muster::cores {

// From best to worst.
enum class Treatment : std::uint8_t {
  kRoute,
  kHold,         // sends it nothing new: not ready
  kInvestigate,  // alive and ready, but slower than it was
  kDrain,        // stuck: nothing new, and a timer runs
  kEvict,
};

struct Condition {
  bool alive = true;  // Liveness
  bool ready = true;  // Liveness::answering(), and what the peer says of itself
  Pace pace = Pace::kIdle;
};

// What makes a node ready by its own words.
constexpr bool worker_ready(bool accepting, std::uint64_t free_cores) {
  return accepting && free_cores > 0;
}
constexpr bool manager_ready(bool accepting, bool has_quorum, std::uint64_t workers) {
  return accepting && has_quorum && workers > 0;
}
constexpr bool gate_ready(bool accepting, std::uint64_t datacenters, bool stressed) {
  return accepting && datacenters > 0 && !stressed;
}

// One per peer: it remembers since when the peer is stuck.
class Health {
 public:
  explicit Health(const HealthOptions& options = {}) : options_(options) {}

  Treatment judge(const Condition& condition, base::Instant now);

  // When a peer that is stuck is evicted; kNever if it is not.
  base::Instant stuck_deadline() const { return stuck_ ? since_ + options_.stuck_limit : base::kNever; }

 private:
  HealthOptions options_;
  bool stuck_ = false;
  base::Instant since_{};  // if stuck
};

// One per group of peers.
class EvictionGuard {
 public:
  explicit EvictionGuard(const HealthOptions& options = {}) : options_(options) {}

  // Whether evictions may happen now, if so many of all peers would be evicted. To be asked whenever that changes, and
  // at the deadline.
  bool allows(std::size_t would_evict, std::size_t peers, base::Instant now);

  bool systemic() const { return systemic_; }  // more than half at the last asking
  base::Instant deadline() const { return systemic_ ? since_ + options_.systemic_limit : base::kNever; }

 private:
  HealthOptions options_;
  bool systemic_ = false;
  base::Instant since_{};  // if systemic
};

}  // namespace muster::cores
