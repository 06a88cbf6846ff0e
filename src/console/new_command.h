// `muster new`: writes a commented load test to start from.
#pragma once

#include <string>

#include "console/command.h"

namespace muster::console {

struct NewFlags {
  std::string file = "test.yaml";  // "-": standard output
  std::string kind = "simple";
  std::string target = "http://127.0.0.1:8080";
  bool force = false;  // replace what is there
};

// Exit code 0; 2 if a file is there already or the address is wrong; 1 if it cannot be written.
int write_new(const NewFlags& flags);

void add_new(CLI::App& app, CommandContext& context);

}  // namespace muster::console
