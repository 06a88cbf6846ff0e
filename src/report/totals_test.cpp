#include "report/totals.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::report {
namespace {

using namespace std::chrono_literals;

model::WorkflowResult ran(base::Duration began, base::Duration elapsed, std::size_t cores) {
  model::WorkflowResult made;
  made.began = began;
  made.elapsed = elapsed;
  made.cores.resize(cores);
  made.peak_vus = cores;
  return made;
}

TEST(Totals, CoresOfBatchesThatFollowEachOtherAreNotAddedUp) {
  model::RunResult run;
  // The third began when the others had ended, some milliseconds after its first second.
  run.workflows = {ran(0s, 3s + 37us, 1), ran(0s, 3s + 20ms, 1), ran(3s, 3s, 2)};
  EXPECT_EQ(peak_cores(run), 2u);
  EXPECT_EQ(peak_vus(run), 2u);
}

TEST(Totals, CoresOfWorkflowsThatRunTogetherAreAddedUpHoweverShortTheyAre) {
  model::RunResult run;
  run.workflows = {ran(0s, 5ms, 1), ran(0s, 4ms, 1)};
  EXPECT_EQ(peak_cores(run), 2u);
  run.workflows = {ran(0s, 10s, 1), ran(0s, 3s, 2), ran(4s, 3s, 4)};
  EXPECT_EQ(peak_cores(run), 5u);
}

TEST(Totals, ShortWorkflowsThatFollowEachOtherAreNotAddedUp) {
  model::RunResult run;
  // All begin in the run's first tenth of a second.
  run.workflows = {ran(0s, 20ms, 2), ran(0s, 15ms, 2), ran(0s, 2s, 2)};
  run.workflows[1].shift = 25ms;
  run.workflows[2].shift = 60ms;
  EXPECT_EQ(peak_cores(run), 2u);
  EXPECT_EQ(peak_vus(run), 2u);
}

// All in the run's first second, since each begins within a tenth of it.
TEST(Totals, TheRateOfShortWorkflowsThatFollowEachOtherIsOverTheTimeOfAll) {
  model::RunResult run;
  run.workflows = {ran(0s, 10ms, 1), ran(0s, 1ms, 1)};
  run.workflows[0].shift = 2ms;
  run.workflows[1].shift = 51ms;
  for (model::WorkflowResult& workflow : run.workflows) {
    model::StepResult& step = workflow.steps.emplace_back();
    step.ok = 6;
    step.series.emplace_back().ok = 6;
  }
  EXPECT_EQ(totals(run).counted, 50ms);
  EXPECT_DOUBLE_EQ(totals(run).rate(), 240);
  ASSERT_EQ(seconds_of(run).size(), 1u);
  EXPECT_DOUBLE_EQ(seconds_of(run)[0].rate, 240);
  EXPECT_EQ(counted_stretch(run).end, 50ms);
  EXPECT_EQ(truly_began(run.workflows[1]), 51ms);
}

TEST(Totals, TimeInWhichNoWorkflowCountedIsToldApart) {
  model::RunResult run;
  EXPECT_EQ(totals(run).gaps, 0s);
  // The second one warms up for a second; the third one begins beside it and outlives it.
  run.workflows = {ran(0s, 1s, 1), ran(2s, 2s, 1), ran(3s, 3s, 1), ran(0s, 0s, 1)};
  EXPECT_EQ(totals(run).counted, 6s);
  EXPECT_EQ(totals(run).gaps, 1s);
}

TEST(Totals, ASecondThatWasCountedInPartIsMeasuredByItsOwnSeries) {
  model::RunResult run;
  run.workflows = {ran(0s, 3s, 1), ran(3s, 2500ms, 1)};
  run.workflows[1].shift = 80ms;
  EXPECT_EQ(totals(run).counted, 5580ms);
  EXPECT_EQ(counted_stretch(run).end, 5500ms);
}

TEST(Totals, TheVusOfASecondAreTheMostAtOnce) {
  model::RunResult run;
  run.workflows = {ran(0s, 200ms, 1), ran(300ms, 200ms, 1), ran(300ms, 3s, 1)};
  run.workflows[0].series = {{.second = 0, .vus = 10}};
  run.workflows[1].series = {{.second = 0, .vus = 6}};
  run.workflows[2].series = {{.second = 0, .vus = 7}, {.second = 1, .vus = 8}};
  run.workflows.emplace_back().name = "never began";
  const std::vector<SecondTotals> seconds = seconds_of(run);
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_EQ(seconds[0].vus, 13u);
  EXPECT_EQ(seconds[1].vus, 8u);
}

TEST(Totals, APartOfASecondGivesNoAbsurdRate) {
  EXPECT_DOUBLE_EQ(rate_in({.requests = 50, .seconds = 0.5}, {.requests = 100, .seconds = 1}), 100);
  EXPECT_DOUBLE_EQ(rate_in({.requests = 20, .seconds = 0.02}, {.requests = 184, .seconds = 1}), 200);
  EXPECT_DOUBLE_EQ(rate_in({.requests = 0, .seconds = 0.02}, {.requests = 180, .seconds = 1}), 0);
  EXPECT_DOUBLE_EQ(rate_in({.requests = 50, .seconds = 0}, {.requests = 0, .seconds = 0.0001}), 50);
  EXPECT_DOUBLE_EQ(rate_in({.requests = 10, .seconds = 0.005}, {}), 2000);
}

}  // namespace
}  // namespace muster::report
