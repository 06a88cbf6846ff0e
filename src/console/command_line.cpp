#include "console/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <limits>
#include <optional>

#include "base/closest.h"
#include "console/check_command.h"
#include "console/exit_codes.h"
#include "console/run_command.h"
#include "console/say.h"
#include "console/target_command.h"
#include "console/try_command.h"

namespace muster::console {
namespace {

constexpr std::uint64_t kMostVus = 10'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000;
constexpr std::uint32_t kMostCores = 1024;

constexpr std::uint64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return {};
    return fmt::format("expected a whole number from {} to {}, found '{}'", least, most, text);
  };
  return {check, ""};
}

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

void add_source_flags(CLI::App& command, JobFlags& flags) {
  command.add_option("file", flags.file, "YAML file that describes the load test");
  command.add_option("--url", flags.url, "Address to test without a file");
  command.add_option("-e,--env", flags.environment, "NAME=VALUE for ${env.NAME}; wins over the environment")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--set", flags.sets, "Change a value of the file: load.vus=50, workflows[0].load.vus=50")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command.add_option("--target", flags.target, "Replace the file's target; 'embedded' starts muster's own demo server")
      ->type_name("URL");
  command.add_option("--seed", flags.seed, "Seed of everything random; the same seed draws the same values [fresh]")
      ->check(whole_number(1, kLargestSeed));
}

void add_request_flags(CLI::App& command, JobFlags& flags) {
  command.add_option("-X,--method", flags.method, "Request method [GET, or POST with a body]");
  command.add_option("-H,--header", flags.headers, "Header 'Name: value'; may be repeated")->allow_extra_args(false);
  command.add_option("--body", flags.body, "Request body; @FILE sends the file's bytes");
  command.add_option("-u,--user", flags.basic, "USER:PASSWORD for basic authentication");
  command.add_flag("-k,--insecure", flags.insecure, "Accept any server certificate");
  command.add_option("--timeout", flags.timeout, "Longest wait for a response [30s; 1ms to 1h]");
  command.add_flag("--no-keepalive", flags.no_keep_alive, "A new connection for each request");
  command.add_flag("--no-redirects", flags.no_redirects, "Take redirects as they are");
}

void add_load_flags(CLI::App& command, JobFlags& flags) {
  command.add_option("-c,--vus,--connections", flags.vus, "Virtual users, each with its own connection [10]")
      ->check(whole_number(1, kMostVus));
  command.add_option("-d,--duration", flags.duration, "How long: 30s, 5m, 1h; a bare number is seconds [10s]");
  command.add_option("-n,--iterations,--requests", flags.iterations, "Requests in all, instead of a duration")
      ->check(whole_number(1, kMostIterations));
  command.add_option("-R,--rate", flags.rate, "Requests per second, whether or not answers come back (open model)");
  command.add_option("--max-vus", flags.max_vus, "With -R: most virtual users at once")
      ->check(whole_number(1, kMostVus));
  command.add_option("--warm-up", flags.warm_up, "Run so long before counting [0s]");
  command.add_option("--grace", flags.grace, "Time for requests under way at the end [10s]");
}

void add_run(CLI::App& app, RunFlags& flags, int& code, const engine::Registry& registry,
             const report::Outputs& outputs) {
  CLI::App& run_app = *app.add_subcommand("run", "Run a load test and judge it");
  run_app.footer(
      "Examples:\n"
      "  muster run test.yaml\n"
      "  muster run --url http://127.0.0.1:8080/ -c 100 -d 30s\n"
      "  muster run --url https://shop.test/cart -X POST -H 'Content-Type: application/json' --body '{\"id\":7}' -R "
      "200 -d 1m\n"
      "  muster run test.yaml --set workflows[0].load.vus=500 -e TOKEN=abc --out json=result.json\n"
      "Exit codes: 0 good, 99 a threshold or every request failed, 1 could not run, 2 bad input, 130 interrupted.");
  add_source_flags(run_app, flags.job);
  add_load_flags(run_app, flags.job);
  add_request_flags(run_app, flags.job);
  run_app.add_option("--cores,-t,--threads", flags.cores, "Cores that generate load [the machine's physical cores]")
      ->check(whole_number(1, kMostCores));
  run_app.add_option("--ui", flags.ui, "Progress: ci (a line every two seconds) or none [auto: ci]")
      ->check(CLI::IsMember({"auto", "ci", "none"}));
  run_app.add_option("--out", flags.outputs, "Also write results: json=FILE; may be repeated")->allow_extra_args(false);
  run_app.add_flag("--strict", flags.strict, "Exit 1 when the result is marked as doubtful");
  run_app.add_flag("--json", flags.json, "Print the summary as JSON");
  run_app.callback([&] { code = run(flags, registry, outputs); });
}

void add_check(CLI::App& app, CheckFlags& flags, int& code, const engine::Registry& registry) {
  CLI::App& command = *app.add_subcommand("check", "Say whether a file would run, without running it");
  command.footer("Example:\n  muster check test.yaml");
  add_source_flags(command, flags.job);
  command.add_flag("--json", flags.json, "Print the answer as JSON");
  command.callback([&] { code = check(flags, registry); });
}

void add_try(CLI::App& app, TryFlags& flags, int& code, const engine::Registry& registry) {
  CLI::App& command = *app.add_subcommand("try", "Run one iteration and show every value and the bytes on the wire");
  command.footer("Example:\n  muster try test.yaml --workflow login");
  add_source_flags(command, flags.job);
  add_request_flags(command, flags.job);
  command.add_option("--workflow", flags.workflow, "Only this workflow [all]");
  command.add_option("--bytes", flags.bytes, "Bytes of each request and response to show [4096]")
      ->check(whole_number(0, 64 * 1024));
  command.callback([&] { code = try_once(flags, registry); });
}

void add_target(CLI::App& app, TargetFlags& flags, int& code) {
  CLI::App& command =
      *app.add_subcommand("target", "Serve HTTP for demos and tests: delays, errors, resets, echo and more");
  command.footer("Example:\n  muster target --listen 127.0.0.1:8080 &\n  curl http://127.0.0.1:8080/delay/20..80");
  command.add_option("--listen", flags.listen, "Address and port; port 0 takes any free one [127.0.0.1:8080]");
  command.add_flag("--tls", flags.tls, "HTTPS with a certificate made for this run");
  command.add_option("--cores", flags.cores, "Threads that serve [1]")->check(whole_number(1, 256));
  command.add_option("--log", flags.log, "CSV of what each request really took, written at the end");
  command.add_option("--http-log", flags.http_log, "Requests as received, one JSON object per line");
  command.add_option("--stall", flags.stall, "at=10s,for=1s: stand still once, counted from the first request");
  command.add_option("--cert-out", flags.cert_out, "Where to write the certificate (PEM), for clients to trust");
  command.add_option("--seed", flags.seed, "Seed of random delays and failures [1]");
  command.callback([&] { code = run_target(flags); });
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
  int code = kGood;
  RunFlags run_flags;
  CheckFlags check_flags;
  TryFlags try_flags;
  TargetFlags target_flags;
  add_run(app, run_flags, code, registry, outputs);
  add_check(app, check_flags, code, registry);
  add_try(app, try_flags, code, registry);
  add_target(app, target_flags, code);
  app.add_subcommand("version", "Print the version")->callback([] { say("muster {}\n", MUSTER_VERSION); });
  if (const auto wrong = check_command_name(app, argc, argv)) return *wrong;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are not mistakes.
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(app, error);
  }
  return code;
}

}  // namespace muster::console
