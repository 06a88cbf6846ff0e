// How well this node itself is doing, as far as it can tell: Lifeguard's score from 0 (well) to 8, the lag of its event
// loop, and the level of degradation that follows from the worse of both. Slow nodes wrong others; so they slow down.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "cores/swim_options.h"

namespace muster::cores {

enum class DegradationLevel : std::uint8_t { kNormal, kElevated, kHigh, kSevere, kCritical };

class LocalHealth {
 public:
  static constexpr std::uint32_t kMaxScore = 8;

  // How much longer intervals and time-outs are at a level.
  static double factor(DegradationLevel level);
  // Share of the probes of members that are not suspect that is left out.
  static double skipped(DegradationLevel level);
  // Share of a datagram that gossip may fill.
  static double piggyback(DegradationLevel level);

  explicit LocalHealth(const SwimOptions& options);

  void raise(std::uint32_t points);
  void lower();
  // The loop ran `ratio` times its interval late. Worth one point from 1, two from 2, at most once per probe interval.
  void lag(double ratio, base::Instant now);

  std::uint32_t score() const { return score_; }
  // A lag that was not told again for five probe intervals is over.
  DegradationLevel level(base::Instant now) const;
  // What probe interval and time-out are multiplied with.
  double stretch(base::Instant now) const;
  base::Duration stretched(base::Duration base, base::Instant now) const;

 private:
  bool aware_;
  double stretch_per_point_;
  base::Duration interval_;
  std::uint32_t score_ = 0;
  double lag_ = 0;
  base::Instant lag_until_{};
  base::Instant lag_scored_until_{};
};

}  // namespace muster::cores
