#include "report/totals.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/options.h"

namespace muster::report {
namespace {

using SecondMap = std::map<std::uint32_t, SecondTotals>;

void add(Totals& sum, const model::StepResult& step) {
  sum.requests += step.ok + step.failed;
  sum.failed += step.failed;
  sum.skipped += step.skipped;
  sum.retried += step.retried;
  sum.connections += step.connections;
  sum.bytes_in += step.bytes_in;
  sum.bytes_out += step.bytes_out;
  for (std::size_t i = 0; i != sum.errors.size(); ++i) sum.errors[i] += step.errors[i];
  sum.latency.merge(step.latency);
  sum.service.merge(step.service);
}

void add(Totals& sum, const model::WorkflowResult& workflow) {
  for (const model::StepResult& step : workflow.steps) {
    if (step.role == model::StepRole::kTest) add(sum, step);
  }
  sum.lateness.merge(workflow.lateness);
  sum.vus += workflow.vus;
}

void add(SecondMap& seconds, const model::WorkflowResult& workflow) {
  for (const model::StepResult& step : workflow.steps) {
    if (step.role != model::StepRole::kTest) continue;
    for (const model::StepSecond& part : step.series) {
      SecondTotals& sum = seconds[part.second];
      sum.requests += part.ok + part.failed;
      sum.failed += part.failed;
      sum.bytes_in += part.bytes_in;
      sum.bytes_out += part.bytes_out;
      sum.latency.merge(part.latency);
    }
  }
  for (const model::WorkflowSecond& part : workflow.series) {
    SecondTotals& sum = seconds[part.second];
    sum.iterations += part.iterations;
    sum.dropped += part.dropped;
  }
}

base::Duration truly_ended(const model::WorkflowResult& workflow) {
  return truly_began(workflow) + workflow.elapsed;
}

struct Extent {
  const model::WorkflowResult* first = nullptr;  // to begin
  const model::WorkflowResult* last = nullptr;   // to end

  void include(const model::WorkflowResult& workflow) {
    if (workflow.elapsed <= base::Duration::zero()) return;
    if (first == nullptr || truly_began(workflow) < truly_began(*first)) first = &workflow;
    if (last == nullptr || truly_ended(workflow) > truly_ended(*last)) last = &workflow;
  }
  base::Duration length() const {
    return first != nullptr ? truly_ended(*last) - truly_began(*first) : base::Duration{};
  }

