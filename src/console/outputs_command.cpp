#include "console/outputs_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "console/say.h"

namespace muster::console {
namespace {

using Json = nlohmann::ordered_json;

struct OutputsFlags {
  bool json = false;
};

std::string form_of(const report::OutputKind& kind) {
  return kind.argument.empty() ? kind.name : fmt::format("{}={}", kind.name, kind.argument);
}

std::string as_json(const report::Outputs& outputs) {
  Json list = Json::array();
  for (const report::OutputKind& kind : outputs.all()) {
    list.push_back({{"name", kind.name},
                    {"form", form_of(kind)},
                    {"doc", kind.doc},
                    {"argument", kind.argument},
                    {"argument_doc", kind.argument_doc},
                    {"example", kind.example}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

void print(const report::Outputs& outputs) {
  say("Outputs for 'muster run … --out OUTPUT'; several may be given.\n\n");
  for (const report::OutputKind& kind : outputs.all()) {
    say("{}\n    {}\n", form_of(kind), kind.doc);
    if (!kind.argument_doc.empty()) say("    {}: {}\n", kind.argument, kind.argument_doc);
    if (!kind.example.empty()) say("    muster run test.yaml --out {}\n", kind.example);
    say("\n");
  }
}

}  // namespace

std::string outputs_help(const report::Outputs& outputs) {
  std::vector<std::string> forms;
  for (const report::OutputKind& kind : outputs.all()) forms.push_back(form_of(kind));
  return fmt::format("Also write results: {}; may be repeated; 'muster outputs' tells more", fmt::join(forms, ", "));
}

void add_outputs(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("outputs", "List what --out can write, with an example each");
  command.footer("Examples:\n  muster outputs\n  muster outputs --json");
  const auto flags = std::make_shared<OutputsFlags>();
  command.add_flag("--json", flags->json, "Print the list as JSON");
  command.callback([flags, &context] {
    if (flags->json) {
      say("{}\n", as_json(context.outputs));
    } else {
      print(context.outputs);
    }
  });
}

}  // namespace muster::console
