// The two time types of muster. Instant is a point on the monotonic clock and is always passed in to pure code;
// only shells call now(). Both count nanoseconds.
#pragma once

#include <chrono>

namespace muster::base {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline Instant now() {
  return std::chrono::steady_clock::now();
}

constexpr Instant kNever = Instant::max();

constexpr double seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

// Rounds to the nearest nanosecond; values outside the range of Duration are clamped to it.
constexpr Duration from_seconds(double value) {
  constexpr double kLimit = 9.2e9;
  if (!(value > -kLimit)) return Duration::min();
  if (value > kLimit) return Duration::max();
  return Duration(static_cast<Duration::rep>(value * 1e9 + (value < 0 ? -0.5 : 0.5)));
}

}  // namespace muster::base
