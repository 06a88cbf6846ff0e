#include "report/made_up_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "metrics/normal_draws.h"
#include "metrics/recorder.h"

namespace muster::report::test {
namespace {

using metrics::normal_draw;

// Poisson by its normal approximation; rates here are in the hundreds.
std::uint64_t arrivals(std::uint64_t rate, base::Random& random) {
  const double mean = static_cast<double>(rate);
  return static_cast<std::uint64_t>(std::max(0.0, std::round(mean + std::sqrt(mean) * normal_draw(random))));
}

// From the 90th to the 94th percentile the factor grows in, so that the order of latencies stays.
double slowed(double deviate, double tail) {
  constexpr double kFrom = 1.2816;
  constexpr double kTo = 1.5548;
  return 1 + (tail - 1) * std::clamp((deviate - kFrom) / (kTo - kFrom), 0.0, 1.0);
}

}  // namespace

model::RunResult made_up(const MadeUpRun& wanted) {
  base::Random random(base::mix(wanted.seed));
  model::StepResult step;
  step.name = "GET /";
  step.kind = "http";
  metrics::Recorder<9> recorder;
  double level = normal_draw(random);
  for (std::uint32_t second = 0; second != wanted.seconds; ++second) {
    level = wanted.carried * level + std::sqrt(1 - wanted.carried * wanted.carried) * normal_draw(random);
    model::StepSecond row;
    row.second = second;
    recorder.clear();
    for (std::uint64_t left = arrivals(wanted.rate, random); left > 0; --left) {
      const double deviate = normal_draw(random);
      const double ms = wanted.median_ms * wanted.all * slowed(deviate, wanted.tail) *
                        std::exp(wanted.drift * level + wanted.sigma * deviate);
      const base::Duration latency = base::from_seconds(ms / 1e3);
      recorder.record(latency);
      ++(random.unit() < wanted.failed ? row.failed : row.ok);
    }
    row.latency = metrics::coarse(recorder);
    step.latency.add(recorder);
    step.ok += row.ok;
    step.failed += row.failed;
    step.series.push_back(std::move(row));
  }
  model::WorkflowResult workflow;
  workflow.name = "made up";
  workflow.state = model::WorkflowState::kCompleted;
  workflow.open = true;
  workflow.elapsed = std::chrono::seconds(wanted.seconds);
  workflow.arrivals = step.ok + step.failed;
  workflow.steps.push_back(std::move(step));
  model::RunResult run;
  run.job = "made up";
  run.version = "0.1.0";
  run.elapsed = workflow.elapsed;
  run.workflows.push_back(std::move(workflow));
  return run;
}

TEST(MadeUpRuns, HaveTheTailThatWasAskedFor) {
  const MadeUpRun usual{.seconds = 60, .rate = 2'000, .drift = 0};
  MadeUpRun slow = usual;
  slow.tail = 1.05;
  const metrics::Histogram before = made_up(usual).workflows[0].steps[0].latency;
  const metrics::Histogram after = made_up(slow).workflows[0].steps[0].latency;
  EXPECT_NEAR(base::seconds(before.quantile(0.95)) * 1e3, 20 * std::exp(0.5 * 1.645), 0.6);
  EXPECT_NEAR(base::seconds(after.quantile(0.95)) / base::seconds(before.quantile(0.95)), 1.05, 0.003);
  EXPECT_EQ(after.quantile(0.5), before.quantile(0.5));
}

}  // namespace muster::report::test
