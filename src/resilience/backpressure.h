// What a receiver asks of those who send it progress, by how full its intake queue is, and how long they then collect
// before they flush. What is flushed is cumulative, so waiting loses nothing. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/random.h"
#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

enum class Pressure : std::uint8_t { kNone, kThrottle, kBatch, kReject };

// A queue without room is full.
constexpr Pressure pressure(std::size_t queued, std::size_t capacity, const BackpressureOptions& options = {}) {
  std::uint8_t level = 0;
  for (const std::uint32_t percent : options.percent) {
    level += static_cast<base::Wide>(queued) * 100 >= static_cast<base::Wide>(capacity) * percent;
  }
  return static_cast<Pressure>(level);
}

constexpr base::Duration flush_interval(Pressure pressure, const BackpressureOptions& options = {}) {
  return options.flush[std::to_underlying(pressure)];
}

}  // namespace muster::resilience
