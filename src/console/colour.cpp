#include "console/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace muster::console {
namespace {

// https://no-color.org: present and not empty.
bool refused() {
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return true;
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) == "dumb";
}

}  // namespace

bool use_colour(std::string_view wish, std::FILE* to) {
  if (wish == "always") return true;
  if (wish == "never") return false;
  return isatty(fileno(to)) == 1 && !refused();
}

}  // namespace muster::console
