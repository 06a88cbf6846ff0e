// Times and shares by which nodes are held to be well, for workers, managers and gates alike: what each means, its
// unit, and what another value would trade.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::cores {

struct LivenessOptions {
  // A peer is probed this often; an answer is missed if nothing is heard within the time-out. Shorter finds out sooner,
  // and mistakes a busy peer for a dead one more often.
  base::Duration period = std::chrono::seconds(10);
  base::Duration time_out = std::chrono::seconds(1);

  // Not alive after this many misses in a row, or this long without a sign of life, whichever comes first.
  std::uint32_t misses = 3;
  base::Duration silence = std::chrono::seconds(30);

  // The same until a peer is heard for the first time: it may have much to load.
  base::Duration start_up_period = std::chrono::seconds(5);
  base::Duration start_up_time_out = std::chrono::seconds(5);
  std::uint32_t start_up_misses = 30;

  // A peer that leaves a probe without an answer for this long is not ready, though perhaps alive.
  base::Duration ready_time_out = std::chrono::seconds(2);

  // Up to this share of a period is added to it, so that peers are not all probed at once.
  double jitter = 0.1;
};

struct PaceOptions {
  // Work is counted over intervals of at least this length. Shorter notices sooner, but what takes longer than an
  // interval for one piece of work looks stuck in between.
  base::Duration interval = std::chrono::seconds(10);

  // Shares of the median from which the pace is normal and slow; below it is degraded.
  double normal = 0.8;
  double slow = 0.3;
};

// Intervals with work done that a median is taken of. More remember longer what was usual.
constexpr std::size_t kPaceHistory = 15;

struct HealthOptions {
  // How long a peer that is stuck is drained before it is evicted. Longer than any part may stand still with all the
  // time that it can be given (30 s, 29 s of extensions, 10 s of grace): its leader has ended it by then, so that the
  // timer is for those who do not even do that.
  base::Duration stuck_limit = std::chrono::seconds(75);

  // While more than half of the peers would be evicted nobody is, for at most this long: so many at once speak of a
  // fault of the network or of the judge. A bound is needed because some faults never heal, and the work of those who
  // are really gone must end elsewhere.
  base::Duration systemic_limit = std::chrono::seconds(60);
};

}  // namespace muster::cores
