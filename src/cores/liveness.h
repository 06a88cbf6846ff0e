// Whether one peer is alive: probes at intervals, misses in a row, and silence. Any sign of life counts, not only
// answers to probes. Its owner wakes it at its deadline, sends a probe when told to, and says what it hears.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/time.h"
#include "cores/health_options.h"

namespace muster::cores {

class Liveness {
 public:
  // Begins as starting up: with more patience until the peer is heard. The first probe is due at once.
  Liveness(const LivenessOptions& options, base::Instant now);

  // To be called at the deadline, before anything is asked; true if a probe is to be sent now.
  bool wake(base::Instant now, base::Random& random);

  // An answer, a heartbeat, progress: anything that the peer sent.
  void heard(base::Instant now);

  bool alive(base::Instant now) const;

  // False while a probe is without an answer for so long that no work should be sent there.
  bool answering(base::Instant now) const;

  bool started() const { return started_; }
  std::uint32_t misses() const { return misses_; }

  // When to wake: for a probe, or for the time-out of one.
  base::Instant deadline() const;

 private:
  base::Duration time_out() const { return started_ ? options_.time_out : options_.start_up_time_out; }

  LivenessOptions options_;
  base::Instant last_heard_;  // at first: when it began
  base::Instant next_probe_;
  base::Instant unanswered_ = base::kNever;     // when the first probe was sent that nothing came after
  base::Instant awaited_until_ = base::kNever;  // the time-out of the last probe
  std::uint32_t misses_ = 0;
  bool started_ = false;
};

}  // namespace muster::cores
