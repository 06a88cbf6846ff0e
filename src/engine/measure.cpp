#include "engine/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/recording.h"
#include "model/threshold_reach.h"

namespace muster::engine {
namespace {

using model::MetricType;
using model::StepResult;
using model::TaggedResult;
using model::Threshold;
using model::WorkflowResult;

enum class Subject : std::uint8_t {
  kLatency,
  kService,
  kLateness,
  kFailed,
  kRequests,
  kIterations,
  kFailedIterations,
  kDropped,
  kChecks,
  kUser
};

Subject subject_of(std::string_view metric) {
  constexpr std::array<std::pair<std::string_view, Subject>, 9> kSubjects = {
      {{"latency", Subject::kLatency},
       {"service", Subject::kService},
       {"lateness", Subject::kLateness},
       {"failed", Subject::kFailed},
       {"requests", Subject::kRequests},
       {"iterations", Subject::kIterations},
       {"failed_iterations", Subject::kFailedIterations},
       {"dropped", Subject::kDropped},
       {"checks", Subject::kChecks}}};
  for (const auto& [name, subject] : kSubjects) {
    if (name == metric) return subject;
  }
  return Subject::kUser;
}

enum class Aggregate : std::uint8_t { kUnknown, kQuantile, kMean, kMin, kMax, kStd, kRate, kCount, kFailed, kLast };

struct Wanted {
  Aggregate aggregate = Aggregate::kUnknown;
  double quantile = 0;
};

// "p95" is 0.95; "p99.9" and, as in the names of the summary, "p999" are 0.999.
Wanted wanted(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Aggregate>, 10> kNames = {{{"mean", Aggregate::kMean},
                                                                              {"avg", Aggregate::kMean},
                                                                              {"min", Aggregate::kMin},
                                                                              {"max", Aggregate::kMax},
                                                                              {"std", Aggregate::kStd},
                                                                              {"rate", Aggregate::kRate},
                                                                              {"count", Aggregate::kCount},
                                                                              {"failed", Aggregate::kFailed},
                                                                              {"last", Aggregate::kLast},
                                                                              {"value", Aggregate::kLast}}};
  for (const auto& [name, aggregate] : kNames) {
    if (name == text) return {aggregate, 0};
  }
  if (text == "median") return {Aggregate::kQuantile, 0.5};
  if (text.size() < 2 || text.front() != 'p') return {};
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() || !(percent >= 0)) return {};
  if (percent > 100 && text.find('.') == std::string_view::npos) {
    percent /= std::pow(10.0, static_cast<double>(text.size()) - 3.0);
  }
  if (percent > 100) return {};
  return {Aggregate::kQuantile, percent / 100};
}

bool of_a_distribution(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kQuantile:
    case Aggregate::kMean:
    case Aggregate::kMin:
    case Aggregate::kMax:
    case Aggregate::kStd:
    case Aggregate::kCount:
      return true;
    default:
      return false;
  }
}

double per_second(double events, const Selection& selection, const std::optional<Span>& span) {
  if (span) return span->end > span->first ? events / static_cast<double>(span->end - span->first) : 0;
  const std::optional<Extent> over = extent_of(selection);
  return over ? events / base::seconds(over->end - over->begin) : 0;
}

template <class Second, class Fn>
void each_second(const std::vector<Second>& series, const Span& span, Fn&& fn) {
  auto at = std::ranges::lower_bound(series, span.first, {}, &Second::second);
  for (; at != series.end() && at->second < span.end; ++at) fn(*at);
}

template <class Histogram>
Measured from(const Histogram& histogram, const Wanted& want) {
  Measured measured;
  measured.samples = histogram.count();
  switch (want.aggregate) {
    case Aggregate::kQuantile:
      measured.value = base::seconds(histogram.quantile(want.quantile));
      break;
    case Aggregate::kMean:
      measured.value = base::seconds(histogram.mean());
      break;
    case Aggregate::kMin:
      measured.value = base::seconds(histogram.min());
      break;
    case Aggregate::kMax:
      measured.value = base::seconds(histogram.max());
      break;
    case Aggregate::kStd:
      measured.value = base::seconds(histogram.stddev());
      break;
    default:
      measured.value = static_cast<double>(histogram.count());
      measured.tally = true;
  }
  return measured;
}

