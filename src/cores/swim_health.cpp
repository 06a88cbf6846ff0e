#include "cores/swim_health.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace muster::cores {
namespace {

struct Degradation {
  std::uint32_t from_score;
  double from_lag;
  double factor;
  double skipped;
  double piggyback;
};

constexpr std::array<Degradation, 5> kLevels{{
    {0, 0, 1, 0, 1},
    {3, 0.5, 1.25, 0, 1},
    {4, 1, 1.5, 0.25, 0.5},
    {6, 2, 2, 0.5, 0.25},
    {7, 4, 3, 1, 0.125},
}};

const Degradation& row(DegradationLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

constexpr int kLagValidIntervals = 5;

}  // namespace

double LocalHealth::factor(DegradationLevel level) {
  return row(level).factor;
}

double LocalHealth::skipped(DegradationLevel level) {
  return row(level).skipped;
}

double LocalHealth::piggyback(DegradationLevel level) {
  return row(level).piggyback;
}

LocalHealth::LocalHealth(const SwimOptions& options)
    : aware_(options.lifeguard.health_aware_probe),
      stretch_per_point_(options.stretch_per_point),
      interval_(options.probe_interval) {}

void LocalHealth::raise(std::uint32_t points) {
  score_ = std::min(score_ + std::min(points, kMaxScore), kMaxScore);
}

void LocalHealth::lower() {
  if (score_ > 0) --score_;
}

void LocalHealth::lag(double ratio, base::Instant now) {
  lag_ = std::isfinite(ratio) ? std::max(ratio, 0.0) : 0;
  lag_until_ = now + kLagValidIntervals * interval_;
  if (lag_ < 1 || now < lag_scored_until_) return;
  raise(lag_ >= 2 ? 2 : 1);
  lag_scored_until_ = now + interval_;
}

DegradationLevel LocalHealth::level(base::Instant now) const {
  if (!aware_) return DegradationLevel::kNormal;
  const double lag = now < lag_until_ ? lag_ : 0;
  std::size_t level = kLevels.size() - 1;
  while (level > 0 && score_ < kLevels[level].from_score && lag < kLevels[level].from_lag) --level;
  return static_cast<DegradationLevel>(level);
}

double LocalHealth::stretch(base::Instant now) const {
  if (!aware_) return 1;
  return std::max(1 + stretch_per_point_ * score_, factor(level(now)));
}

base::Duration LocalHealth::stretched(base::Duration base, base::Instant now) const {
  return base::from_seconds(base::seconds(base) * stretch(now));
}

}  // namespace muster::cores
