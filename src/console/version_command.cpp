#include "console/version_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/say.h"

namespace muster::console {

void add_version(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("version", "Print the version");
  command.footer("Examples:\n  muster version\n  muster version --json");
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print it as JSON");
  command.callback([json, &context] {
    if (*json) {
      nlohmann::ordered_json out;
      out["version"] = MUSTER_VERSION;
      say("{}\n", out.dump());
    } else {
      say("muster {}\n", MUSTER_VERSION);
    }
    context.code = kGood;
  });
}

}  // namespace muster::console
