// For tests: the moment at which they begin.
#pragma once

#include <chrono>

#include "base/time.h"

namespace muster::cores {

constexpr base::Instant kStart{std::chrono::hours(1)};

}  // namespace muster::cores
