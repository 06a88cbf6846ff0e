// Whether to use colours, decided in one place for every command.
#pragma once

#include <cstdio>
#include <string_view>

namespace muster::console {

// `wish` is what --color says: "always", "never", or "auto": on a terminal, unless NO_COLOR is set to anything but
// nothing, or TERM is "dumb".
bool use_colour(std::string_view wish, std::FILE* to);

}  // namespace muster::console
