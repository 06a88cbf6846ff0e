// The Lua side of the script interface: what a script sees under the names `job`, `workflow`, `step`, `http`, `think`,
// `data` and so on. Run in every state before the script, with the table of native functions as its argument.
#pragma once

#include <string_view>

namespace muster::script {

// How errors and traces name it. Lua puts "@" before the name of a file.
constexpr const char* kPreludeName = "muster";
constexpr std::string_view kPreludeSource = "@muster";
std::string_view prelude();

// The same for scripts that were written for wrk.
std::string_view wrk_prelude();

}  // namespace muster::script
