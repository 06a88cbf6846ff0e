#include "report/points.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "report/totals.h"

namespace muster::report {
namespace {

template <class Point>
const Point* at(const std::vector<Point>& series, std::uint32_t second) {
  const auto place = std::lower_bound(series.begin(), series.end(), second,
                                      [](const Point& point, std::uint32_t value) { return point.second < value; });
  return place != series.end() && place->second == second ? &*place : nullptr;
}

template <class Recent>
auto remembered(const Recent& recent, std::uint32_t second) {
  const auto place = recent.find(second);
  return place != recent.end() ? place->second : typename Recent::mapped_type{};
}

// An executor that was lost may have told more of its last second than of its totals.
std::uint64_t beyond(std::uint64_t all, std::uint64_t told) {
  return all > told ? all - told : 0;
}

Counts beyond(const Counts& all, const Counts& told) {
  return {.requests = beyond(all.requests, told.requests),
          .failed = beyond(all.failed, told.failed),
          .bytes_in = beyond(all.bytes_in, told.bytes_in),
          .bytes_out = beyond(all.bytes_out, told.bytes_out)};
}

// Of one second or of a whole step.
template <class Source>
Counts counts_of(const Source& source) {
  return {.requests = source.ok + source.failed,
          .failed = source.failed,
          .bytes_in = source.bytes_in,
          .bytes_out = source.bytes_out};
}

void add(Counts& sum, const Counts& more) {
  sum.requests += more.requests;
  sum.failed += more.failed;
  sum.bytes_in += more.bytes_in;
  sum.bytes_out += more.bytes_out;
}

void add(Measures& sum, const Measures& more) {
  add(sum.added, more.added);
  add(sum.whole, more.whole);
  for (std::size_t i = 0; i != sum.errors.size(); ++i) sum.errors[i] += more.errors[i];
}

// At most `most` of what is pending, each kind by its share; all of it if it is no more than that.
template <std::size_t N>
std::array<std::uint64_t, N> share(const std::array<std::uint64_t, N>& pending, std::uint64_t most) {
  std::uint64_t total = 0;
  for (const std::uint64_t each : pending) total += each;
  if (total <= most) return pending;
  std::array<std::uint64_t, N> taken{};
  std::uint64_t left = most;
  for (std::size_t i = 0; i != N; ++i) {
    const double part = static_cast<double>(pending[i]) / static_cast<double>(total) * static_cast<double>(most);
    taken[i] = std::min({static_cast<std::uint64_t>(part), pending[i], left});
    left -= taken[i];
  }
  for (std::size_t i = 0; i != N && left > 0; ++i) {
    const std::uint64_t more = std::min(pending[i] - taken[i], left);
    taken[i] += more;
    left -= more;
  }
  return taken;
}

RatedPart rated(const model::WorkflowResult& workflow, const model::StepResult& step, std::uint32_t second) {
  const model::StepSecond* row = at(step.series, second);
  return {.requests = row != nullptr ? row->ok + row->failed : 0,
          .seconds = covered(workflow.began, workflow.began + workflow.elapsed, second)};
}

RatedPart rated(const model::WorkflowResult& workflow, std::uint32_t second) {
  RatedPart sum{.requests = 0, .seconds = covered(workflow.began, workflow.began + workflow.elapsed, second)};
  for (const model::StepResult& step : workflow.steps) {
    if (step.role == model::StepRole::kTest) sum.requests += rated(workflow, step, second).requests;
  }
  return sum;
}

double rate_of(const model::WorkflowResult& workflow, const model::StepResult& step, std::uint32_t second) {
  return rate_in(rated(workflow, step, second), second > 0 ? rated(workflow, step, second - 1) : RatedPart{});
}

double rate_of(const model::WorkflowResult& workflow, std::uint32_t second) {
  return rate_in(rated(workflow, second), second > 0 ? rated(workflow, second - 1) : RatedPart{});
}

}  // namespace

void PointSource::observe(const model::RunResult& snapshot, const Sink& sink) {
  if (snapshot.elapsed <= options_.settle) return;
  tell(snapshot, static_cast<std::uint32_t>(base::seconds(snapshot.elapsed - options_.settle)), sink);
}

void PointSource::finish(const model::RunResult& result, const Sink& sink) {
  std::uint32_t end = 0;
  const auto include = [&end](const auto& series) {
    if (!series.empty()) end = std::max(end, series.back().second + 1);
  };
  for (const model::WorkflowResult& workflow : result.workflows) {
    include(workflow.series);
    for (const model::StepResult& step : workflow.steps) include(step.series);
  }
  tell(result, end, sink);
  tell_rest(result, sink);
}

void PointSource::tell(const model::RunResult& run, std::uint32_t end, const Sink& sink) {
  workflows_.resize(std::max(workflows_.size(), run.workflows.size()));
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    std::vector<StepState>& steps = workflows_[i].steps;
    steps.resize(std::max(steps.size(), run.workflows[i].steps.size()));
  }
  const std::uint32_t oldest = next_ - std::min(next_, options_.late_seconds);
  for (std::uint32_t second = oldest; second != next_; ++second) {
    if (changed(run, second)) tell_second(run, second, true, sink);
  }
  for (; next_ < end; ++next_) {
    tell_second(run, next_, false, sink);
    forget(next_ - std::min(next_, options_.late_seconds));
  }
}

