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
