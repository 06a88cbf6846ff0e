#include "console/version_command.h"

#include <CLI/CLI.hpp>

#include "console/say.h"

namespace muster::console {

void add_version(CLI::App& app, CommandContext& /*context*/) {
  app.add_subcommand("version", "Print the version")->callback([] { say("muster {}\n", MUSTER_VERSION); });
}

}  // namespace muster::console
