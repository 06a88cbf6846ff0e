#include "console/schema_command.h"

#include <CLI/CLI.hpp>

#include "authoring/schema.h"
#include "console/say.h"

namespace muster::console {

void add_schema(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("schema", "Print the JSON Schema of load tests, for editors");
  command.footer(
      "Examples:\n"
      "  muster schema > muster.schema.json\n"
      "A file whose first line is\n"
      "# yaml-language-server: $schema=./muster.schema.json\n"
      "is then completed and checked as one types, by editors with the YAML language server.");
  command.callback([&context] {
    const engine::Registry& registry = context.registry;
    say("{}", authoring::json_schema({.kinds = registry.kinds, .shapes = registry.shape_keys}));
    context.code = kGood;
  });
}

}  // namespace muster::console
