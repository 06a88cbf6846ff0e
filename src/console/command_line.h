// The command line of muster: what can be typed, with a sentence for each flag, and the command that it calls.
#pragma once

#include "engine/engine.h"
#include "report/output.h"

namespace muster::console {

// Returns the process's exit code.
int command_line(int argc, char** argv, const engine::Registry& registry, const report::Outputs& outputs);

}  // namespace muster::console
