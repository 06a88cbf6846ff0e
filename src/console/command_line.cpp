#include "console/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>

#include "base/closest.h"
#include "console/check_command.h"
#include "console/command.h"
#include "console/results_command.h"
#include "console/outputs_command.h"
#include "console/run_command.h"
#include "console/say.h"
#include "console/target_command.h"
#include "console/try_command.h"
#include "console/version_command.h"

namespace muster::console {
namespace {

// How each command is called, rather than "[OPTIONS] [file]".
class Usage : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string& command = app->get_name();
    std::string_view form = "[flags]";
    if (command == "run" || command == "try") form = "FILE [flags], or --url URL [flags]";
    if (command == "check") form = "FILE [flags]";
    if (command == "version") form = "";
    if (app->get_parent() == nullptr) form = "COMMAND [flags]";
    return fmt::format("Usage: {} {}\n", name, form);
  }
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands(nullptr)) names.push_back(each->get_name());
  return names;
}

// "; did you mean '--vus'?" for an argument that the command does not know.
std::string flag_hint(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const std::string& each : command.remaining()) {
    if (each.starts_with("--")) return base::did_you_mean(each.substr(0, each.find('=')), flags);
  }
  return {};
}

int complain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "muster" : "muster " + command.get_name();
  say(stderr, "{0}: {1}{2}\n'{0} --help' tells more\n", name, error.what(), flag_hint(command));
  return kBadInput;
}

// Nothing if the command line begins with a command or a flag.
std::optional<int> check_command_name(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) {
    say(stderr, "{}", app.help());
    return kBadInput;
  }
  const std::string word = argv[1];
  const std::vector<std::string> names = command_names(app);
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return std::nullopt;
  std::string hint = base::did_you_mean(word, names);
  if (word.ends_with(".yaml") || word.ends_with(".yml"))
    hint = fmt::format("; to run a file write: muster run {}", word);
  if (word.find("://") != std::string::npos)
    hint = fmt::format("; to load an address write: muster run --url {}", word);
  if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(names, ", "));
  say(stderr, "muster: unknown command '{}'{}\n'muster --help' tells more\n", word, hint);
  return kBadInput;
}

}  // namespace

int command_line(int argc, char** argv, const engine::Registry& registry, const report::Outputs& outputs) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes (`| head`) does not end a run
  CLI::App app{"muster: dependable work on undependable machines", "muster"};
  app.footer(
      "Examples:\n"
      "  muster run --url http://127.0.0.1:8080/ -c 100 -d 10s    load an address\n"
      "  muster run test.yaml --out json=result.json              run a file\n"
      "  muster check test.yaml                                   find mistakes in it\n"
      "  muster try test.yaml                                     see one iteration, byte by byte\n"
      "  muster target                                            something to test against\n"
      "'muster COMMAND --help' tells more.");
  app.require_subcommand(1);
  app.formatter(std::make_shared<Usage>());
  app.set_version_flag("--version", "muster " MUSTER_VERSION);
  CommandContext context{.registry = registry, .outputs = outputs};
  add_run(app, context);
  add_check(app, context);
  add_try(app, context);
  add_results(app, context);
  add_outputs(app, context);
  add_target(app, context);
  add_version(app, context);
  if (const auto wrong = check_command_name(app, argc, argv)) return *wrong;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are not mistakes.
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(app, error);
  }
  return context.code;
}

}  // namespace muster::console
