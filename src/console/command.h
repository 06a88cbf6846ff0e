// What every command of the command line is given. A command lives in console/<x>_command.{h,cpp} and registers itself
// by `void add_<x>(CLI::App& app, CommandContext& context)`; command_line.cpp calls that once. Its flags live in a
// std::shared_ptr that the command's callback holds, and the callback leaves the exit code in the context, which
// outlives the parsing.
//
// Help, completions, the man page and the environment's MUSTER_<FLAG> are made from what is registered:
//  - footer("Examples:\n  muster x …") stands first in --help; what follows the indented lines stands last.
//  - group("…") of an option is its heading; configurable(false) keeps it out of the environment.
//  - type_name("…") says what to complete: FILE, FOLDER, YAML (files *.yaml, *.yml), JOB
//    (those and *.lua), or a name in `suggestions`.
//  - choices (CLI::IsMember) complete by themselves.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "console/exit_codes.h"
#include "engine/engine.h"
#include "report/output.h"

namespace CLI {
class App;
}

namespace muster::console {

// One answer to the Tab key.
struct Suggestion {
  std::string value;
  std::string doc = {};  // a few words, shown where the shell can
};

struct CommandContext {
  const engine::Registry& registry;
  const report::Outputs& outputs;
  int code = kGood;
  std::string color = "auto";  // --color of every command; ask colour.h
  // By an option's type name: what can stand there, asked when the Tab key is pressed. Must be quick and quiet.
  std::map<std::string, std::function<std::vector<Suggestion>()>> suggestions = {};
};

}  // namespace muster::console