bool PointSource::changed(const model::RunResult& run, std::uint32_t second) const {
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    const model::WorkflowResult& workflow = run.workflows[i];
    if (const model::WorkflowSecond* row = at(workflow.series, second)) {
      const Rounds told = remembered(workflows_[i].recent, second);
      if (row->iterations > told.iterations || row->dropped > told.dropped) return true;
    }
    for (std::size_t k = 0; k != workflow.steps.size(); ++k) {
      const model::StepSecond* row = at(workflow.steps[k].series, second);
      if (row == nullptr) continue;
      if (beyond(counts_of(*row), remembered(workflows_[i].steps[k].recent, second)) != Counts{}) return true;
    }
  }
  return false;
}

void PointSource::forget(std::uint32_t before) {
  const auto drop = [before](auto& recent) { recent.erase(recent.begin(), recent.lower_bound(before)); };
  for (WorkflowState& workflow : workflows_) {
    drop(workflow.recent);
    for (StepState& step : workflow.steps) drop(step.recent);
  }
}

void PointSource::tell_second(const model::RunResult& run, std::uint32_t second, bool late, const Sink& sink) {
  SecondPoints points{.run = &run, .second = second, .late = late, .workflows = {}};
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    if (auto point = point_of(run.workflows[i], workflows_[i], second, late)) {
      points.workflows.push_back(std::move(*point));
    }
  }
  if (!points.workflows.empty()) sink(points);
}

// `most` bounds what is told of errors and checks, which snapshots do not count second by second.
StepPoint PointSource::step_point(const model::StepResult& step, StepState& state, const Counts& added,
                                  const Counts& most) {
  StepPoint point;
  point.step = &step;
  point.measures.added = added;
  add(state.told, added);
  ErrorCounts pending{};
  for (std::size_t i = 0; i != pending.size(); ++i) pending[i] = beyond(step.errors[i], state.errors[i]);
  point.measures.errors = share(pending, most.failed);
  for (std::size_t i = 0; i != pending.size(); ++i) state.errors[i] += point.measures.errors[i];

  state.checks.resize(std::max(state.checks.size(), step.checks.size()));
  for (std::size_t i = 0; i != step.checks.size(); ++i) {
    CheckState& told = state.checks[i];
    const auto taken = share(std::array{beyond(step.checks[i].ok, told.ok), beyond(step.checks[i].failed, told.failed)},
                             most.requests);
    if (taken[0] + taken[1] == 0) continue;
    told.ok += taken[0];
    told.failed += taken[1];
    point.checks.push_back({.check = &step.checks[i], .ok = taken[0], .failed = taken[1]});
  }
  return point;
}

std::optional<WorkflowPoint> PointSource::point_of(const model::WorkflowResult& workflow, WorkflowState& state,
                                                   std::uint32_t second, bool late) {
  WorkflowPoint point;
  point.workflow = &workflow;
  for (std::size_t i = 0; i != workflow.steps.size(); ++i) {
    const model::StepResult& step = workflow.steps[i];
    const model::StepSecond* row = at(step.series, second);
    if (row == nullptr) continue;
    const Counts whole = counts_of(*row);
    const Counts added = beyond(whole, std::exchange(state.steps[i].recent[second], whole));
    const bool counts = step.role == model::StepRole::kTest;
    if (counts) point.latency.merge(row->latency);
    if (added == Counts{}) {
      if (counts) add(point.measures.whole, whole);
      continue;
    }
    StepPoint made = step_point(step, state.steps[i], added, added);
    made.measures.whole = whole;
    made.measures.rate = rate_of(workflow, step, second);
    made.latency = &row->latency;
    if (counts) add(point.measures, made.measures);
    point.steps.push_back(std::move(made));
  }
  const model::WorkflowSecond* row = at(workflow.series, second);
  if (row != nullptr) {
    const Rounds told = std::exchange(state.recent[second], {.iterations = row->iterations, .dropped = row->dropped});
    point.iterations = beyond(row->iterations, told.iterations);
    point.dropped = beyond(row->dropped, told.dropped);
    point.vus = row->vus;
    state.told.iterations += point.iterations;
    state.told.dropped += point.dropped;
  }
  // A second in which VUs only waited is worth a point too; an addition of nothing is not.
  const bool something = !point.steps.empty() || point.iterations + point.dropped > 0 || (row != nullptr && !late);
  if (!something) return std::nullopt;
  point.measures.rate = rate_of(workflow, second);
  return point;
}

std::optional<WorkflowPoint> PointSource::rest_of(const model::WorkflowResult& workflow, WorkflowState& state) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  WorkflowPoint point;
  point.workflow = &workflow;
  for (std::size_t i = 0; i != workflow.steps.size(); ++i) {
    const model::StepResult& step = workflow.steps[i];
    const Counts added = beyond(counts_of(step), state.steps[i].told);
    StepPoint made = step_point(step, state.steps[i], added, {.requests = kAll, .failed = kAll});
    if (added == Counts{} && made.measures.errors == ErrorCounts{} && made.checks.empty()) continue;
    made.measures.whole = added;
    if (step.role == model::StepRole::kTest) add(point.measures, made.measures);
    point.steps.push_back(std::move(made));
  }
  point.iterations = beyond(workflow.iterations, state.told.iterations);
  point.dropped = beyond(workflow.dropped, state.told.dropped);
  if (point.steps.empty() && point.iterations + point.dropped == 0) return std::nullopt;
  return point;
}

void PointSource::tell_rest(const model::RunResult& run, const Sink& sink) {
  SecondPoints points{.run = &run, .second = std::nullopt, .late = true, .workflows = {}};
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    if (auto point = rest_of(run.workflows[i], workflows_[i])) points.workflows.push_back(std::move(*point));
  }
  if (!points.workflows.empty()) sink(points);
}

}  // namespace muster::report
