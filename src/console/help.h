// --help of every command: what it is for, how it is called, examples, then its flags by group, in 80 columns.
#pragma once

#include <memory>
#include <string>

#include "console/app_outline.h"
#include "console/command.h"

namespace CLI {
class FormatterBase;
}

namespace muster::console {

// Headings are bold with `colour`.
std::string help_text(const CommandOutline& command, bool colour);

// What CLI11 asks for the text; `context` says whether to use colours, and outlives it.
std::shared_ptr<CLI::FormatterBase> help_formatter(const CommandContext& context);

// `muster help [COMMAND...]`.
void add_help(CLI::App& app, CommandContext& context);

}  // namespace muster::console
