// `muster schema`: the JSON Schema of load tests, for editors.
#pragma once

#include "console/command.h"

namespace muster::console {

void add_schema(CLI::App& app, CommandContext& context);

}  // namespace muster::console
