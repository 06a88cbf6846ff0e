#include "report/compared_place.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "metrics/difference.h"

namespace muster::report {
namespace {

struct Percentile {
  std::string_view name;
  double q;
};
// The first two lead; the rest in their natural order.
constexpr std::array<Percentile, 5> kPercentiles = {
    {{"p95", 0.95}, {"p50", 0.50}, {"p90", 0.90}, {"p99", 0.99}, {"p99.9", 0.999}}};

constexpr std::array<double, kPercentiles.size()> probabilities() {
  std::array<double, kPercentiles.size()> list{};
  for (std::size_t i = 0; i != list.size(); ++i) list[i] = kPercentiles[i].q;
  return list;
}
constexpr auto kProbabilities = probabilities();

// Seconds of the run that were counted from beginning to end; the first and the last one may be cut short, and say
// nothing about a rate.
std::uint32_t first_second(const model::WorkflowResult& workflow) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(base::seconds(workflow.began)), 0.0, 4e9));
}

std::size_t whole_seconds(const model::WorkflowResult& workflow) {
  const double end = std::floor(base::seconds(workflow.began + workflow.elapsed));
  return static_cast<std::size_t>(std::max(0.0, end - first_second(workflow)));
}

// An hour in slices of six seconds costs no more than ten minutes in slices of one, and tells as much.
constexpr std::size_t kMostSlices = 600;

std::size_t seconds_each(std::size_t seconds) {
  return std::max<std::size_t>(1, (seconds + kMostSlices - 1) / kMostSlices);
}

void make_slices(PlaceSide& side, std::size_t seconds) {
  side.seconds = seconds;
  side.slices.resize(seconds / seconds_each(seconds));
}

void add_series(PlaceSide& into, std::uint32_t first, const model::StepResult& step) {
  const std::size_t each = seconds_each(into.seconds);
  for (const model::StepSecond& part : step.series) {
    if (part.second < first || (part.second - first) / each >= into.slices.size()) continue;
    metrics::Slice& slice = into.slices[(part.second - first) / each];
    slice.requests += part.ok + part.failed;
    slice.failed += part.failed;
    slice.latency.merge(part.latency);
  }
}

struct Side {
  const PlaceSide& place;
  metrics::Spread spread;
};

double value_of(base::Duration duration) {
  return base::seconds(duration);
}

Delta bare(std::string_view metric, DeltaUnit unit, double before, double after) {
  Delta delta;
  delta.metric = metric;
  delta.unit = unit;
  delta.before = before;
  delta.after = after;
  delta.relative = unit != DeltaUnit::kShare;
  if (!delta.relative) {
    delta.change = after - before;
  } else if (before > 0) {
    delta.change = after / before - 1;
  }
  delta.worse = unit == DeltaUnit::kPerSecond ? after < before : after > before;
  return delta;
}

// The values are those of the exact histograms; the errors those of the seconds.
void judge_relative(Delta& delta, const metrics::Estimate& before, const metrics::Estimate& after,
                    const std::pair<double, double>& freedom, double between) {
  if (!(delta.before > 0) || !(delta.after > 0) || freedom.first <= 0 || freedom.second <= 0) return;
  const metrics::Difference found = metrics::relative_difference({delta.before, before.error}, freedom.first,
                                                                 {delta.after, after.error}, freedom.second, between);
  delta.low = found.low;
  delta.high = found.high;
  delta.p = found.p;
  delta.judged = true;
}

// Seconds in which something happened. A step that ran in a few of them only, as logging in does at the beginning, says
// nothing about how seconds differ.
std::size_t busy_seconds(const PlaceSide& side) {
  return static_cast<std::size_t>(
      std::ranges::count_if(side.slices, [](const metrics::Slice& slice) { return slice.requests > 0; }));
}

// What runs differ by anyway, as a fraction of `time`, in seconds.
double between_runs(double time, const CompareOptions& options) {
  return time > 0 ? std::hypot(options.between_runs, base::seconds(options.between_runs_time) / time)
                  : options.between_runs;
}

// A share of which nothing was seen is not known to be 0: at least the error of one more in n + 2 (Laplace).
double least_share_error(std::uint64_t failed, std::uint64_t requests) {
  const double n = static_cast<double>(requests) + 2;
  const double share = (static_cast<double>(failed) + 1) / n;
  return std::sqrt(share * (1 - share) / n);
}

void judge_failed(Delta& delta, const Side& before, const Side& after) {
  if (before.spread.freedom <= 0 || after.spread.freedom <= 0) return;
  const auto estimate = [](const Side& side, double value) {
    const Totals& sum = side.place.totals;
    return metrics::Estimate{value, std::max(side.spread.failed.error, least_share_error(sum.failed, sum.requests))};
  };
  const metrics::Difference found = metrics::absolute_difference(estimate(before, delta.before), before.spread.freedom,
                                                                 estimate(after, delta.after), after.spread.freedom);
  delta.low = std::max(found.low, -1.0);
  delta.high = std::min(found.high, 1.0);
  delta.p = found.p;
  delta.judged = true;
}

