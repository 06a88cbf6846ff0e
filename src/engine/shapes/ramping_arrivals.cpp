// Arrivals whose rate follows straight lines from stage to stage, beginning with the load's own rate (none, if it gives
// none). Over a stage the expected number of arrivals is a quadratic of time, which is inverted in closed form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/shapes/built_in.h"

namespace muster::engine {
namespace {

using base::Duration;

struct ArrivalLeg {
  Duration begin{};
  double seconds = 0;
  double from = 0;  // arrivals per second
  double to = 0;
  double count_begin = 0;  // expected arrivals before this leg
  double count_end = 0;
};

// The time into a leg at which `count` more arrivals are expected: the root of slope/2·t² + from·t = count, in the form
// that does not cancel where the slope is small or negative.
double seconds_into(const ArrivalLeg& leg, double count) {
  const double slope = (leg.to - leg.from) / leg.seconds;
  const double root = std::sqrt(std::max(leg.from * leg.from + 2 * slope * count, 0.0));
  const double divisor = leg.from + root;
  return divisor > 0 ? std::min(2 * count / divisor, leg.seconds) : 0;
}

class RampingArrivals final : public LoadShape {
 public:
  RampingArrivals(double start, const std::vector<model::Stage>& stages, std::uint64_t max_vus) : max_vus_(max_vus) {
    double rate = start;
    double count = 0;
    for (const model::Stage& stage : stages) {
      if (stage.over > Duration::zero()) {
        const double seconds = base::seconds(stage.over);
        const double more = (rate + stage.to) / 2 * seconds;
        if (more > 0) legs_.push_back({length_, seconds, rate, stage.to, count, count + more});
        count += more;
        length_ += stage.over;
      }
      rate = stage.to;
    }
  }

  bool open() const override { return true; }
  Duration length() const override { return length_; }
  std::uint64_t peak_vus() const override { return max_vus_; }

  Duration arrival(double count) const override {
    const auto leg = std::upper_bound(legs_.begin(), legs_.end(), count,
                                      [](double wanted, const ArrivalLeg& each) { return wanted < each.count_end; });
    // A count within a rounding error of the end belongs to the end, or an even schedule would gain an arrival.
    if (leg == legs_.end() || count >= legs_.back().count_end * (1 - 1e-12)) return Duration::max();
    const Duration at = leg->begin + base::from_seconds(seconds_into(*leg, std::max(count - leg->count_begin, 0.0)));
    return at < length_ ? at : Duration::max();
  }

 private:
  std::vector<ArrivalLeg> legs_;  // those with arrivals
  Duration length_{};
  std::uint64_t max_vus_;
};

}  // namespace

MadeShape make_ramping_arrivals(const model::Load& load) {
  constexpr double kMostPerSecond = 1e9;
  Duration length{};
  double highest = load.rate;
  for (const model::Stage& stage : load.stages) {
    if (!(stage.to >= 0) || stage.to > kMostPerSecond) {
      return base::fail(fmt::format("A stage of ramping arrivals goes to {}/s; it must lie between 0 and {}/s.",
                                    stage.to, kMostPerSecond));
    }
    if (stage.over < Duration::zero()) return base::fail("A stage of ramping arrivals has a negative length 'over'.");
    if (stage.over > Duration::max() - length)
      return base::fail("The stages of ramping arrivals are too long together.");
    length += stage.over;
    highest = std::max(highest, stage.to);
  }
  if (!(load.rate >= 0) || load.rate > kMostPerSecond) {
    return base::fail(fmt::format("The first rate of ramping arrivals is {}/s; it must lie between 0 and {}/s.",
                                  load.rate, kMostPerSecond));
  }
  if (length == Duration::zero()) {
    return base::fail("A load of ramping arrivals needs a stage with a length, such as '{ to: 500/s, over: 2m }'.");
  }
  if (highest <= 0) return base::fail("A load of ramping arrivals never has one: let a stage go 'to' a rate above 0.");
  if (load.max_vus == 0) return base::fail("A load of arrivals needs 'max_vus' of at least 1 to serve them.");
  return std::make_unique<RampingArrivals>(load.rate, load.stages, load.max_vus);
}

}  // namespace muster::engine
