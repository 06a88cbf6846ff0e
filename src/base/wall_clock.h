// The time of day, for what is dated outside, as the expiry of a cookie is. It may jump; what is measured is measured
// by base::now(). Only shells call it.
#pragma once

#include <chrono>

namespace muster::base {

inline std::chrono::sys_seconds wall_seconds() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace muster::base
