// What every HTML report brings along: the style sheet and the scripts of this folder, as they stood when muster was
// built. Made by muster_embed() (cmake/embed.cmake); constant.
#pragma once

#include <string>
#include <string_view>

namespace muster::report::html {

std::string_view style_sheet();

// All scripts in one scope of their own, in the order that src/CMakeLists.txt gives.
std::string script();

}  // namespace muster::report::html
