// Figures as JSON takes them.
#pragma once

#include <cmath>

#include "base/time.h"

namespace muster::report {

// Exact to the nanosecond.
inline double microseconds_of(base::Duration duration) {
  return static_cast<double>(duration.count()) / 1000.0;
}

// JSON has no word for what is not finite.
inline double finite_or_zero(double value) {
  return std::isfinite(value) ? value : 0.0;
}

}  // namespace muster::report
