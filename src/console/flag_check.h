// What is wrong with the flags that say what to run, found before anything is loaded: each message names the flag.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "console/job_source.h"

namespace muster::console {

// Values that no file would give, and flags that do not go together.
base::Expected<void> check_job_flags(const JobFlags& flags);

// Whether a flag's value can stand in a file; `remedy` says what to write otherwise.
base::Expected<void> check_utf8(std::string_view flag, std::string_view text, std::string_view remedy);

// wrk and hey take bare numbers for seconds: "30" with the unit "s" is "30s".
std::string with_unit(const std::string& text, std::string_view unit);

}  // namespace muster::console
