// Counts what happened in about the last window with two numbers: those of the current window and of the one before,
// the latter weighted by how much of it still lies within reach: current + previous·(1 − progress). A plain value.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace muster::resilience {

class SlidingWindow {
 public:
  // Counts one more if that keeps the count within the limit. `length` must be positive and the same in every call.
  bool admit(std::uint32_t limit, base::Duration length, base::Instant now);

  // How long until admit() would say yes if nothing else came; a limit of 0 never does, and gives two lengths.
  base::Duration wait(std::uint32_t limit, base::Duration length, base::Instant now) const;

  double count(base::Duration length, base::Instant now) const;

 private:
  SlidingWindow advanced(base::Duration length, base::Instant now) const;

  std::int64_t window_ = 0;  // the number of the current window: time since the clock's epoch / length
  std::uint32_t current_ = 0;
  std::uint32_t previous_ = 0;
};

}  // namespace muster::resilience
