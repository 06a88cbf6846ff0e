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
        random_(base::mix(seed) ^ base::mix(base::mix(slice.core))) {}

  // The time of the next arrival; Duration::max() when there are no more.
  base::Duration next() {
    if (spacing_ == model::Spacing::kEven) {
      // From whole numbers each time, so that hours of arrivals gather no rounding error.
      return shape_->arrival(static_cast<double>(core_ + cores_ * taken_++));
    }
    count_ += random_.exponential() * static_cast<double>(cores_);
    return shape_->arrival(count_);
  }

 private:
  const LoadShape* shape_;
  model::Spacing spacing_;
  std::uint64_t core_;
  std::uint64_t cores_;
  std::uint64_t taken_ = 0;
  double count_ = 0;
  base::Random random_;
};

}  // namespace muster::engine
