// `muster completion SHELL`: the script that makes the Tab key work, and the answer to what that script asks.
#pragma once

#include <optional>

#include "console/command.h"

namespace muster::console {

void add_completion(CLI::App& app, CommandContext& context);

// `muster complete -- WORD...`, which only the scripts call: answered before any parsing, since the words are half
// typed. Returns the exit code, or nothing if this is another command.
std::optional<int> answer_completion(const CLI::App& app, int argc, const char* const* argv,
                                     const CommandContext& context);

}  // namespace muster::console