double failed_share(const Totals& sum) {
  return sum.requests > 0 ? static_cast<double>(sum.failed) / static_cast<double>(sum.requests) : 0;
}

// Samples beyond the percentile, on the side that has fewer.
double beyond(const PlaceSide& before, const PlaceSide& after, double q) {
  return (1 - q) * static_cast<double>(std::min(before.totals.latency.count(), after.totals.latency.count()));
}

Delta percentile_delta(std::size_t i, const Side& before, const Side& after, const CompareOptions& options) {
  const Percentile& percentile = kPercentiles[i];
  Delta delta = bare(percentile.name, DeltaUnit::kSeconds, value_of(before.place.totals.latency.quantile(percentile.q)),
                     value_of(after.place.totals.latency.quantile(percentile.q)));
  const double samples = beyond(before.place, after.place, percentile.q);
  delta.rare = samples < static_cast<double>(options.rare_beyond);
  if (samples < static_cast<double>(options.least_beyond) || before.spread.freedom <= 0 || after.spread.freedom <= 0) {
    return delta;
  }
  judge_relative(delta, before.spread.quantiles[i], after.spread.quantiles[i],
                 {before.spread.freedom, after.spread.freedom},
                 between_runs(std::min(delta.before, delta.after), options));
  return delta;
}

}  // namespace

PlaceSide side_of(const model::RunResult& run) {
  PlaceSide side;
  side.totals = totals(run);
  std::uint32_t first = 0xffff'ffff;
  std::size_t end = 0;
  for (const model::WorkflowResult& workflow : run.workflows) {
    if (workflow.elapsed <= base::Duration::zero()) continue;
    first = std::min(first, first_second(workflow));
    end = std::max(end, first_second(workflow) + whole_seconds(workflow));
  }
  if (end <= first) return side;
  make_slices(side, end - first);
  for (const model::WorkflowResult& workflow : run.workflows) {
    for (const model::StepResult& step : workflow.steps) {
      if (step.role == model::StepRole::kTest) add_series(side, first, step);
    }
  }
  return side;
}

PlaceSide side_of(const model::WorkflowResult& workflow, const model::StepResult& step) {
  PlaceSide side;
  side.totals = totals(step, workflow.elapsed);
  make_slices(side, whole_seconds(workflow));
  add_series(side, first_second(workflow), step);
  return side;
}

std::vector<Delta> deltas_of(const PlaceSide& before, const PlaceSide& after, const CompareOptions& options,
                             bool intervals) {
  const std::size_t seconds = std::min(busy_seconds(before), busy_seconds(after));
  const bool judged = intervals && seconds >= options.least_seconds;
  const auto spread = [&](const PlaceSide& side, std::uint64_t seed) {
    if (!judged) return metrics::Spread{};
    return metrics::block_bootstrap(side.slices, kProbabilities, {.resamples = options.resamples, .seed = seed});
  };
  const Side first{before, spread(before, 1)};
  const Side second{after, spread(after, 2)};

  Delta mean =
      bare("mean", DeltaUnit::kSeconds, value_of(before.totals.latency.mean()), value_of(after.totals.latency.mean()));
  // The rate of a closed loop is the other face of its mean latency.
  const double between = between_runs(std::min(mean.before, mean.after), options);
  const std::pair freedom{first.spread.freedom, second.spread.freedom};
  judge_relative(mean, first.spread.mean, second.spread.mean, freedom, between);
  Delta rate = bare("rate", DeltaUnit::kPerSecond, before.totals.rate(), after.totals.rate());
  judge_relative(rate, first.spread.rate, second.spread.rate, freedom, between);
  Delta failed = bare("failed", DeltaUnit::kShare, failed_share(before.totals), failed_share(after.totals));
  judge_failed(failed, first, second);
  // One sample decides it: no interval says anything about that.
  Delta max =
      bare("max", DeltaUnit::kSeconds, value_of(before.totals.latency.max()), value_of(after.totals.latency.max()));
  max.rare = true;

  std::vector<Delta> deltas = {percentile_delta(0, first, second, options), percentile_delta(1, first, second, options),
                               std::move(rate), std::move(failed)};
  for (std::size_t i = 2; i != kPercentiles.size(); ++i) deltas.push_back(percentile_delta(i, first, second, options));
  deltas.push_back(std::move(mean));
  deltas.push_back(std::move(max));
  return deltas;
}

}  // namespace muster::report