  // The seconds of a series begin `shift` late. Of the second in which the last workflow began, that is a part.
  CountedStretch by_seconds() const {
    if (first == nullptr) return {};
    const base::Duration end = last->began + last->elapsed;
    const bool within =
        std::chrono::floor<std::chrono::seconds>(last->began) == std::chrono::floor<std::chrono::seconds>(end);
    return {.begin = first->began, .end = within ? truly_ended(*last) - first->shift : end};
  }
};

// The time between the first begin and the last end in which no workflow counted.
base::Duration gaps_of(const model::RunResult& run) {
  std::vector<std::pair<base::Duration, base::Duration>> stretches;
  for (const model::WorkflowResult& workflow : run.workflows) {
    if (workflow.elapsed <= base::Duration::zero()) continue;
    stretches.emplace_back(truly_began(workflow), truly_ended(workflow));
  }
  std::ranges::sort(stretches);
  base::Duration gaps{};
  base::Duration until = stretches.empty() ? base::Duration{} : stretches.front().first;
  for (const auto& [began, ended] : stretches) {
    gaps += std::max(began - until, base::Duration::zero());
    until = std::max(until, ended);
  }
  return gaps;
}

std::vector<SecondTotals> finished(SecondMap& seconds, const Extent& extent) {
  std::vector<SecondTotals> list;
  list.reserve(seconds.size());
  std::vector<RatedPart> parts;
  const CountedStretch counted = extent.by_seconds();
  for (auto& [second, sum] : seconds) {
    sum.second = second;
    parts.push_back({.requests = sum.requests, .seconds = covered(counted.begin, counted.end, second)});
    list.push_back(std::move(sum));
  }
  for (std::size_t i = 0; i != list.size(); ++i) {
    const std::size_t beside = i > 0 ? i - 1 : i + 1;
    const bool next_to =
        beside < list.size() && list[std::max(i, beside)].second == list[std::min(i, beside)].second + 1;
    list[i].rate = rate_in(parts[i], next_to ? parts[beside] : RatedPart{});
  }
  return list;
}

// Whether `earlier` was still running when `later` began. Results of before `shift` was kept do not tell that a
// workflow began a moment after its first second (kSameSecond), so one that starts when another has ended seems to
// overlap with it by that much.
bool ran_beside(const model::WorkflowResult& earlier, const model::WorkflowResult& later) {
  const base::Duration since = truly_began(later) - truly_began(earlier);
  const base::Duration overlap = std::min(earlier.elapsed - since, later.elapsed);
  const base::Duration shorter = std::min(earlier.elapsed, later.elapsed);
  return since >= base::Duration::zero() && overlap > std::min<base::Duration>(engine::kSameSecond, shorter / 2);
}

// The most VUs at once in each second: those of one group add up, the groups come one after the other.
void put_vus(SecondMap& seconds, const std::vector<const model::WorkflowResult*>& workflows) {
  const std::vector<std::size_t> groups = ran_together(workflows);
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> sums;
  for (std::size_t i = 0; i != workflows.size(); ++i) {
    for (const model::WorkflowSecond& part : workflows[i]->series) sums[{groups[i], part.second}] += part.vus;
  }
  for (const auto& [place, vus] : sums) seconds[place.second].vus = std::max(seconds[place.second].vus, vus);
}

template <class Amount>
std::uint64_t most_at_once(const model::RunResult& run, Amount amount) {
  std::uint64_t most = 0;
  for (const model::WorkflowResult& moment : run.workflows) {
    std::uint64_t sum = 0;
    for (const model::WorkflowResult& other : run.workflows) {
      if (&other == &moment || ran_beside(other, moment)) sum += amount(other);
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

base::Duration truly_began(const model::WorkflowResult& workflow) {
  return workflow.began + workflow.shift;
}

std::vector<std::size_t> ran_together(const std::vector<const model::WorkflowResult*>& workflows) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i != workflows.size(); ++i) {
    if (!workflows[i]->series.empty()) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(truly_began(*workflows[i]), i); });
  std::vector<std::size_t> groups(workflows.size());
  std::size_t group = 0;
  const model::WorkflowResult* last = nullptr;  // to end, of the group
  for (const std::size_t i : order) {
    const model::WorkflowResult& workflow = *workflows[i];
    const bool follows = last != nullptr && !ran_beside(*last, workflow);
    if (follows) ++group;
    groups[i] = group;
    if (last == nullptr || follows || truly_began(workflow) + workflow.elapsed > truly_began(*last) + last->elapsed) {
      last = &workflow;
    }
  }
  return groups;
}

std::vector<model::TaggedResult> by_tags(const model::WorkflowResult& workflow) {
  std::map<std::string, model::TaggedResult> rows;
  for (const model::TaggedResult& row : workflow.tagged) {
    model::TaggedResult& sum = rows[row.tags];
    sum.tags = row.tags;
    sum.ok += row.ok;
    sum.failed += row.failed;
    sum.latency.merge(row.latency);
  }
  std::vector<model::TaggedResult> list;
  for (auto& [tags, row] : rows) list.push_back(std::move(row));
  return list;
}

double covered(base::Duration begin, base::Duration end, std::uint32_t second) {
  const base::Duration from = std::max<base::Duration>(std::chrono::seconds(second), begin);
  const base::Duration to = std::min<base::Duration>(std::chrono::seconds(second) + std::chrono::seconds(1), end);
  return to > from ? base::seconds(to - from) : 0;
}

double rate_in(const RatedPart& part, const RatedPart& beside) {
  constexpr double kLeast = 0.1;
  if (part.requests == 0) return 0;
  if (part.seconds <= 0) return static_cast<double>(part.requests);
  const bool alone = part.seconds >= kLeast || beside.seconds <= 0;
  const double seconds = alone ? part.seconds : part.seconds + beside.seconds;
  return static_cast<double>(alone ? part.requests : part.requests + beside.requests) / seconds;
}

double Totals::rate() const {
  return counted > base::Duration::zero() ? static_cast<double>(requests) / base::seconds(counted) : 0;
}

Totals totals(const model::StepResult& step, base::Duration counted) {
  Totals sum;
  add(sum, step);
  sum.counted = counted;
  return sum;
}

Totals totals(const model::WorkflowResult& workflow) {
  Totals sum;
  add(sum, workflow);
  sum.counted = workflow.elapsed;
  return sum;
}

Totals totals(const model::RunResult& run) {
  Totals sum;
  Extent extent;
  for (const model::WorkflowResult& workflow : run.workflows) {
    add(sum, workflow);
    extent.include(workflow);
  }
  sum.counted = extent.length();
  sum.gaps = gaps_of(run);
  return sum;
}

CountedStretch counted_stretch(const model::RunResult& run) {
  Extent extent;
  for (const model::WorkflowResult& workflow : run.workflows) extent.include(workflow);
  return extent.by_seconds();
}

bool never_called(const model::WorkflowResult& workflow, const model::StepResult& step) {
  if (!workflow.scripted || step.ok + step.failed + step.skipped > 0 || !step.latency.empty()) return false;
  return std::ranges::all_of(step.checks, [](const model::CheckResult& check) { return check.ok + check.failed == 0; });
}

LoadModel load_model(const model::RunResult& run) {
  const auto open = std::ranges::count_if(run.workflows, &model::WorkflowResult::open);
  if (open == 0) return LoadModel::kClosed;
  return open == std::ssize(run.workflows) ? LoadModel::kOpen : LoadModel::kMixed;
}

std::uint64_t peak_vus(const model::RunResult& run) {
  return most_at_once(run, [](const model::WorkflowResult& workflow) { return workflow.peak_vus; });
}

std::uint64_t peak_cores(const model::RunResult& run) {
  return most_at_once(run, [](const model::WorkflowResult& workflow) { return workflow.cores.size(); });
}

std::vector<SecondTotals> seconds_of(const model::WorkflowResult& workflow) {
  SecondMap seconds;
  Extent extent;
  add(seconds, workflow);
  put_vus(seconds, {&workflow});
  extent.include(workflow);
  return finished(seconds, extent);
}

std::vector<SecondTotals> seconds_of(const model::RunResult& run) {
  SecondMap seconds;
  Extent extent;
  std::vector<const model::WorkflowResult*> workflows;
  for (const model::WorkflowResult& workflow : run.workflows) {
    add(seconds, workflow);
    extent.include(workflow);
    workflows.push_back(&workflow);
  }
  put_vus(seconds, workflows);
  return finished(seconds, extent);
}

}  // namespace muster::report
