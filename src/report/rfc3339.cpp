#include "report/rfc3339.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace muster::report {

std::string rfc3339(base::Duration since_1970) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_1970);
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(since_1970 - whole).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(whole.count())), milliseconds);
}

}  // namespace muster::report
