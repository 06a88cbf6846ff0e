// Whether a core comes back from its script. Pure: it is told the time, and how long the core's thread has computed.
// One that the machine gives no time to is not in a loop that never ends. Belongs to whoever watches the core.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "engine/options.h"

namespace muster::engine {

class Pulse {
 public:
  enum class Sign : std::uint8_t {
    kAlive,  // as far as can be said
    kLoops,  // it has been computing and does not come back
    kHangs,  // it does not come back, and hardly computes
  };

  // `cpu`: what the core's thread has used so far.
  Pulse(base::Instant now, base::Duration cpu) : moved_(now), cpu_(cpu) {}

  // `ticks` differ whenever the core has come back to its loop.
  Sign look(std::uint64_t ticks, base::Instant now, base::Duration cpu) {
    if (ticks != ticks_) {
      ticks_ = ticks;
      moved_ = now;
      cpu_ = cpu;
    }
    silent_ = now - moved_;
    computed_ = cpu - cpu_;
    if (silent_ >= kScriptPatience && computed_ >= silent_ / 2) return Sign::kLoops;
    return silent_ >= kStarvedPatience ? Sign::kHangs : Sign::kAlive;
  }

  // The watcher itself stood still for so long.
  void forgive(base::Duration pause) { moved_ += pause; }

  // At the latest look: how long it had not come back, and what of that it had computed.
  base::Duration silent() const { return silent_; }
  base::Duration computed() const { return computed_; }

 private:
  std::uint64_t ticks_ = 0;
  base::Instant moved_;
  base::Duration cpu_;  // when it last moved
  base::Duration silent_{};
  base::Duration computed_{};
};

}  // namespace muster::engine
