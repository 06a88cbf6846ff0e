// Points in time as scripts read them. Pure.
#pragma once

#include <string>

#include "base/time.h"

namespace muster::report {

// "2023-11-14T22:13:20.250Z": UTC, to the millisecond.
std::string rfc3339(base::Duration since_1970);

}  // namespace muster::report
