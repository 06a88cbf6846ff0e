// `muster man`: the manual pages as roff, on standard output or into a folder.
#pragma once

#include "console/command.h"

namespace muster::console {

void add_man(CLI::App& app, CommandContext& context);

}  // namespace muster::console
