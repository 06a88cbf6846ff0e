#include "sim/telling.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/invariants.h"
#include "sim/options.h"

namespace muster::sim {

namespace {

void tell_lines(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::format_to(std::back_inserter(text), "  {}\n", line);
}

void tell_plan(std::string& text, const FaultPlan& plan) {
  for (const Fault& fault : plan) fmt::format_to(std::back_inserter(text), "  {}\n", fault.describe());
}

double per_second(const CampaignResult& result) {
  return result.totals.cpu_seconds > 0 ? static_cast<double>(result.totals.events) / result.totals.cpu_seconds : 0;
}

std::string law_of(std::string_view invariant) {
  const Invariant* const found = find_invariant(invariant);
  return found == nullptr ? std::string() : fmt::format(" ({})", found->law);
}

}  // namespace

std::string tell_totals(const Scenario& scenario, const CampaignResult& result) {
  const Totals& totals = result.totals;
  std::string text = fmt::format(
      "{}: {} seeds, {} events, {:.0f} virtual s, {} faults, {:.0f} events/s of a core, {:.1f} s, hash {:016x}\n",
      scenario.name, totals.seeds, totals.events, totals.virtual_seconds, totals.faults, per_second(result),
      result.wall_seconds, totals.hash);
  const auto to = std::back_inserter(text);
  for (const auto& [name, count] : totals.counters)
    if (!name.starts_with("fault ")) fmt::format_to(to, "  {:>12} {}\n", count, name);
  for (const auto& [name, values] : totals.measures)
    fmt::format_to(to, "  {}: {} values, p50 {:.4g}, p99 {:.4g}, most {:.4g}\n", name, values.size(),
                   percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1));
  if (!scenario.counters.empty() && !result.counters_judged)
    fmt::format_to(to, "  what must be seen now and then was not judged: that takes {} seeds\n", scenario.enough_seeds);
  for (const std::string& name : result.unseen)
    fmt::format_to(to, "  NEVER SEEN in {} seeds: {}\n", totals.seeds, name);
  if (result.verdict)
    fmt::format_to(to, "  FAILED over all seeds: invariant {}: {}\n", result.verdict->invariant,
                   result.verdict->sentence);
  if (!result.failures.empty())
    fmt::format_to(to, "  FAILED: {} of {} seeds, first {}\n", result.failures.size(), totals.seeds,
                   result.failures.front().seed);
  return text;
}

std::string tell_failure(const Scenario& scenario, const FailedSeed& failure) {
  const Violation& violation = *failure.run.record.violation;
  std::string text =
      fmt::format("FAILED: scenario {}, seed {}, invariant {}{}\n  {} (at {:.6f} s, event {})\nfaults:\n",
                  scenario.name, failure.seed, violation.invariant, law_of(violation.invariant), violation.sentence,
                  base::seconds(violation.at), failure.run.record.events);
  tell_plan(text, failure.run.plan);
  text += "the end of the trace:\n";
  tell_lines(text, failure.run.lines);
  return text;
}

std::string tell_shrunk(const Shrunk& shrunk) {
  std::string text =
      fmt::format("shrunk in {} tries to {} faults, {} events, {:.6f} s:\n", shrunk.tries, shrunk.plan.size(),
                  shrunk.run.record.events, base::seconds(shrunk.run.record.virtual_time));
  tell_plan(text, shrunk.plan);
  if (shrunk.run.record.violation) text += fmt::format("  {}\n", shrunk.run.record.violation->sentence);
  text += "the end of its trace:\n";
  tell_lines(text, shrunk.run.lines);
  return text;
}

std::string tell_json(const Scenario& scenario, const CampaignResult& result, const std::vector<Shrunk>& shrunk) {
  const Totals& totals = result.totals;
  nlohmann::ordered_json json;
  json["scenario"] = scenario.name;
  json["passed"] = result.passed();
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
    if (i < shrunk.size())
      for (const Fault& fault : shrunk[i].plan) told["shrunk"].push_back(fault.describe());
    json["failures"].push_back(std::move(told));
  }
  return json.dump() + "\n";
}

std::string tell_scenarios(const std::vector<Scenario>& scenarios) {
  std::string text;
  for (const Scenario& scenario : scenarios)
    fmt::format_to(std::back_inserter(text), "{:<24} {}{}\n", scenario.name, scenario.summary,
                   scenario.in_all ? "" : " (not part of `all`)");
  return text;
}

std::string tell_invariants(const std::vector<Scenario>& scenarios) {
  std::string text;
  for (const Invariant& invariant : invariants()) {
    std::vector<std::string> watchers;
    for (const Scenario& scenario : scenarios)
      if (std::ranges::find(scenario.watches, invariant.name) != scenario.watches.end())
        watchers.push_back(scenario.name);
    fmt::format_to(std::back_inserter(text), "{:<17} {:<12} {:<4} {}\n{:34} watched by: {}\n", invariant.name,
                   invariant.area, invariant.when, invariant.law, "",
                   watchers.empty() ? "nobody" : fmt::format("{}", fmt::join(watchers, ", ")));
  }
  return text;
}

}  // namespace muster::sim