Measured latency(const Selection& selection, const Wanted& want, const std::optional<Span>& span) {
  if (span) {
    metrics::CoarseHistogram merged;
    for (const StepResult* step : selection.steps) {
      each_second(step->series, *span, [&](const model::StepSecond& second) { merged.merge(second.latency); });
    }
    return from(merged, want);
  }
  metrics::Histogram merged;
  for (const StepResult* step : selection.steps) merged.merge(step->latency);
  for (const TaggedResult* row : selection.tagged) merged.merge(row->latency);
  return from(merged, want);
}

struct Requests {
  std::uint64_t all = 0;
  std::uint64_t failed = 0;

  void add(std::uint64_t ok, std::uint64_t bad) {
    all += ok + bad;
    failed += bad;
  }
};

Requests requests(const Selection& selection, const std::optional<Span>& span) {
  Requests counted;
  for (const StepResult* step : selection.steps) {
    if (span) {
      each_second(step->series, *span, [&](const auto& second) { counted.add(second.ok, second.failed); });
    } else {
      counted.add(step->ok, step->failed);
    }
  }
  for (const TaggedResult* row : selection.tagged) counted.add(row->ok, row->failed);
  return counted;
}

Measured fraction(std::uint64_t part, std::uint64_t whole) {
  Measured measured;
  measured.samples = whole;
  if (whole > 0) measured.value = static_cast<double>(part) / static_cast<double>(whole);
  return measured;
}

Measured tally(double value, std::uint64_t samples) {
  Measured measured;
  measured.value = value;
  measured.samples = samples;
  measured.tally = true;
  return measured;
}

// A count, or how many in a second.
Measured events(std::uint64_t count, const Wanted& want, const Selection& selection, const std::optional<Span>& span) {
  const auto number = static_cast<double>(count);
  return tally(want.aggregate == Aggregate::kRate ? per_second(number, selection, span) : number, count);
}

Measured iterations(const Selection& selection, const Wanted& want, const std::optional<Span>& span) {
  std::uint64_t count = 0;
  for (const WorkflowResult* workflow : selection.workflows) {
    if (span) {
      each_second(workflow->series, *span, [&](const auto& second) { count += second.iterations; });
    } else {
      count += workflow->iterations;
    }
  }
  return events(count, want, selection, span);
}

Measured failed_iterations(const Selection& selection, const Wanted& want) {
  std::uint64_t all = 0;
  std::uint64_t failed = 0;
  for (const WorkflowResult* workflow : selection.workflows) {
    all += workflow->iterations;
    failed += workflow->failed_iterations;
  }
  if (want.aggregate == Aggregate::kRate) return fraction(failed, all);
  return tally(static_cast<double>(failed), all);
}

// The share of dropped arrivals has no series of arrivals to rest on: within a span, those that were run to the end and
// those that were dropped stand for them.
Measured dropped(const Selection& selection, const Wanted& want, const std::optional<Span>& span) {
  std::uint64_t count = 0;
  std::uint64_t due = 0;
  for (const WorkflowResult* workflow : selection.workflows) {
    if (span) {
      each_second(workflow->series, *span, [&](const auto& second) {
        count += second.dropped;
        due += second.dropped + second.iterations;
      });
    } else {
      count += workflow->dropped;
      due += workflow->arrivals;
    }
  }
  if (want.aggregate == Aggregate::kRate) return fraction(count, due);
  return tally(static_cast<double>(count), due);
}

Measured checks(const Threshold& threshold, const Selection& selection, const Wanted& want) {
  Requests counted;
  const auto add = [&](const StepResult& step) {
    for (const model::CheckResult& check : step.checks) counted.add(check.ok, check.failed);
  };
  if (threshold.where.empty() || (threshold.where.size() == 1 && threshold.where.front().first == "workflow")) {
    for (const WorkflowResult* workflow : selection.workflows) {
      for (const StepResult& step : workflow->steps) add(step);
    }
  } else {
    for (const StepResult* step : selection.steps) add(*step);
  }
  if (want.aggregate == Aggregate::kRate) return fraction(counted.all - counted.failed, counted.all);
  if (want.aggregate == Aggregate::kFailed) return tally(static_cast<double>(counted.failed), counted.all);
  return tally(static_cast<double>(counted.all), counted.all);
}

Measured impossible(std::string problem) {
  Measured measured;
  measured.problem = std::move(problem);
  return measured;
}

