// Names of kept runs: r-20261115-k3f8, the day in UTC and the time of day in four characters, so that they sort by
// time, are short enough to type and easy to read aloud (no i, l, o or u). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::store {

// The name for a run that started at `started` (since 1970). Eight runs may start in one second; `attempt` counts up
// over the names that are taken, and may go on into those of the next second.
std::string run_id(base::Duration started, std::uint32_t attempt);

// What a person may have meant: lower case, o as 0, i and l as 1, and the r- that was left out.
std::string normalised_id(std::string_view typed);

}  // namespace muster::store
