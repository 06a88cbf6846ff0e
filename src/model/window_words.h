// The window of a threshold as people read it, wherever a threshold is named: two that differ only in it must not look
// the same. Pure.
#pragma once

#include <string>

#include "base/time.h"

namespace muster::model {

// " in every 10s", " in every 1m30s"; empty without a window.
std::string window_words(base::Duration window);

}  // namespace muster::model
