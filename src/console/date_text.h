// A point in time as a user types it where older things are meant: a date, a date with a time, or an age.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace muster::console {

// "2026-11-15", "2026-11-15T10:00" (both UTC), or "30d", "12h" before `now`; both since 1970.
base::Expected<base::Duration> parse_moment(std::string_view text, base::Duration now);

}  // namespace muster::console
