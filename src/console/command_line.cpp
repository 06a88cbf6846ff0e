#include "console/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/closest.h"
#include "base/escapes.h"
#include "console/app_outline.h"
#include "console/check_command.h"
#include "console/command.h"
#include "console/completion_command.h"
#include "console/environment.h"
#include "console/explain_command.h"
#include "console/help.h"
#include "console/import_command.h"
#include "console/inherited_state.h"
#include "console/man_command.h"
#include "console/new_command.h"
#include "console/outputs_command.h"
#include "console/plain_words.h"
#include "console/results_command.h"
#include "console/run_command.h"
#include "console/say.h"
#include "console/schema_command.h"
#include "console/target_command.h"
#include "console/try_command.h"
#include "console/version_command.h"

namespace muster::console {
namespace {

// As far as the flags could be read.
bool wants_json(const CLI::App& command) {
  const CLI::Option* const json = command.get_option_no_throw("--json");
  if (json == nullptr || json->count() == 0) return false;
  try {
    return json->as<bool>();
  } catch (const CLI::Error&) {
    return false;
  }
}

int complain(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const ParsedCommand command = parsed_command(app);
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const std::string what = base::clean_lines(in_plain_words(command, error, words) +
                                             blamed_variable(*command.app, error.what(), argc, argv));
  say(stderr, "{0}: {1}\n'{0} --help' tells more\n", command.name, what);
  // Whose answer is what is wrong.
  if (command.name == "muster check" && wants_json(*command.app)) {
    say("{}", problems_json(authoring::Problems{{{.where = {}, .message = what, .excerpt = {}}}}));
  }
  return kBadInput;
}

// Nothing if the command line begins with a command or a flag.
std::optional<int> check_command_name(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2) {
    say(stderr, "{}", app.help());
    return kBadInput;
  }
  const std::string word = argv[1];
  const std::vector<std::string> names = command_names(app);
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return std::nullopt;
  std::string hint = base::did_you_mean(word, names);
  if (word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".lua"))
    hint = fmt::format("; to run a file write: muster run {}", word);
  if (word.find("://") != std::string::npos)
    hint = fmt::format("; to load an address write: muster run --url {}", word);
  if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(names, ", "));
  say(stderr, "muster: unknown command '{}'{}\n'muster --help' tells more\n", base::one_line(word),
      base::one_line(hint));
  return kBadInput;
}

// What every command has, also those below others.
void add_everywhere(CLI::App& app, CommandContext& context) {
  app.add_option("--color", context.color, "Colours: on a terminal unless NO_COLOR is set, always or never [auto]")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(std::string(kEveryCommand));
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) add_everywhere(*each, context);
}

// A variable of the shell that is not set leaves nothing behind its flag; that must not pass for the flag's absence.
void refuse_empty_values(CLI::App& app) {
  const auto check = [](const std::string& text) -> std::string {
    return text.empty() ? "expected a value, found ''; leave the flag out, or say what it is to be" : "";
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && takes_value(*option)) option->check(CLI::Validator(check, ""));
  }
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*each);
}

void add_commands(CLI::App& app, CommandContext& context) {
  add_run(app, context);
  add_check(app, context);
  add_explain(app, context);
  add_try(app, context);
  add_new(app, context);
  add_import(app, context);
  add_results(app, context);
  add_outputs(app, context);
  add_target(app, context);
  add_schema(app, context);
  add_completion(app, context);
  add_man(app, context);
  add_help(app, context);
  add_version(app, context);
}

int parse_and_run(int argc, char** argv, const engine::Registry& registry, const report::Outputs& outputs) {
  CommandContext context{.registry = registry, .outputs = outputs};
  CLI::App app{"muster: dependable work on undependable machines", "muster"};
  app.set_help_flag("-h,--help", "Show this help");
  app.require_subcommand(1);
  app.formatter(help_formatter(context));
  add_commands(app, context);
  add_everywhere(app, context);
  refuse_empty_values(app);
  app.set_version_flag("--version", "muster " MUSTER_VERSION, "Print the version");
  // Set last: commands inherit the footer that stands when they are added.
  app.footer(
      "Examples:\n"
      "  muster run --url http://127.0.0.1:8080/ -c 100 -d 10s    # load an address\n"
      "  muster new test.yaml                                   # begin a file\n"
      "  muster check test.yaml                                 # find mistakes in it\n"
      "  muster try test.yaml                                   # see one iteration\n"
      "  muster run test.yaml --out html=report.html            # run it\n"
      "  muster results                                         # what ran before\n"
      "  muster target                                          # something to test\n"
      "'muster help COMMAND' tells more. Flags can also come from the environment: MUSTER_CORES=4 is --cores 4.");
  if (const auto answered = answer_completion(app, argc, argv, context)) return *answered;
  if (const auto wrong = check_command_name(app, argc, argv)) return *wrong;
  take_environment(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    say("{}", app.help());
    return kGood;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --version
    return complain(app, error, argc, argv);
  }
  return context.code;
}

}  // namespace

int command_line(int argc, char** argv, const engine::Registry& registry, const report::Outputs& outputs) {
  settle_inherited_state();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes (`| head`) does not end a run
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes (`ulimit -f`) is told like a full disk
  const int code = parse_and_run(argc, argv, registry, outputs);
  if (!standard_output_lost()) return code;
  say(stderr, "muster: not everything could be written to standard output; is its disk full?\n");
  return code == kGood ? kCouldNotRun : code;
}

}  // namespace muster::console
