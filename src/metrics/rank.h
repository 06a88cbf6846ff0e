// Which of the ordered samples a percentile is. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace muster::metrics {

// The smallest rank, from 1, such that at least q·count samples are not above it.
inline std::uint64_t nearest_rank(double q, std::uint64_t count) {
  if (!(q > 0)) return 1;
  if (q >= 1) return count;
  const double exact = q * static_cast<double>(count);
  // 0.07 × 100 is a little more than 7 in floating point and must not become rank 8.
  const double nearest = std::nearbyint(exact);
  const double slack = exact * 4 * std::numeric_limits<double>::epsilon();
  const double rank = std::abs(exact - nearest) <= slack ? nearest : std::ceil(exact);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rank), 1, count);
}

}  // namespace muster::metrics
