// `muster import KIND`: turns what another tool recorded or describes into a load test, and lists what it could not
// take over. Each importer of the authoring room is a command below it, with its own flags.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "authoring/import.h"
#include "console/command.h"

namespace muster::console {

struct ImportFlags {
  std::string file;                // "-" or nothing: standard input
  std::vector<std::string> words;  // of a command after `--`, in place of a file
  std::string output;              // -o; empty or "-": standard output
  bool force = false;              // replace what is there
  bool json = false;               // tell the outcome as JSON
  std::vector<std::pair<std::string, std::string>> settings;
};

// Exit code 0; 2 if nothing could be made of the input or the file is there already; 1 if it cannot be written.
int import_from(const authoring::Importer& importer, const ImportFlags& flags);

void add_import(CLI::App& app, CommandContext& context);

}  // namespace muster::console
