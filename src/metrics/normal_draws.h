// Normal deviates from a seeded generator, for tests that make up latencies. Equal seeds give equal numbers on every
// machine, which std::normal_distribution does not promise.
#pragma once

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace muster::metrics {

// Mean 0, deviation 1 (Box and Muller 1958; one of the pair is dropped, so that each call stands alone).
inline double normal_draw(base::Random& random) {
  const double radius = std::sqrt(2 * random.exponential());
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

}  // namespace muster::metrics
