// `muster version`: which muster this is.
#pragma once

#include "console/command.h"

namespace muster::console {

void add_version(CLI::App& app, CommandContext& context);

}  // namespace muster::console
