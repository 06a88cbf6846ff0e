#include "resilience/overload.h"

#include <algorithm>

namespace muster::resilience {
namespace {

// How many of the ascending thresholds are reached.
template <class T>
Load reached(const std::array<T, 3>& thresholds, T value) {
  std::size_t level = 0;
  while (level < thresholds.size() && value >= thresholds[level]) ++level;
  return static_cast<Load>(level);
}

}  // namespace

OverloadDetector::OverloadDetector(const OverloadOptions& options) : options_(options) {
  options_.recent = std::clamp<std::size_t>(options_.recent, 1, kMaxTrend);
  options_.trend = std::clamp<std::size_t>(options_.trend, 2, kMaxTrend);
}

void OverloadDetector::handled(base::Duration latency, base::Instant now) {
  // Only what has left the recent ones is baseline: a baseline that held them, too, would run after their mean and
  // never lie far below it.
  if (count_ >= options_.recent) {
    const double old = back(options_.recent - 1).seconds;
    baseline_ = baseline_ < 0 ? old : baseline_ + options_.baseline_weight * (old - baseline_);
  }
  samples_[next_] = {now, std::max(0.0, base::seconds(latency))};
  next_ = (next_ + 1) % kMaxTrend;
  count_ = std::min(count_ + 1, kMaxTrend);
}

Load OverloadDetector::load(base::Instant now) const {
  Load worst = reached(options_.resources, std::max({resources_.cpu, resources_.memory, resources_.queue}));
  const std::size_t count = fresh(now);
  if (count < std::max<std::size_t>(options_.least, 1)) return worst;
  const std::size_t recent = std::min(count, options_.recent);
  double mean = 0;
  for (std::size_t i = 0; i < recent; ++i) mean += back(i).seconds;
  mean /= static_cast<double>(recent);
  worst = std::max(worst, reached(options_.latency, base::from_seconds(mean)));
  if (mean >= base::seconds(options_.floor)) worst = std::max(worst, by_baseline(count, mean));
  return worst;
}

std::size_t OverloadDetector::fresh(base::Instant now) const {
  std::size_t count = 0;
  while (count < count_ && now - back(count).at < options_.sample_life) ++count;
  return count;
}

Load OverloadDetector::by_baseline(std::size_t count, double mean) const {
  if (baseline_ <= 0) return Load::kHealthy;
  if (count >= options_.trend && slope(options_.trend) > options_.slope * baseline_) return Load::kOverloaded;
  return reached(options_.above_baseline, mean / baseline_ - 1);
}

// Least squares over the last `count` samples: seconds from one sample to the next.
double OverloadDetector::slope(std::size_t count) const {
  const double middle = static_cast<double>(count - 1) / 2;
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = middle - static_cast<double>(i);  // the newest is i = 0 and lies furthest to the right
    products += x * back(i).seconds;
    squares += x * x;
  }
  return products / squares;
}

}  // namespace muster::resilience
