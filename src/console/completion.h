// What the Tab key offers: worked out from the CLI11 app and the words typed so far, by the binary itself, so that the
// scripts of the shells stay small and know no command. See docs/adr/0017.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "console/command.h"

namespace muster::console {

struct Completion {
  enum class Paths : std::uint8_t { kNone, kFiles, kFolders };

  std::vector<Suggestion> values;    // whole words that begin with what was typed
  Paths paths = Paths::kNone;        // the shell adds names of files or folders
  std::vector<std::string> endings;  // of the files; empty: any
};

// `words` are those after "muster"; the last one is being typed and may be empty.
Completion complete(const CLI::App& app, std::span<const std::string> words, const CommandContext& context);

// What the scripts read: a line "value<TAB>sentence" for each value, then one that begins with ':' and says what else:
// ":files .yaml .yml", ":folders" or ":none". Values that go on ('=' or '/' at their end) want no space behind them.
std::string completion_lines(const Completion& completion);

// The script for "bash", "zsh" or "fish"; empty for any other shell.
std::string_view completion_script(std::string_view shell);

}  // namespace muster::console
