// `muster outputs`: what `--out` of `muster run` can write, told from the outputs' own descriptors.
#pragma once

#include <string>

#include "console/command.h"

namespace muster::console {

void add_outputs(CLI::App& app, CommandContext& context);

// "Also write results: json=FILE, command=CMD, …; may be repeated; 'muster outputs' tells more"
std::string outputs_help(const report::Outputs& outputs);

}  // namespace muster::console