std::optional<model::UserMetric> merged_metric(std::string_view name, const Selection& selection) {
  std::optional<model::UserMetric> merged;
  for (const WorkflowResult* workflow : selection.workflows) {
    for (const model::UserMetric& part : workflow->metrics) {
      if (std::string_view(part.name) != name) continue;
      if (!merged) {
        merged = part;
      } else {
        model::merge(*merged, part);
      }
    }
  }
  return merged;
}

Measured trend(const model::UserMetric& metric, const Wanted& want) {
  Measured measured;
  measured.samples = metric.count;
  switch (want.aggregate) {
    case Aggregate::kQuantile:
      measured.value = model::quantile(metric, want.quantile);
      break;
    case Aggregate::kMean:
      measured.value = metric.count > 0 ? metric.sum / static_cast<double>(metric.count) : 0;
      break;
    case Aggregate::kMin:
      measured.value = metric.min;
      break;
    case Aggregate::kMax:
      measured.value = metric.max;
      break;
    case Aggregate::kStd:
      measured.value = model::stddev(metric);
      break;
    default:
      measured.value = static_cast<double>(metric.count);
      measured.tally = true;
  }
  return measured;
}

Measured user_metric(const Threshold& threshold, const Selection& selection, const Wanted& want) {
  const std::optional<model::UserMetric> metric = merged_metric(threshold.metric, selection);
  if (!metric) return impossible(fmt::format("no metric named '{}' was recorded", threshold.metric));
  const std::uint64_t count = metric->count;
  switch (metric->type) {
    case MetricType::kCounter:
      if (want.aggregate == Aggregate::kCount) return tally(metric->sum, count);
      if (want.aggregate == Aggregate::kRate) return tally(per_second(metric->sum, selection, {}), count);
      return impossible(fmt::format("'{}' is a counter: it has count and rate", threshold.metric));
    case MetricType::kRate:
      if (want.aggregate == Aggregate::kRate) return fraction(metric->trues, count);
      if (want.aggregate == Aggregate::kCount) return tally(static_cast<double>(count), count);
      return impossible(fmt::format("'{}' is a rate: it has rate and count", threshold.metric));
    case MetricType::kGauge: {
      Measured measured;
      measured.samples = count;
      if (want.aggregate == Aggregate::kLast)
        measured.value = metric->last;
      else if (want.aggregate == Aggregate::kMin)
        measured.value = metric->min;
      else if (want.aggregate == Aggregate::kMax)
        measured.value = metric->max;
      else
        return impossible(fmt::format("'{}' is a gauge: it has last, min and max", threshold.metric));
      return measured;
    }
    case MetricType::kTrend:
      if (of_a_distribution(want.aggregate)) return trend(*metric, want);
      return impossible(
          fmt::format("'{}' is a trend: it has p50, p95 and so on, mean, min, max, std and count", threshold.metric));
  }
  return {};
}

// Why there is nothing to measure.
std::string nothing_is(const Threshold& threshold, const Selection& selection) {
  if (threshold.where.empty()) return "the run has no step that makes requests";
  std::string text = fmt::format("nothing in the run is {}", where_text(threshold));
  const bool others = std::ranges::any_of(selection.workflows, [](const WorkflowResult* workflow) {
    return std::ranges::count(workflow->tagged, kOtherTags, &TaggedResult::tags) > 0;
  });
  if (others && !conditions_of(threshold).tags.empty()) {
    text += fmt::format(
        "; it may be among the requests that count as \"{}\", since there were too many combinations of tags",
        kOtherTags);
  }
  return text;
}

Measured measure_selected(const Threshold& threshold, const Selection& selection, const std::optional<Span>& span) {
  const Wanted want = wanted(threshold.aggregate);
  const Subject subject = subject_of(threshold.metric);
  const bool about_requests = subject == Subject::kLatency || subject == Subject::kService ||
                              subject == Subject::kFailed || subject == Subject::kRequests;
  if (selection.workflows.empty() || (about_requests && selection.steps.empty() && selection.tagged.empty())) {
    return impossible(nothing_is(threshold, selection));
  }
  if (!selection.tagged.empty() && (span || !model::reach_of(threshold.metric).run_tags)) {
    return impossible("requests with a tag are only kept as counts and latency of the whole run");
  }
  switch (subject) {
    case Subject::kLatency:
      return latency(selection, want, span);
    case Subject::kService: {
      // A closed load has no intended start beside the true one: its latency is its service time.
      metrics::Histogram merged;
      for (const StepResult* step : selection.steps) {
        merged.merge(step->service.empty() ? step->latency : step->service);
      }
      return from(merged, want);
    }
    case Subject::kLateness: {
      metrics::Histogram merged;
      for (const WorkflowResult* workflow : selection.workflows) merged.merge(workflow->lateness);
      return from(merged, want);
    }
    case Subject::kFailed: {
      const Requests counted = requests(selection, span);
      if (want.aggregate == Aggregate::kRate) return fraction(counted.failed, counted.all);
      return tally(static_cast<double>(counted.failed), counted.all);
    }
    case Subject::kRequests:
      return events(requests(selection, span).all, want, selection, span);
    case Subject::kIterations:
      return iterations(selection, want, span);
    case Subject::kFailedIterations:
      return failed_iterations(selection, want);
    case Subject::kDropped:
      return dropped(selection, want, span);
    case Subject::kChecks:
      return checks(threshold, selection, want);
    case Subject::kUser:
      return user_metric(threshold, selection, want);
  }
  return {};
}

}  // namespace

