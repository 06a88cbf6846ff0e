#include "sim/telling.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/invariants.h"
#include "sim/options.h"

namespace muster::sim {

namespace {

constexpr std::size_t kColumns = 80;
// Of a line of a trace: the time, and whose it is.
constexpr std::size_t kTraceMargin = 18;

// Broken at spaces, so that no line is wider than the columns; those after the first begin under `under`.
void tell_wrapped(std::string& text, std::string_view sentence, std::size_t under) {
  std::size_t at = under;
  while (!sentence.empty()) {
    const std::string_view word = sentence.substr(0, sentence.find(' '));
    sentence.remove_prefix(std::min(sentence.size(), word.size() + 1));
    if (at > under && at + 1 + word.size() > kColumns) {
      text += '\n';
      text.append(under, ' ');
      at = under;
    } else if (at > under) {
      text += ' ';
      ++at;
    }
    text += word;
    at += word.size();
  }
  text += '\n';
}

// Of a trace.
void tell_lines(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::string_view all = line;
    text.append("  ").append(all.substr(0, kTraceMargin));
    tell_wrapped(text, all.substr(std::min(all.size(), kTraceMargin)), 2 + kTraceMargin);
  }
}

void tell_plan(std::string& text, const FaultPlan& plan) {
  for (const Fault& fault : plan) fmt::format_to(std::back_inserter(text), "  {}\n", fault.describe());
}

std::vector<std::string> watchers_of(const Invariant& invariant, const std::vector<Scenario>& scenarios) {
  std::vector<std::string> names;
  for (const Scenario& scenario : scenarios)
    if (std::ranges::find(scenario.watches, invariant.name) != scenario.watches.end()) names.push_back(scenario.name);
  return names;
}

double per_second(const CampaignResult& result) {
  return result.totals.cpu_seconds > 0 ? static_cast<double>(result.totals.events) / result.totals.cpu_seconds : 0;
}

std::string law_of(std::string_view invariant) {
  const Invariant* const found = find_invariant(invariant);
  return found == nullptr ? std::string() : fmt::format(" ({})", found->law);
}

}  // namespace

std::string tell_progress(const Scenario& scenario, const CampaignProgress& progress) {
  std::string text = fmt::format("{}: {} of {:.0f} seeds", scenario.name, progress.seeds, progress.of);
  if (progress.failed > 0) text += fmt::format(", {} FAILED", progress.failed);
  text += fmt::format(", {:.0f} s", progress.seconds);
  if (progress.seeds == 0) return text;
  const auto done = static_cast<double>(progress.seeds);
  return text + fmt::format(", about {:.0f} s left", progress.seconds * (progress.of - done) / done);
}

std::string tell_totals(const Scenario& scenario, const CampaignResult& result) {
  const Totals& totals = result.totals;
  std::string text;
  tell_wrapped(text,
               fmt::format("{}: {} seeds, {} events, {:.0f} virtual s, {} faults, {:.0f} events/s of a core, {:.1f} s, "
                           "hash {:016x}",
                           scenario.name, totals.seeds, totals.events, totals.virtual_seconds, totals.faults,
                           per_second(result), result.wall_seconds, totals.hash),
               2);
  const auto to = std::back_inserter(text);
  if (result.interrupted) text += "  INTERRUPTED: the seeds after these were not run\n";
  for (const auto& [name, count] : totals.counters)
    if (!name.starts_with("fault ")) fmt::format_to(to, "  {:>12} {}\n", count, name);
  for (const auto& [name, values] : totals.measures)
    fmt::format_to(to, "  {}: {} values, p50 {:.4g}, p99 {:.4g}, most {:.4g}\n", name, values.size(),
                   percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1));
  if (!scenario.counters.empty() && !result.counters_judged) {
    text += "  ";
    tell_wrapped(text,
                 fmt::format("what must be seen now and then was not judged: that takes {} seeds{}",
                             scenario.enough_seeds, result.interrupted ? ", and all of them" : ""),
                 2);
  }
  for (const std::string& name : result.unseen)
    fmt::format_to(to, "  NEVER SEEN in {} seeds: {}\n", totals.seeds, name);
  if (result.verdict) {
    text += "  ";
    tell_wrapped(
        text,
        fmt::format("FAILED over all seeds: invariant {}: {}", result.verdict->invariant, result.verdict->sentence), 2);
  }
  if (!result.failures.empty())
    fmt::format_to(to, "  FAILED: {} of {} seeds, first {}\n", result.failures.size(), totals.seeds,
                   result.failures.front().seed);
  return text;
}

std::string tell_failure(const Scenario& scenario, const FailedSeed& failure) {
  const Violation& violation = *failure.run.record.violation;
  std::string text;
  tell_wrapped(text,
               fmt::format("FAILED: scenario {}, seed {}, invariant {}{}", scenario.name, failure.seed,
                           violation.invariant, law_of(violation.invariant)),
               2);
  text += "  ";
  tell_wrapped(text,
               fmt::format("{} (at {:.6f} s, event {})", violation.sentence, base::seconds(violation.at),
                           failure.run.record.events),
               2);
  text += "faults:\n";
  tell_plan(text, failure.run.plan);
  text += "the end of the trace:\n";
  tell_lines(text, failure.run.lines);
  return text;
}

