#include "report/ci_line.h"

#include <gtest/gtest.h>

#include <chrono>

#include "report/test_runs.h"

namespace muster::report {
namespace {

using namespace std::chrono_literals;

model::RunResult at(base::Duration elapsed, std::uint64_t ok, std::uint64_t failed) {
  model::RunResult run;
  run.elapsed = elapsed;
  model::WorkflowResult workflow;
  workflow.name = "shop";
  workflow.state = model::WorkflowState::kRunning;
  workflow.vus = 100;
  workflow.iterations = ok + failed;
  model::StepResult step;
  step.ok = ok;
  step.failed = failed;
  for (std::uint32_t second = 0; second != 10; ++second) {
    model::StepSecond part;
    part.second = second;
    part.latency.record(second < 5 ? base::Duration(1ms) : base::Duration(9ms), 100);
    if (std::chrono::seconds(second) < elapsed) step.series.push_back(part);
  }
  workflow.steps = {step};
  run.workflows = {workflow};
  return run;
}

TEST(CiLine, TellsTheRateAndPercentileSinceTheLineBefore) {
  CiLine lines({.time = 20s, .iterations = {}});
  EXPECT_EQ(lines.next(at(5s, 5'000, 0)),
            "[00:05]   25%, 00:15 left  100 VUs  1,000/s  5,000 requests  0 failed  p95 1.00ms");
  EXPECT_EQ(lines.next(at(10s, 15'000, 15)),
            "[00:10]   50%, 00:10 left  100 VUs  2,003/s  15,015 requests  15 failed (0.10%)  p95 9.00ms");
}

TEST(CiLine, CountsNoTimeThatTheLoadStoodStillAsProgress) {
  CiLine lines({.time = 20s, .iterations = {}});
  lines.next(at(5s, 5'000, 0));
  lines.stood_still(4s);
  EXPECT_TRUE(lines.next(at(10s, 6'000, 0)).starts_with("[00:10]   30%, 00:14 left  "));
  CiLine counting({.time = {}, .iterations = 10'000});
  counting.stood_still(4s);
  EXPECT_TRUE(counting.next(at(8s, 5'000, 0)).starts_with("[00:08]   50%, about 00:04 left  "));
}

TEST(CiLine, TellsEachSecondOnceHoweverLateItArrives) {
  CiLine lines({});
  auto late = at(5s, 5'000, 0);
  late.workflows[0].steps[0].series.resize(2);
  EXPECT_TRUE(lines.next(late).ends_with("p95 1.00ms"));
  late.elapsed = 9s;
  late.workflows[0].steps[0].series = at(8s, 0, 0).workflows[0].steps[0].series;
  EXPECT_TRUE(lines.next(late).ends_with("p95 8.98ms"));  // the middle of its bucket
}

TEST(CiLine, TakesTheRateOverTheTimeThatWasMeasured) {
  CiLine lines({});
  auto first = at(3s, 1'000, 0);
  first.workflows[0].elapsed = 2s;
  lines.next(first);
  auto second = at(5s, 2'000, 0);
  second.workflows[0].elapsed = 4s;
  EXPECT_NE(lines.next(second).find("  500/s  "), std::string::npos);
  second.workflows[0].began = 500ms;  // as a warm-up or an earlier workflow leaves it
  second.workflows[0].elapsed = 4500ms;
  second.elapsed = 6s;
  second.workflows[0].steps[0].ok = 3'000;
  EXPECT_NE(lines.next(second).find("  1,000/s  "), std::string::npos);
}

TEST(CiLine, TakesTheRateOverNoWarmUpAndNoTimeBetweenWorkflows) {
  CiLine lines({});
  auto warm = at(2s, 300, 0);
  warm.workflows[0].began = 500ms;
  warm.workflows[0].elapsed = 1500ms;
  EXPECT_NE(lines.next(warm).find("  200/s  "), std::string::npos);
  auto next = at(4s, 500, 0);
  next.workflows[0].began = 500ms;
  next.workflows[0].elapsed = 1500ms;
  next.workflows.push_back(next.workflows[0]);
  next.workflows[1].began = 3s;
  next.workflows[1].elapsed = 1s;
  for (model::StepResult& step : next.workflows[1].steps) step.ok = step.failed = 0;
  EXPECT_NE(lines.next(next).find("  200/s  "), std::string::npos);
}

TEST(CiLine, KnowsTheEndOfAFixedNumberOfIterations) {
  CiLine lines({.time = {}, .iterations = 20'000});
  EXPECT_EQ(lines.next(at(5s, 5'000, 0)),
            "[00:05]   25%, about 00:15 left  100 VUs  1,000/s  5,000 requests  0 failed  p95 1.00ms");
}

TEST(CiLine, LeavesThePercentileOutWhileThereIsNone) {
  auto run = at(1s, 10, 0);
  run.workflows[0].steps[0].series.clear();
  EXPECT_EQ(CiLine({}).next(run), "[00:01]  100 VUs  10.0/s  10 requests  0 failed");
}

TEST(CiLine, SpellsMicrosecondsAsTheSummaryDoes) {
  auto run = at(1s, 10, 0);
  run.workflows[0].steps[0].series[0].latency = {};
  run.workflows[0].steps[0].series[0].latency.record(100us, 10);
  EXPECT_TRUE(CiLine({}, true).next(run).ends_with("µs")) << CiLine({}, true).next(run);
  EXPECT_TRUE(CiLine({}).next(run).ends_with("us"));
}

TEST(CiLine, SaysThatItIsWarmingUp) {
  auto run = at(2s, 0, 0);
  run.workflows[0].warming_up = true;
  EXPECT_EQ(CiLine({}).next(run), "[00:02]  100 VUs  warming up");
}

TEST(CiLine, NamesWhatRunsWhenThereIsMoreThanOneWorkflow) {
  auto run = at(5s, 10, 0);
  run.workflows.emplace_back().name = "later";
  EXPECT_EQ(CiLine({}).next(run), "[00:05]  100 VUs  2.00/s  10 requests  0 failed  p95 1.00ms  (shop)");
}

TEST(CiLine, IsPlainAndBoundedForAnyNames) {
  for (const char byte : CiLine({}).next(test::wide())) EXPECT_TRUE(byte >= ' ' && byte < 0x7f);
}

}  // namespace
}  // namespace muster::report