base::Expected<void> judgeable(const Threshold& threshold) {
  const Subject subject = subject_of(threshold.metric);
  const Aggregate aggregate = wanted(threshold.aggregate).aggregate;
  const auto refuse = [&](std::string_view has) {
    return base::fail(fmt::format("{} has no '{}'; it has {}", threshold.metric, threshold.aggregate, has));
  };
  if (aggregate == Aggregate::kUnknown) {
    return base::fail(
        fmt::format("'{}' is no aggregate; there are p50, p95, p99.9 and so on, mean, min, max, std, "
                    "rate and count",
                    threshold.aggregate));
  }
  const bool times = subject == Subject::kLatency || subject == Subject::kService || subject == Subject::kLateness;
  if (times && !of_a_distribution(aggregate)) return refuse("p50, p95 and so on, mean, min, max, std and count");
  const bool counts = aggregate == Aggregate::kRate || aggregate == Aggregate::kCount ||
                      (aggregate == Aggregate::kFailed && subject == Subject::kChecks);
  if (!times && subject != Subject::kUser && !counts) {
    return refuse(subject == Subject::kChecks ? "rate, count and failed" : "rate and count");
  }
  if (auto wrong = model::misfit(threshold)) return base::fail(std::move(wrong->message));
  return {};
}

Measured measure(const Threshold& threshold, const std::vector<WorkflowResult>& workflows, std::optional<Span> span) {
  const Selection selection = select(threshold, workflows);
  Measured measured = measure_selected(threshold, selection, span);
  measured.partial = selection.partial;
  return measured;
}

std::optional<Extent> extent(const Threshold& threshold, const std::vector<WorkflowResult>& workflows) {
  return extent_of(select(threshold, workflows));
}

std::optional<Extent> told_extent(const Threshold& threshold, const std::vector<WorkflowResult>& workflows,
                                  base::Duration now, base::Duration patience) {
  const Selection selection = select(threshold, workflows);
  std::optional<Extent> found = extent_of(selection);
  if (!found) return found;
  std::optional<base::Duration> slowest;
  base::Duration furthest{};
  for (const WorkflowResult* workflow : selection.workflows) {
    if (workflow->elapsed <= base::Duration::zero()) continue;
    base::Duration told = workflow->began + workflow->elapsed;
    if (workflow->state == model::WorkflowState::kRunning) {
      const base::Duration whole = workflow->series.empty()
                                       ? workflow->began
                                       : base::Duration(std::chrono::seconds(workflow->series.back().second + 1));
      told = std::min(told, whole);
      slowest = std::min(slowest.value_or(told), told);
    }
    furthest = std::max(furthest, told);
  }
  found->end = slowest ? std::max(*slowest, std::min(furthest, now - patience)) : furthest;
  return found;
}

base::Duration counted_in(const Threshold& threshold, const std::vector<WorkflowResult>& workflows, const Span& span) {
  std::vector<Extent> stretches;
  for (const WorkflowResult* workflow : select(threshold, workflows).workflows) {
    stretches.push_back({workflow->began, workflow->began + workflow->elapsed});
  }
  std::ranges::sort(stretches, {}, &Extent::begin);
  base::Duration counted{};
  base::Duration from = std::chrono::seconds(span.first);
  for (const Extent& stretch : stretches) {
    const base::Duration until = std::min<base::Duration>(stretch.end, std::chrono::seconds(span.end));
    from = std::max(from, stretch.begin);
    if (until <= from) continue;
    counted += until - from;
    from = until;
  }
  return counted;
}

}  // namespace muster::engine
