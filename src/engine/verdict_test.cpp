#include "engine/verdict.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::engine {
namespace {

using namespace std::chrono_literals;
using model::Verdict;
using model::WorkflowState;

model::RunResult good() {
  model::StepResult step;
  step.name = "a";
  step.ok = 100;
  model::WorkflowResult workflow;
  workflow.name = "shop";
  workflow.state = WorkflowState::kCompleted;
  workflow.steps = {step};
  model::RunResult result;
  result.workflows = {workflow};
  return result;
}

model::ThresholdVerdict failing() {
  model::ThresholdVerdict verdict;
  verdict.text = "latency p95 < 300ms";
  verdict.judged = true;
  verdict.passed = false;
  verdict.failed_at = 2500ms;
  return verdict;
}

void expect(const model::RunResult& result, const VerdictOptions& options, Verdict verdict, int code,
            const std::string& reason) {
  const Conclusion conclusion = conclude(result, options);
  EXPECT_EQ(conclusion.verdict, verdict);
  EXPECT_EQ(conclusion.exit_code, code);
  EXPECT_EQ(conclusion.reason, reason);
}

TEST(Verdict, AGoodRunExitsWithZero) {
  auto result = good();
  expect(result, {}, Verdict::kPassed, 0, "the run was completed");
  model::ThresholdVerdict holding;
  holding.judged = true;
  result.thresholds = {holding, holding};
  expect(result, {}, Verdict::kPassed, 0, "the run was completed and its 2 thresholds hold");
  result.thresholds.push_back({});
  expect(result, {}, Verdict::kPassed, 0, "the run was completed; of 3 thresholds 2 could be judged and hold");
}

TEST(Verdict, AGoodRunThatForEndedSaysSo) {
  auto result = good();
  result.workflows[0].notes = {{"ended by `for` after 40 of 1,000 iterations", 1}};
  expect(result, {}, Verdict::kPassed, 0, "the run was ended by `for` after 40 of 1,000 iterations");
  result.workflows.push_back(good().workflows[0]);
  expect(result, {.strict = true}, Verdict::kPassed, 0,
         "workflow 'shop' was ended by `for` after 40 of 1,000 iterations");
}

TEST(Verdict, AGoodRunWithoutAVuForItsLastIterationsSaysSo) {
  auto result = good();
  result.workflows[0].notes = {{"ended by `for` after 40 of 100 iterations", 1},
                               {"ended with 46 of 100 iterations undone: no VU was left to run them", 1}};
  expect(result, {}, Verdict::kPassed, 0, "the run ended with 46 of 100 iterations undone: no VU was left to run them");
}

TEST(Verdict, AFailedThresholdExitsWithNinetyNine) {
  auto result = good();
  result.thresholds = {failing()};
  expect(result, {}, Verdict::kFailed, 99, "the threshold 'latency p95 < 300ms' failed");
  result.thresholds[0].where = "step=login";
  result.thresholds.push_back(failing());
  expect(result, {}, Verdict::kFailed, 99, "2 of 2 thresholds failed, first 'latency p95 < 300ms' (step=login)");
}

TEST(Verdict, AnAbortingThresholdIsAFailureNotAnInterruption) {
  auto result = good();
  result.thresholds = {failing()};
  result.thresholds[0].aborted = true;
  result.workflows[0].state = WorkflowState::kAborted;
  expect(result, {}, Verdict::kFailed, 99,
         "the threshold 'latency p95 < 300ms' failed 2.5 s into the run and ended it");
}

TEST(Verdict, EveryRequestFailingOrNoneMadeIsNotGood) {
  auto result = good();
  result.workflows[0].steps[0].ok = 0;
  expect(result, {}, Verdict::kFailed, 99, "no request was made");
  result.workflows[0].steps[0].failed = 5;
  expect(result, {}, Verdict::kFailed, 99, "every request failed");
  result.workflows[0].steps[0].failed = 0;
  result.workflows[0].steps[0].role = model::StepRole::kAction;
  expect(result, {}, Verdict::kPassed, 0, "the run was completed");
}

TEST(Verdict, RequestsThatAllBeganInTheWarmUpWereMadeAndNotCounted) {
  auto result = good();
  result.workflows[0].steps[0].ok = 0;
  expect(result, {.warm_up = true}, Verdict::kFailed, 99,
         "no request was counted: none began after the warm-up; make `for` longer or `warm_up` shorter");
}

TEST(Verdict, WhatCouldNotBeDoneWeighsMost) {
  auto result = good();
  result.thresholds = {failing()};
  result.workflows[0].state = WorkflowState::kLost;
  result.workflows[0].reason = "killed by signal 9";
  expect(result, {.interrupted = true}, Verdict::kError, 1,
         "workflow 'shop' lost its executor process: killed by signal 9");
  result.workflows[0].state = WorkflowState::kTimedOut;
  result.workflows[0].reason = "30s";
  expect(result, {}, Verdict::kError, 1, "workflow 'shop' ran into its time-out: 30s");
}

TEST(Verdict, AnInterruptionExitsWith130) {
  auto result = good();
  result.thresholds = {failing()};
  result.workflows[0].state = WorkflowState::kAborted;
  expect(result, {.interrupted = true}, Verdict::kInterrupted, 130, "the run was interrupted");
  result.thresholds.clear();
  expect(result, {}, Verdict::kInterrupted, 130, "workflow 'shop' was aborted");
}

TEST(Verdict, MarksAreErrorsOnlyWhenAskedFor) {
  auto result = good();
  result.marks = {{"saturated", "…"}};
  EXPECT_EQ(conclude(result, {}).exit_code, 0);
  expect(result, {.strict = true}, Verdict::kError, 1,
         "the result is marked (saturated) and --strict makes that an error");
}

TEST(Verdict, FailsWhereEveryIterationOfAWorkflowDidAlthoughRequestsWentWell) {
  model::RunResult result = good();
  result.workflows[0].iterations = result.workflows[0].failed_iterations = 50;
  expect(result, {}, Verdict::kFailed, 99, "every iteration failed");
  result.workflows.push_back(result.workflows[0]);
  result.workflows[1].failed_iterations = 0;
  expect(result, {}, Verdict::kFailed, 99, "every iteration of workflow 'shop' failed");
  result.workflows[0].failed_iterations = 49;
  expect(result, {}, Verdict::kPassed, 0, "the run was completed");
}

TEST(Verdict, FailsWhereNoIterationRanBecauseStartFailedAlthoughRequestsWentWell) {
  model::RunResult result = good();
  model::WorkflowResult& shop = result.workflows[0];
  shop.notes = {{"VUs ended because their `start` steps failed", 20}};
  shop.peak_vus = 20;
  expect(result, {}, Verdict::kFailed, 99, "no iteration ran: the `start` steps of all 20 VUs failed");
  shop.peak_vus = 21;
  expect(result, {}, Verdict::kFailed, 99, "no iteration ran: the `start` steps of 20 VUs failed");
  shop.peak_vus = 3;
  expect(result, {}, Verdict::kFailed, 99, "no iteration ran: `start` failed all 20 times");
  shop.iterations = 1;
  expect(result, {}, Verdict::kPassed, 0, "the run was completed");
}

TEST(Verdict, AFailedStartIsToldBeforeWhatWasSkippedOnAccountOfIt) {
  model::RunResult result = good();
  result.workflows.push_back(result.workflows[0]);
  result.workflows[0].notes = {{"VUs ended because their `start` steps failed", 1}};
  result.workflows[1].state = WorkflowState::kSkipped;
  expect(result, {}, Verdict::kFailed, 99, "no iteration of workflow 'shop' ran: the `start` steps of a VU failed");
}

}  // namespace
}  // namespace muster::engine
