#include "console/job_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string>

namespace muster::console {
namespace {

constexpr std::uint64_t kMostVus = 10'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000;
constexpr std::uint64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();

}  // namespace

void add_source_flags(CLI::App& command, JobFlags& flags) {
  flags.command = command.get_name();
  const std::string group = "What to run";
  command.add_option("file", flags.file, "YAML file or Lua script that describes the load test")
      ->type_name("JOB")
      ->group(group);
  command
      .add_option("arguments", flags.arguments,
                  "For `init` of a script written for wrk; behind -- if they begin with -")
      ->type_name("WORD")
      ->group(group)
      ->configurable(false);
  command.add_option("--url", flags.url, "Address to test without a file, or with a script written for wrk")
      ->type_name("URL")
      ->group(group)
      ->configurable(false);
  command
      .add_option("-e,--env", flags.environment,
                  "Value of ${env.NAME}; wins over the environment; may be repeated, the last of a name wins")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group)
      ->configurable(false);
  command
      .add_option("--set", flags.sets,
                  "Change a value of the file: load.vus=50, workflows[0].load.vus=50; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group(group)
      ->configurable(false);
  command.add_option("--target", flags.target, "Replace the file's target; 'embedded' starts muster's own demo server")
      ->type_name("URL")
      ->group(group);
  command.add_option("--seed", flags.seed, "Seed of everything random; the same seed draws the same values [fresh]")
      ->type_name("N")
      ->check(whole_number(1, kLargestSeed))
      ->group(group);
}

void add_request_flags(CLI::App& command, JobFlags& flags) {
  const auto add = [&](const char* names, auto& into, const char* type, const char* doc) {
    return command.add_option(names, into, doc)->type_name(type)->group("The request, with --url")->configurable(false);
  };
  const auto add_switch = [&](const char* names, bool& into, const char* doc) {
    command.add_flag(names, into, doc)->group("The request, with --url")->configurable(false);
  };
  add("-X,--method", flags.method, "METHOD", "Request method [GET, or POST with a body]");
  add("-H,--header", flags.headers, "'NAME: VALUE'", "Header; may be repeated")->allow_extra_args(false);
  add("--body", flags.body, "TEXT", "Request body; @FILE sends the file's bytes");
  add("-u,--user", flags.basic, "USER:PASSWORD", "Basic authentication");
  add_switch("-k,--insecure", flags.insecure, "Accept any server certificate");
  add("--timeout", flags.timeout, "TIME", "Longest wait for a response [30s; 1ms to 1h]");
  add_switch("--no-keepalive", flags.no_keep_alive, "A new connection for each request");
  add_switch("--no-redirects", flags.no_redirects, "Take redirects as they are");
}

void add_load_flags(CLI::App& command, JobFlags& flags) {
  const auto add = [&](const char* names, auto& into, const char* type, const char* doc) {
    return command.add_option(names, into, doc)->type_name(type)->group("The load, with --url")->configurable(false);
  };
  add("-c,--vus,--connections", flags.vus, "N", "Virtual users, each with its own connection [10]")
      ->check(whole_number(1, kMostVus));
  add("-d,--duration", flags.duration, "TIME", "How long: 30s, 5m, 1h; a bare number is seconds [10s]");
  add("-n,--iterations,--requests", flags.iterations, "N", "Requests in all, instead of a duration")
      ->check(whole_number(1, kMostIterations));
  add("-R,--rate", flags.rate, "RATE", "Requests per second, whether or not answers come back (open model)");
  add("--max-vus", flags.max_vus, "N", "With -R: most virtual users at once")->check(whole_number(1, kMostVus));
  add("--warm-up", flags.warm_up, "TIME", "Run so long before counting [0s]");
  add("--grace", flags.grace, "TIME", "Time for requests under way at the end [10s]");
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return {};
    return fmt::format("expected a whole number from {} to {}, found '{}'", least, most, text);
  };
  return {check, ""};
}

}  // namespace muster::console
