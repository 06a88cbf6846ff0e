// Cuts a shell text into commands and words as a POSIX shell does, with $'…' as bash has it. Nothing is ever run or
// expanded: $NAME becomes a variable between the marks of import_draft.h, and what a shell would run, $(…) and `…`, a
// variable with a made-up name and a note.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "authoring/import.h"
#include "base/error.h"

namespace muster::authoring {

struct ShellCommand {
  std::vector<std::string> words;
  std::string input;             // of a here-document
  bool has_input = false;        // there is one
  std::size_t line = 1;          // where it begins
  bool after_ampersand = false;  // a bare '&' ended the command before
};

struct ShellText {
  std::vector<ShellCommand> commands;  // none without words
  std::vector<ImportNote> notes;
};

// Fails on what a shell would refuse too: a quote that is not closed.
base::Expected<ShellText> split_shell(std::string_view text, const ImportLimits& limits);

}  // namespace muster::authoring
