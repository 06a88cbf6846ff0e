// A threshold as people read it: what it asks for, over which windows and of what, and what was measured. The summary
// and the live screen tell it alike. Pure.
#pragma once

#include <string>

#include "model/result.h"

namespace muster::report {

// "latency p99 < 1s in every 10s (step=login)"; as the user wrote it: not yet safe to print.
std::string threshold_text(const model::ThresholdVerdict& verdict);

// The measured value with the unit of the bound: "281ms", "0.4%", "1,963/s". As many digits as tell it
// from a bound that it does not equal.
std::string measured_text(const model::ThresholdVerdict& verdict, bool unicode);

}  // namespace muster::report
