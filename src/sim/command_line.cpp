#include "sim/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "base/closest.h"
#include "sim/campaign.h"
#include "sim/invariants.h"
#include "sim/telling.h"

namespace muster::sim {

namespace {

constexpr std::string_view kUsage =
    "muster-sim: runs muster's cores in virtual time and tries to break them\n"
    "\n"
    "  --scenario NAME[,NAME]|all   what to simulate\n"
    "  --seed N|A..B                one seed, or all from A to B (default 1)\n"
    "  --jobs N                     seeds at a time (default 1)\n"
    "  --keep-going                 go on after a seed that failed\n"
    "  --shrink                     look for the shortest plan of faults that fails alike\n"
    "  --trace                      print the whole trace; for one seed, not with --json\n"
    "  --repeat-check               run every seed twice and compare the hashes of their traces\n"
    "  --json                       results as JSON, one object a scenario\n"
    "  --list                       the scenarios\n"
    "  --invariants                 what the oracles watch, and in which scenarios\n";

constexpr unsigned kMaxJobs = 256;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

base::Expected<void> read_seeds(std::string_view text, Flags& flags) {
  const std::size_t dots = text.find("..");
  const auto first = number_of(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number_of(text.substr(dots + 2));
  if (!first || !last)
    return base::fail(fmt::format("--seed takes a number up to {} or a range such as 1..1000, not '{}'",
                                  std::numeric_limits<std::uint64_t>::max(), text));
  if (*last < *first)
    return base::fail(fmt::format("--seed takes a range from its least seed to its greatest: {}..{}", *last, *first));
  flags.first_seed = *first;
  flags.last_seed = *last;
  return {};
}

std::vector<std::string> names_of(const std::vector<Scenario>& scenarios) {
  std::vector<std::string> names;
  for (const Scenario& scenario : scenarios) names.push_back(scenario.name);
  return names;
}

base::Expected<void> read_scenarios(std::string_view text, const std::vector<Scenario>& known, Flags& flags) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (name == "all") {
      for (const Scenario& scenario : known)
        if (scenario.in_all) flags.scenarios.push_back(scenario.name);
      continue;
    }
    if (std::ranges::find(known, name, &Scenario::name) == known.end())
      return base::fail(fmt::format("there is no scenario '{}'{}; --list tells them all", name,
                                    base::did_you_mean(name, names_of(known))));
    flags.scenarios.emplace_back(name);
  }
  return {};
}

base::Expected<void> read_value(std::string_view flag, std::string_view value, const std::vector<Scenario>& known,
                                Flags& flags) {
  if (flag == "--scenario") return read_scenarios(value, known, flags);
  if (flag == "--seed") return read_seeds(value, flags);
  const auto jobs = number_of(value);
  if (!jobs || *jobs == 0 || *jobs > kMaxJobs)
    return base::fail(fmt::format("--jobs takes a number from 1 to {}, not '{}'", kMaxJobs, value));
  flags.jobs = static_cast<unsigned>(*jobs);
  return {};
}

bool* switch_of(std::string_view flag, Flags& flags) {
  if (flag == "--shrink") return &flags.shrink;
  if (flag == "--json") return &flags.json;
  if (flag == "--keep-going") return &flags.keep_going;
  if (flag == "--trace") return &flags.trace;
  if (flag == "--repeat-check") return &flags.repeat_check;
  if (flag == "--list") return &flags.list;
  if (flag == "--invariants") return &flags.invariants;
  if (flag == "--help" || flag == "-h") return &flags.help;
  return nullptr;
}

// A failure stays with the stream and is looked at when all is said.
void say(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

bool run_scenario(const Scenario& scenario, const Flags& flags, std::FILE* out) {
  CampaignOptions options;
  options.first = flags.first_seed;
  options.last = flags.last_seed;
  options.threads = flags.jobs;
  options.keep_going = flags.keep_going;
  options.repeat_check = flags.repeat_check;
  if (flags.trace) {
    for (const std::string& line : run_seed(scenario, flags.first_seed, Trace::kAll).lines) say(out, line + "\n");
  }
  const CampaignResult result = run_campaign(scenario, options);
  std::vector<Shrunk> shrunk;
  if (flags.shrink)
    for (const FailedSeed& failure : result.failures) shrunk.push_back(shrink(scenario, failure.seed, failure.run));
  if (flags.json) {
    say(out, tell_json(scenario, result, shrunk));
    return result.passed();
  }
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    say(out, tell_failure(scenario, result.failures[i]));
    if (i < shrunk.size()) say(out, tell_shrunk(shrunk[i]));
  }
  if (flags.shrink && result.failures.empty()) say(out, "nothing to shrink: no seed failed\n");
  say(out, tell_totals(scenario, result));
  return result.passed();
}

}  // namespace

base::Expected<Flags> parse_flags(std::span<const char* const> words, const std::vector<Scenario>& scenarios) {
  Flags flags;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (bool* const on = switch_of(word, flags)) {
      *on = true;
      continue;
    }
    const std::string_view flag = word.substr(0, word.find('='));
    if (flag != "--scenario" && flag != "--seed" && flag != "--jobs")
      return base::fail(fmt::format("unknown flag '{}'; --help tells them all", word));
    std::string_view value;
    if (flag.size() < word.size()) {
      value = word.substr(flag.size() + 1);
    } else if (++i < words.size()) {
      value = words[i];
    } else {
      return base::fail(fmt::format("{} needs a value", flag));
    }
    if (const auto read = read_value(flag, value, scenarios, flags); !read) return std::unexpected(read.error());
  }
  if (flags.scenarios.empty() && !flags.list && !flags.invariants && !flags.help)
    return base::fail("--scenario NAME says what to simulate; --list tells the names");
  if (flags.trace && (flags.first_seed != flags.last_seed || flags.scenarios.size() > 1))
    return base::fail("--trace tells one seed of one scenario: --scenario raft --seed 17 --trace");
  if (flags.trace && flags.json) return base::fail("--trace and --json both want the output for themselves; give one");
  return flags;
}

int command_line(int argc, const char* const* argv, const std::vector<Scenario>& scenarios, std::FILE* out,
                 std::FILE* err) {
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const base::Expected<Flags> flags = parse_flags(words.subspan(words.empty() ? 0 : 1), scenarios);
  if (!flags) {
    say(err, fmt::format("muster-sim: {}\n", flags.error().message));
    return 2;
  }
  if (flags->help) say(out, kUsage);
  if (flags->list) say(out, tell_scenarios(scenarios));
  if (flags->invariants) say(out, tell_invariants(scenarios));
  bool passed = true;
  for (const std::string& name : flags->scenarios) {
    const bool held = run_scenario(*std::ranges::find(scenarios, name, &Scenario::name), *flags, out);
    passed = passed && held;
    if (!passed && !flags->keep_going) break;
  }
  if (std::fflush(out) != 0 || std::ferror(out) != 0) {
    say(err, "muster-sim: what it found could not be written; look whether the disk is full or the output closed\n");
    return 1;
  }
  return passed ? 0 : 1;
}

}  // namespace muster::sim
