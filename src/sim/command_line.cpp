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
    "  --shrink                     find the shortest plan of faults that fails alike\n"
    "  --trace                      print the whole trace, of one seed; no --json\n"
    "  --repeat-check               run every seed twice and compare the traces\n"
    "  --json                       results as JSON, one object a scenario\n"
    "  --list                       the scenarios; with --json a list of objects\n"
    "  --invariants                 what the oracles watch, and where; likewise\n"
    "  --version                    the version of muster that it belongs to\n"
    "\n"
    "Ctrl-C ends it after the seeds under way and tells what there is.\n";

constexpr unsigned kMaxJobs = 256;
constexpr int kInterruptedStatus = 130;

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

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

base::Expected<void> read_scenarios(std::string_view text, const std::vector<Scenario>& known, Flags& flags) {
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (name == "all") {
      for (const Scenario& scenario : known)
        if (scenario.in_all) add_once(flags.scenarios, scenario.name);
      continue;
    }
    if (std::ranges::find(known, name, &Scenario::name) == known.end())
      return base::fail(fmt::format("there is no scenario '{}'{}; --list tells them all", name,
                                    base::did_you_mean(name, names_of(known))));
    add_once(flags.scenarios, name);
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
  if (flag == "--version") return &flags.version;
  if (flag == "--help" || flag == "-h") return &flags.help;
  return nullptr;
}

// A failure stays with the stream and is looked at when all is said.
void say(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

// Tells how far a campaign is: on a terminal in one line that is written over, elsewhere in a line a minute.
class ProgressLine {
 public:
  ProgressLine(const Scenario& scenario, const Surroundings& around) : scenario_(scenario), around_(around) {}
  ~ProgressLine() {
    if (shown_ && around_.err_is_terminal) say(around_.err, "\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void tell(const CampaignProgress& progress) {
    if (progress.seconds < next_) return;
    const double between = around_.err_is_terminal ? 0.2 : 60;
    next_ = progress.seconds + between;
    if (!shown_ && !around_.err_is_terminal && progress.seconds < between) return;
    shown_ = true;
    const std::string line = tell_progress(scenario_, progress);
    say(around_.err, around_.err_is_terminal ? "\r" + line + "\x1b[K" : line + "\n");
  }

 private:
  const Scenario& scenario_;
  const Surroundings& around_;
  bool shown_ = false;
  double next_ = 0;  // seconds of the campaign
};

// How it ended: whether all held, and whether a failure's shortest plan was not waited for.
struct Outcome {
  bool held = true;
  bool cut_short = false;
};

Outcome run_scenario(const Scenario& scenario, const Flags& flags, const Surroundings& around) {
  std::FILE* const out = around.out;
  CampaignOptions options;
  options.first = flags.first_seed;
  options.last = flags.last_seed;
  options.threads = flags.jobs;
  options.keep_going = flags.keep_going;
  options.repeat_check = flags.repeat_check;
  if (flags.trace) {
    for (const std::string& line : run_seed(scenario, flags.first_seed, Trace::kAll).lines) say(out, line + "\n");
  }
  const CampaignResult result = [&] {
    ProgressLine line(scenario, around);
    options.tell = [&](const CampaignProgress& progress) { line.tell(progress); };
    options.interrupted = around.interrupted;
    return run_campaign(scenario, options);
  }();
  Outcome outcome{.held = result.held()};
  std::vector<Shrunk> shrunk;
  for (const FailedSeed& failure : result.failures) {
    if (!flags.shrink || outcome.cut_short) break;
    shrunk.push_back(shrink(scenario, failure.seed, failure.run, around.interrupted));
    outcome.cut_short = shrunk.back().interrupted;
  }
  if (flags.json) {
    say(out, tell_json(scenario, result, shrunk));
    return outcome;
  }
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    say(out, tell_failure(scenario, result.failures[i]));
    if (i < shrunk.size()) say(out, tell_shrunk(shrunk[i]));
  }
  if (flags.shrink && result.failures.empty()) say(out, "nothing to shrink: no seed failed\n");
  say(out, tell_totals(scenario, result));
  return outcome;
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
  if (flags.scenarios.empty() && !flags.list && !flags.invariants && !flags.help && !flags.version)
    return base::fail("--scenario NAME says what to simulate; --list tells the names");
  if (flags.trace && (flags.first_seed != flags.last_seed || flags.scenarios.size() > 1))
    return base::fail("--trace tells one seed of one scenario: --scenario raft --seed 17 --trace");
  if (flags.trace && flags.json) return base::fail("--trace and --json both want the output for themselves; give one");
  return flags;
}

int command_line(int argc, const char* const* argv, const std::vector<Scenario>& scenarios,
                 const Surroundings& around) {
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const base::Expected<Flags> flags = parse_flags(words.subspan(words.empty() ? 0 : 1), scenarios);
  if (!flags) {
    say(around.err, fmt::format("muster-sim: {}\n", flags.error().message));
    return 2;
  }
  if (flags->help) say(around.out, kUsage);
  if (flags->version) say(around.out, "muster-sim " MUSTER_VERSION "\n");
  if (flags->list) say(around.out, flags->json ? tell_scenarios_json(scenarios) : tell_scenarios(scenarios));
  if (flags->invariants) say(around.out, flags->json ? tell_invariants_json(scenarios) : tell_invariants(scenarios));
  const auto interrupted = [&] { return around.interrupted && around.interrupted(); };
  Outcome whole;
  for (const std::string& name : flags->scenarios) {
    const Outcome one = run_scenario(*std::ranges::find(scenarios, name, &Scenario::name), *flags, around);
    whole = {whole.held && one.held, one.cut_short};
    if ((!whole.held && !flags->keep_going) || one.cut_short || interrupted()) break;
  }
  if (std::fflush(around.out) != 0 || std::ferror(around.out) != 0) {
    say(around.err,
        "muster-sim: what it found could not be written; look whether the disk is full or the output closed\n");
    return 1;
  }
  if (whole.cut_short) return kInterruptedStatus;
  // What was found is found, also if it was not waited for the rest.
  if (!whole.held) return 1;
  return interrupted() ? kInterruptedStatus : 0;
}

}  // namespace muster::sim
