#include "console/screen/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "console/screen/options.h"
#include "report/figures.h"
#include "report/totals.h"

namespace muster::console {
namespace {

using base::Duration;
using model::RunResult;
using model::StepResult;
using model::WorkflowResult;
using model::WorkflowState;

// Seconds at the end of the series that may still change, since cores tell them at different times.
constexpr std::uint32_t kUnsettled = kRecentSeconds + 3;

std::span<const WorkflowResult> workflows_of(std::size_t view, const RunResult& snapshot) {
  const std::span<const WorkflowResult> all = snapshot.workflows;
  return view == 0 ? all : all.subspan(view - 1, 1);
}

bool ended(WorkflowState state) {
  return state != WorkflowState::kPending && state != WorkflowState::kRunning;
}

template <unsigned SubBits>
std::optional<Times> times_of(const metrics::BasicHistogram<SubBits>& histogram) {
  if (histogram.empty()) return std::nullopt;
  return Times{histogram.quantile(0.5),  histogram.quantile(0.9),   histogram.quantile(0.95),
               histogram.quantile(0.99), histogram.quantile(0.999), histogram.max()};
}

// The run as one: it runs while one of its workflows does.
WorkflowState state_of(std::span<const WorkflowResult> workflows) {
  if (workflows.size() == 1) return workflows.front().state;
  const auto is = [&](WorkflowState state) {
    return std::ranges::any_of(workflows, [&](const WorkflowResult& each) { return each.state == state; });
  };
  if (is(WorkflowState::kRunning)) return WorkflowState::kRunning;
  return is(WorkflowState::kPending) ? WorkflowState::kPending : WorkflowState::kCompleted;
}

// Steps of a control kind fail because one inside them failed; counting both would tell each failure twice.
void add_errors(ViewFigures& figures, std::span<const WorkflowResult> workflows) {
  for (std::size_t i = 0; i != model::kErrorClasses; ++i) {
    ErrorFigure figure;
    figure.error = static_cast<model::ErrorClass>(i);
    const model::ErrorSample* latest = nullptr;
    for (const WorkflowResult& workflow : workflows) {
      for (const StepResult& step : workflow.steps) {
        if (step.role == model::StepRole::kControl || step.errors[i] == 0) continue;
        figure.count += step.errors[i];
        for (const model::ErrorSample& sample : step.samples) {
          if (sample.error != figure.error || (latest != nullptr && sample.at < latest->at)) continue;
          latest = &sample;
          figure.step = step.name;
          figure.detail = sample.detail;
        }
      }
    }
    if (figure.count > 0) figures.errors.push_back(std::move(figure));
  }
  std::ranges::sort(figures.errors, [](const ErrorFigure& one, const ErrorFigure& other) {
    return one.count != other.count ? one.count > other.count : one.error < other.error;
  });
}

void add_checks(ViewFigures& figures, std::span<const WorkflowResult> workflows) {
  for (const bool failing : {true, false}) {
    for (const WorkflowResult& workflow : workflows) {
      for (const StepResult& step : workflow.steps) {
        for (const model::CheckResult& check : step.checks) {
          if ((check.failed > 0) != failing) continue;
          figures.checks.push_back({fmt::format("{}: {}", step.name, check.label), check.ok, check.failed});
        }
      }
    }
  }
}

void add_steps(ViewFigures& figures, std::span<const WorkflowResult> workflows) {
  for (const WorkflowResult& workflow : workflows) {
    const double seconds = base::seconds(workflow.elapsed);
    for (const StepResult& step : workflow.steps) {
      const bool group = step.kind == "group" && !step.latency.empty();
      if (step.role != model::StepRole::kTest && !group) continue;
      const std::uint64_t requests = step.ok + step.failed;
      figures.steps.push_back({step.name, requests, step.failed,
                               seconds > 0 ? static_cast<double>(requests) / seconds : 0, step.latency.quantile(0.5),
                               step.latency.quantile(0.95), step.latency.quantile(0.99)});
    }
  }
}

}  // namespace

RunWatch::RunWatch(RunPlan plan) : plan_(std::move(plan)), tracks_(views()), paused_(plan_.workflows.size()) {}

void RunWatch::observe(const RunResult& snapshot, bool paused) {
  if (snapshot.workflows.size() != plan_.workflows.size()) return;
  const Duration since = snapshot.elapsed - last_;
  const Duration still = paused ? since : std::min(stood_still_, since);
  for (std::size_t i = 0; i != paused_.size(); ++i) {
    if (snapshot.workflows[i].state == WorkflowState::kRunning) paused_[i] += still;
  }
  paused_in_all_ += still;
  stood_still_ -= std::min(stood_still_, still);
  last_ = snapshot.elapsed;
  for (std::size_t view = 0; view != tracks_.size(); ++view) {
    follow_seconds(tracks_[view], view, snapshot);
    follow_totals(tracks_[view], view, snapshot);
  }
}

void RunWatch::follow_seconds(Track& track, std::size_t view, const RunResult& snapshot) {
  const auto workflows = workflows_of(view, snapshot);
  std::uint32_t last = 0;
  std::uint64_t told = 0;
  for (const WorkflowResult& workflow : workflows) {
    for (const StepResult& step : workflow.steps) {
      if (step.role != model::StepRole::kTest || step.series.empty()) continue;
      const model::StepSecond& latest = step.series.back();
      last = std::max(last, latest.second);
      told += step.series.size() + latest.ok + latest.failed;
    }
  }
  // Most looks find the same seconds as the one before.
  if (told == track.told) return;
  track.told = told;
  std::uint32_t from = last > kUnsettled ? last - kUnsettled : 0;
  // After a time without a look, what was missed is made up for.
  if (track.points.empty() || track.points.back().second < from) {
    from = track.points.empty() ? 0 : track.points.back().second;
  }
  std::map<std::uint32_t, metrics::CoarseHistogram> seconds;
  for (const WorkflowResult& workflow : workflows) {
    for (const StepResult& step : workflow.steps) {
      if (step.role != model::StepRole::kTest) continue;
      for (auto part = step.series.rbegin(); part != step.series.rend() && part->second >= from; ++part) {
        seconds[part->second].merge(part->latency);
      }
    }
  }
  while (!track.points.empty() && track.points.back().second >= from) track.points.pop_back();
  track.recent.clear();
  for (const auto& [second, latency] : seconds) {
    if (latency.empty()) continue;
    track.points.push_back({second, latency.quantile(0.5), latency.quantile(0.99)});
    if (second + kRecentSeconds > last) track.recent.merge(latency);
  }
}

void RunWatch::follow_totals(Track& track, std::size_t view, const RunResult& snapshot) {
  Sample sample;
  bool counted = false;
  Duration begin = Duration::max();
  for (const WorkflowResult& workflow : workflows_of(view, snapshot)) {
    begin = std::min(begin, workflow.began);
    if (workflow.elapsed > Duration::zero()) {
      sample.at = std::max(sample.at, workflow.began + workflow.elapsed);
      counted = true;
    }
    for (const StepResult& step : workflow.steps) {
      if (step.role == model::StepRole::kTest) sample.requests += step.ok + step.failed;
    }
    // Those of workflows that are over use nothing any more.
    if (workflow.state != WorkflowState::kRunning) continue;
    sample.cores.insert(sample.cores.end(), workflow.cores.begin(), workflow.cores.end());
  }
  if (!counted) {
    // The rate counts from where counting begins, not from before it.
    sample.at = begin == Duration::max() ? Duration::zero() : begin;
    track.samples.clear();
  }
  const bool fresh = track.samples.empty() || sample.at > track.samples.back().at ||
                     sample.cores.size() != track.samples.back().cores.size();
  if (fresh) track.samples.push_back(std::move(sample));
  // One that is old enough stays as the beginning of what is recent.
  while (track.samples.size() > 2 && track.samples.back().at - track.samples[1].at >= kRecentRate) {
    track.samples.pop_front();
  }
}

void RunWatch::add_recent(ViewFigures& figures, const Track& track) const {
  figures.recent_latency = times_of(track.recent);
  if (track.samples.empty()) return;
  const Sample& last = track.samples.back();
  const Sample& first = track.samples.front();
  const double seconds = base::seconds(last.at - first.at);
  if (seconds >= 0.5 && last.requests >= first.requests) {
    figures.recent_rate = static_cast<double>(last.requests - first.requests) / seconds;
  }
  for (std::size_t i = 0; i != last.cores.size(); ++i) {
    model::CoreUse use = last.cores[i];
    const bool comparable = first.cores.size() == last.cores.size() && first.cores[i].elapsed < use.elapsed &&
                            first.cores[i].busy <= use.busy;
    if (comparable) use = {use.busy - first.cores[i].busy, use.elapsed - first.cores[i].elapsed};
    const double share = use.elapsed > Duration::zero() ? base::seconds(use.busy) / base::seconds(use.elapsed) : 0;
    figures.busy.push_back(std::clamp(share, 0.0, 1.0));
  }
}

ViewFigures RunWatch::figures(std::size_t view, const RunResult& snapshot) const {
  ViewFigures made;
  if (view >= tracks_.size() || snapshot.workflows.size() != plan_.workflows.size()) return made;
  const auto workflows = workflows_of(view, snapshot);
  const report::Totals sum = view == 0 ? report::totals(snapshot) : report::totals(workflows.front());
  made.state = state_of(workflows);
  if (workflows.size() == 1) made.reason = workflows.front().reason;
  bool counting = false;
  for (const WorkflowResult& workflow : workflows) {
    if (workflow.state == WorkflowState::kRunning) (workflow.warming_up ? made.warming_up : counting) = true;
    made.open = made.open || workflow.open;
    made.peak_vus += workflow.peak_vus;
    made.max_vus += workflow.open ? workflow.max_vus : 0;
    made.iterations += workflow.iterations;
    made.arrivals += workflow.arrivals;
    made.dropped += workflow.dropped;
  }
  made.warming_up = made.warming_up && !counting;
  made.vus = sum.vus;
  made.requests = sum.requests;
  made.failed = sum.failed;
  made.bytes_in = sum.bytes_in;
  made.bytes_out = sum.bytes_out;
  made.rate = sum.rate();
  made.latency = times_of(sum.latency);
  add_recent(made, tracks_[view]);
  add_errors(made, workflows);
  add_checks(made, workflows);
  add_steps(made, workflows);
  made.progress =
      view == 0 && workflows.size() != 1 ? whole_progress(snapshot) : progress(view == 0 ? 0 : view - 1, snapshot);
  if (made.progress.left && !made.progress.about) {
    const Duration end = snapshot.elapsed + *made.progress.left;
    made.plot_length = static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(end).count());
  }
  return made;
}

