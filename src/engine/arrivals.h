// One core's share of an open shape's arrivals, as times since the workflow started, ascending. Belongs to that core;
// the shape outlives it. No clock and no allocation: the core asks for the next time and arms its timer.
//
// Even spacing: the arrivals of the whole workflow are numbered 0, 1, 2, … and number k is due when k are expected, so
// the first is due at once and n per second for s seconds are n·s; core c of n takes numbers c, c+n, c+2n, … The cores
// are thereby offset in phase, and together make the schedule of a single core. Poisson: each core draws a process of
// its own at 1/n of the rate; together they are Poisson at the whole rate.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/time.h"
#include "engine/load_shape.h"
#include "engine/split.h"

namespace muster::engine {

class Arrivals {
 public:
  // `seed` is the workflow's; the core's own sequence is derived from it and the core's position.
  Arrivals(const LoadShape& shape, model::Spacing spacing, const Slice& slice, std::uint64_t seed)
      : shape_(&shape),
        spacing_(spacing),
        core_(slice.core),
        cores_(slice.cores),
        number_(slice.core),
        random_(base::mix(seed) ^ base::mix(base::mix(slice.core))) {}

  // The time of the next arrival; Duration::max() when there are no more.
  base::Duration next() {
    if (spacing_ == model::Spacing::kEven) {
      // From whole numbers each time, so that hours of arrivals gather no rounding error.
      count_ = static_cast<double>(number_) / factor_;
      number_ += cores_;
    } else {
      count_ += random_.exponential() * static_cast<double>(cores_) / factor_;
    }
    return shape_->arrival(count_);
  }

  // From the next one on `factor` times as many arrivals as the shape says; above 0. Number k is then due when k /
  // factor would be expected, on every core alike: evenly spaced cores stay offset, whenever each of them is told.
  void scale(double factor) {
    if (number_ != core_) {
      const auto passed = static_cast<std::uint64_t>(count_ * factor) + 1;
      number_ = passed + (core_ + cores_ - passed % cores_) % cores_;
    }
    factor_ = factor;
  }

 private:
  const LoadShape* shape_;
  model::Spacing spacing_;
  std::uint64_t core_;
  std::uint64_t cores_;
  std::uint64_t number_;  // even: of the next arrival
  double factor_ = 1;
  double count_ = 0;  // what the shape expects at the latest arrival
  base::Random random_;
};

}  // namespace muster::engine
