// VUs that follow straight lines from stage to stage, beginning with none. A stage without length is a jump.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/shapes/built_in.h"

namespace muster::engine {
namespace {

using base::Duration;

struct VuLeg {
  Duration begin{};
  Duration end{};
  double from = 0;
  double to = 0;
};

class RampingVus final : public LoadShape {
 public:
  explicit RampingVus(const std::vector<model::Stage>& stages) {
    double vus = 0;
    for (const model::Stage& stage : stages) {
      if (stage.over > Duration::zero()) {
        legs_.push_back({length_, length_ + stage.over, vus, stage.to});
        length_ += stage.over;
      }
      vus = stage.to;
      peak_ = std::max(peak_, vus);
    }
  }

  bool open() const override { return false; }
  Duration length() const override { return length_; }
  std::uint64_t peak_vus() const override { return static_cast<std::uint64_t>(peak_); }

  double vus_at(Duration elapsed) const override {
    elapsed = std::max(elapsed, Duration::zero());
    const auto leg = leg_at(elapsed);
    return leg == legs_.end() ? 0 : value(*leg, elapsed);
  }

  Duration next_change(Duration elapsed) const override {
    elapsed = std::max(elapsed, Duration::zero());
    const double now = vus_at(elapsed);
    for (auto leg = leg_at(elapsed); leg != legs_.end(); ++leg) {
      if (value(*leg, leg->begin) != now && leg->begin > elapsed) return leg->begin;
      const Duration last = leg->end - Duration(1);
      if (value(*leg, last) != now) return first_change(*leg, std::max(elapsed, leg->begin), now);
    }
    return now == 0 ? Duration::max() : length_;
  }

 private:
  std::vector<VuLeg>::const_iterator leg_at(Duration elapsed) const {
    return std::upper_bound(legs_.begin(), legs_.end(), elapsed,
                            [](Duration at, const VuLeg& leg) { return at < leg.end; });
  }

  static double value(const VuLeg& leg, Duration elapsed) {
    const double part =
        static_cast<double>((elapsed - leg.begin).count()) / static_cast<double>((leg.end - leg.begin).count());
    // The slack lets a ramp reach a whole number when it should, not a rounding error later.
    constexpr double kSlack = 1e-9;
    return std::floor(leg.from + (leg.to - leg.from) * part + kSlack);
  }

  // The value is monotonic over a leg, so the moment of change is found by halving: exact to the nanosecond, and by
  // construction in step with vus_at.
  static Duration first_change(const VuLeg& leg, Duration same, double now) {
    Duration changed = leg.end - Duration(1);
    while (changed - same > Duration(1)) {
      const Duration middle = same + (changed - same) / 2;
      (value(leg, middle) == now ? same : changed) = middle;
    }
    return changed;
  }

  std::vector<VuLeg> legs_;
  Duration length_{};
  double peak_ = 0;
};

}  // namespace

MadeShape make_ramping_vus(const model::Load& load) {
  constexpr double kMostVus = 1e9;
  Duration length{};
  double peak = 0;
  for (const model::Stage& stage : load.stages) {
    if (!(stage.to >= 0) || stage.to > kMostVus) {
      return base::fail(
          fmt::format("A stage of ramping VUs goes to {}; it must lie between 0 and {}.", stage.to, kMostVus));
    }
    if (stage.over < Duration::zero()) return base::fail("A stage of ramping VUs has a negative length 'over'.");
    if (stage.over > Duration::max() - length) return base::fail("The stages of ramping VUs are too long together.");
    length += stage.over;
    peak = std::max(peak, stage.to);
  }
  if (length == Duration::zero()) {
    return base::fail("A load of ramping VUs needs a stage with a length, such as '{ to: 100, over: 1m }'.");
  }
  if (peak < 1) return base::fail("A load of ramping VUs never reaches one VU: let a stage go 'to' 1 or more.");
  return std::make_unique<RampingVus>(load.stages);
}

}  // namespace muster::engine