std::string tell_shrunk(const Shrunk& shrunk) {
  std::string text =
      fmt::format("shrunk in {} tries to {} faults, {} events, {:.6f} s:\n", shrunk.tries, shrunk.plan.size(),
                  shrunk.run.record.events, base::seconds(shrunk.run.record.virtual_time));
  if (shrunk.interrupted) text += "  INTERRUPTED: fewer or shorter faults may do\n";
  tell_plan(text, shrunk.plan);
  if (shrunk.run.record.violation) {
    text += "  ";
    tell_wrapped(text, shrunk.run.record.violation->sentence, 2);
  }
  text += "the end of its trace:\n";
  tell_lines(text, shrunk.run.lines);
  return text;
}

std::string tell_json(const Scenario& scenario, const CampaignResult& result, const std::vector<Shrunk>& shrunk) {
  const Totals& totals = result.totals;
  nlohmann::ordered_json json;
  json["scenario"] = scenario.name;
  json["passed"] = result.passed();
  json["interrupted"] = result.interrupted;
  json["seeds"] = totals.seeds;
  json["events"] = totals.events;
  json["virtual_seconds"] = totals.virtual_seconds;
  json["faults"] = totals.faults;
  json["wall_seconds"] = result.wall_seconds;
  json["events_per_second"] = per_second(result);
  json["hash"] = fmt::format("{:016x}", totals.hash);
  json["counters"] = totals.counters;
  json["measures"] = nlohmann::json::object();
  for (const auto& [name, values] : totals.measures)
    json["measures"][name] = {{"count", values.size()},
                              {"p50", percentile(values, 0.5)},
                              {"p99", percentile(values, 0.99)},
                              {"most", percentile(values, 1)}};
  // Null: too few seeds to say.
  json["unseen"] = nullptr;
  if (result.counters_judged) json["unseen"] = result.unseen;
  if (result.verdict) json["verdict"] = {{"invariant", result.verdict->invariant}, {"seen", result.verdict->sentence}};
  json["failures"] = nlohmann::json::array();
  for (std::size_t i = 0; i < result.failures.size(); ++i) {
    const FailedSeed& failure = result.failures[i];
    nlohmann::ordered_json told = {{"seed", failure.seed},
                                   {"invariant", failure.run.record.violation->invariant},
                                   {"seen", failure.run.record.violation->sentence},
                                   {"at", base::seconds(failure.run.record.violation->at)},
                                   {"faults", failure.run.plan.size()}};
    if (i < shrunk.size()) {
      for (const Fault& fault : shrunk[i].plan) told["shrunk"].push_back(fault.describe());
      if (shrunk[i].interrupted) told["shrink_interrupted"] = true;
    }
    json["failures"].push_back(std::move(told));
  }
  return json.dump() + "\n";
}

std::string tell_scenarios(const std::vector<Scenario>& scenarios) {
  std::string text;
  for (const Scenario& scenario : scenarios) {
    fmt::format_to(std::back_inserter(text), "{:<25}", scenario.name);
    tell_wrapped(text, scenario.summary + (scenario.in_all ? "" : " (not part of `all`)"), 25);
  }
  return text;
}

std::string tell_scenarios_json(const std::vector<Scenario>& scenarios) {
  auto json = nlohmann::ordered_json::array();
  for (const Scenario& scenario : scenarios)
    json.push_back({{"name", scenario.name},
                    {"summary", scenario.summary},
                    {"in_all", scenario.in_all},
                    {"enough_seeds", scenario.enough_seeds}});
  return json.dump() + "\n";
}

std::string tell_invariants(const std::vector<Scenario>& scenarios) {
  std::string text;
  for (const Invariant& invariant : invariants()) {
    const std::vector<std::string> watchers = watchers_of(invariant, scenarios);
    fmt::format_to(std::back_inserter(text), "{:<17} {:<12} {:<4} ", invariant.name, invariant.area, invariant.when);
    tell_wrapped(text, invariant.law, 36);
    text.append(36, ' ');
    tell_wrapped(text,
                 fmt::format("watched by: {}", watchers.empty() ? "nobody" : fmt::to_string(fmt::join(watchers, ", "))),
                 36);
  }
  return text;
}

std::string tell_invariants_json(const std::vector<Scenario>& scenarios) {
  auto json = nlohmann::ordered_json::array();
  for (const Invariant& invariant : invariants())
    json.push_back({{"name", invariant.name},
                    {"area", invariant.area},
                    {"when", invariant.when},
                    {"law", invariant.law},
                    {"watched_by", watchers_of(invariant, scenarios)}});
  return json.dump() + "\n";
}

}  // namespace muster::sim
