// What every command of the command line is given. A command lives in console/<x>_command.{h,cpp} and registers itself
// by `void add_<x>(CLI::App& app, CommandContext& context)`; command_line.cpp calls that once. Its flags live in a
// std::shared_ptr that the command's callback holds, and the callback leaves the exit code in the context, which
// outlives the parsing.
#pragma once

#include "console/exit_codes.h"
#include "engine/engine.h"
#include "report/output.h"

namespace CLI {
class App;
}

namespace muster::console {

struct CommandContext {
  const engine::Registry& registry;
  const report::Outputs& outputs;
  int code = kGood;
};

}  // namespace muster::console