// How far the load of a workflow is, by its own time: pauses are left out.
Duration RunWatch::load_time(std::size_t workflow, const RunResult& snapshot) const {
  const WorkflowResult& result = snapshot.workflows[workflow];
  if (result.began == Duration::zero() && result.elapsed == Duration::zero()) return {};
  const Duration begin = result.began - plan_.workflows[workflow].warm_up;
  return std::max(snapshot.elapsed - begin - paused_[workflow], Duration::zero());
}

Progress RunWatch::progress(std::size_t workflow, const RunResult& snapshot) const {
  Progress made;
  const WorkflowPlan& plan = plan_.workflows[workflow];
  const WorkflowResult& result = snapshot.workflows[workflow];
  if (ended(result.state)) {
    made.share = result.state == WorkflowState::kCompleted ? std::optional(1.0) : std::nullopt;
    return made;
  }
  const Duration passed = load_time(workflow, snapshot);
  if (plan.length && *plan.length > Duration::zero()) {
    made.share = std::min(base::seconds(passed) / base::seconds(*plan.length), 1.0);
    made.left = std::max(*plan.length - passed, Duration::zero());
  }
  for (std::size_t i = 0; i != plan.stages.size(); ++i) {
    if (passed >= plan.stages[i].end) continue;
    made.text = fmt::format("stage {} of {}: {}", i + 1, plan.stages.size(), plan.stages[i].text);
    break;
  }
  if (plan.iterations && *plan.iterations > 0) {
    const double share = static_cast<double>(result.iterations) / static_cast<double>(*plan.iterations);
    made.text =
        fmt::format("{} of {} iterations", report::grouped(result.iterations), report::grouped(*plan.iterations));
    if (!made.share || share > *made.share) {
      made.share = std::min(share, 1.0);
      // At the pace so far; nothing is said before a hundredth of the work shows what that is.
      made.about = true;
      made.left = share > 0.01 && share <= 1
                      ? std::optional(base::from_seconds(base::seconds(passed) * (1 / share - 1)))
                      : std::nullopt;
    }
  }
  if (made.text.empty()) made.text = plan.load;
  return made;
}

// A turn begins when all of the one before are over.
Progress RunWatch::whole_progress(const RunResult& snapshot) const {
  Progress made;
  const std::size_t count = plan_.workflows.size();
  std::size_t over = 0;
  std::vector<std::optional<Duration>> rest(count);
  for (std::size_t i = 0; i != count; ++i) {
    if (ended(snapshot.workflows[i].state)) {
      ++over;
      rest[i] = Duration::zero();
      continue;
    }
    const Progress one = progress(i, snapshot);
    rest[i] = one.left;
    made.about = made.about || one.about;
  }
  made.text = fmt::format("{} of {} workflows done", over, count);
  Duration left{};
  for (const std::vector<std::size_t>& turn : plan_.turns) {
    Duration longest{};
    for (const std::size_t i : turn) {
      if (!rest[i]) return made;
      longest = std::max(longest, *rest[i]);
    }
    left += longest;
  }
  made.left = left;
  const Duration passed = snapshot.elapsed - paused_in_all_;
  const Duration whole = passed + *made.left;
  if (whole > Duration::zero()) made.share = base::seconds(passed) / base::seconds(whole);
  return made;
}

}  // namespace muster::console
