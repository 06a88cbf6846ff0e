#include "engine/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::engine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

model::WorkflowResult sound() {
  model::WorkflowResult made;
  made.name = "shop";
  made.state = model::WorkflowState::kCompleted;
  made.elapsed = 10s;
  made.open = true;
  made.max_vus = 50;
  made.arrivals = 10'000;
  made.iterations = 10'000;
  made.lateness.record(20us, 10'000);
  made.cores = {{.busy = 4s, .elapsed = 10s}};
  model::StepResult step;
  step.name = "a";
  step.ok = 10'000;
  made.steps = {step};
  return made;
}

TEST(Marks, ASoundRunHasNone) {
  EXPECT_TRUE(find_marks({sound()}, {}).empty());
}

TEST(Marks, ABusyCoreIsASaturatedGenerator) {
  auto shop = sound();
  shop.open = false;
  shop.cores = {{.busy = 9700ms, .elapsed = 10s}, {.busy = 5s, .elapsed = 10s}};
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "saturated");
  EXPECT_THAT(marks[0].text, HasSubstr("1 of its 2 cores were busy more than 90% of the time (most: 97%)"));
  EXPECT_THAT(marks[0].text, HasSubstr("--cores"));
}

TEST(Marks, DroppedArrivalsAndTheLimitOfVusAreTold) {
  auto shop = sound();
  shop.dropped = 150;
  shop.queued = 2'000;
  shop.iterations = 9'850;
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].id, "dropped");
  EXPECT_THAT(marks[0].text, HasSubstr("150 of 10,000 arrivals (1.5%) were dropped"));
  EXPECT_EQ(marks[1].id, "max-vus");
  EXPECT_THAT(marks[1].text, HasSubstr("2,000 of 10,000 arrivals (20%) had to wait"));
  EXPECT_THAT(marks[1].text, HasSubstr("all 50 (max_vus)"));
}

TEST(Marks, ArrivalsDroppedForLackOfDataAreNotBlamedOnTheNumberOfVus) {
  auto shop = sound();
  shop.dropped = 1;
  shop.iterations = 9'999;
  shop.notes = {{"unique data ran out: 'users' had no row left for another iteration", 1}};
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].id, "dropped");
  EXPECT_THAT(marks[0].text, HasSubstr("the unique data had no row left"));
  EXPECT_THAT(marks[0].text, testing::Not(HasSubstr("max_vus")));
  EXPECT_EQ(marks[1].id, "data");
}

TEST(Marks, ArrivalsThatNoVuTookSinceAllFailedToStartAreNotBlamedOnTheNumberOfVus) {
  auto shop = sound();
  shop.iterations = 0;
  shop.interrupted = 0;
  shop.dropped = 10'000;
  shop.queued = 10'000;
  shop.notes = {{"VUs ended because their `start` steps failed", 50}};
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].id, "start");
  EXPECT_EQ(marks[1].id, "dropped");
  EXPECT_THAT(marks[1].text, HasSubstr("since every VU's `start` steps failed"));
  for (const auto& mark : marks) EXPECT_THAT(mark.text, testing::Not(HasSubstr("max_vus")));
}

TEST(Marks, AMissedScheduleIsToldByLatenessAndByWhatWasNeverIssued) {
  auto shop = sound();
  shop.lateness.record(8ms, 500);
  shop.iterations = 9'980;
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "late");
  EXPECT_THAT(marks[0].text, HasSubstr("started 8.0"));
  EXPECT_THAT(marks[0].text, HasSubstr("only 9,980 of 10,000 due arrivals (99.8%) were issued"));
}

TEST(Marks, AMissedScheduleOfFewArrivalsIsToldByTheirMedianAndTheWorst) {
  const auto found = [](base::Duration some, std::uint64_t count, base::Duration worst) {
    auto shop = sound();
    shop.arrivals = shop.iterations = 60;
    shop.lateness = {};
    shop.lateness.record(some, count);
    shop.lateness.record(20us, 59 - count);
    shop.lateness.record(worst, 1);
    const auto marks = find_marks({shop}, {});
    return marks.empty() ? std::string() : marks[0].id + ": " + marks[0].text;
  };
  EXPECT_EQ(found(50ms, 20, 99ms), "") << "of so few some are late on any machine";
  EXPECT_THAT(found(50ms, 0, 101ms), HasSubstr("late: the schedule was missed: of 60 arrivals half started"));
  EXPECT_THAT(found(2ms, 40, 3ms), HasSubstr("late: the schedule was missed: of 60 arrivals half started 2.0"));
}

model::WorkflowResult sound_and_closed() {
  auto made = sound();
  made.open = false;
  made.arrivals = 0;
  return made;
}

TEST(Marks, AClosedLoadWhoseThinksEndLateIsMarkedInItsOwnWords) {
  auto shop = sound_and_closed();
  EXPECT_TRUE(find_marks({shop}, {}).empty());
  shop.lateness.record(8ms, 500);
  EXPECT_TRUE(find_marks({shop}, {}).empty()) << "nobody waits for a think that ends some milliseconds late";
  shop.lateness.record(12ms, 500);
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "late");
  EXPECT_THAT(marks[0].text, HasSubstr("the generator was late: 1% of the thinks and pauses ended 12.0"));
  EXPECT_THAT(marks[0].text, testing::Not(HasSubstr("arrivals")));
  EXPECT_THAT(marks[0].text, testing::Not(HasSubstr("schedule")));
}

TEST(Marks, AClosedLoadThatStoodStillIsMarkedThoughFewOfItsTimersSawIt) {
  auto shop = sound_and_closed();
  shop.lateness.record(3010ms, 10);
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "late");
  EXPECT_THAT(marks[0].text, HasSubstr("a think or pause ended 3.01 s after it was due, in a load of 10.0 s"));
  shop.elapsed = 10min;
  EXPECT_TRUE(find_marks({shop}, {}).empty()) << "less than 1% of the time";
}

TEST(Marks, AClosedLoadIsNotMarkedForAHitchThatAnyMachineHas) {
  auto shop = sound_and_closed();
  shop.elapsed = 1s;
  shop.lateness.record(60ms, 1);
  EXPECT_TRUE(find_marks({shop}, {}).empty());
}

TEST(Marks, EveryRequestFailingIsTheFirstThingSaid) {
  auto shop = sound();
  shop.steps[0].ok = 0;
  shop.steps[0].failed = 1'234;
  shop.steps[0].errors[static_cast<std::size_t>(model::ErrorClass::kConnect)] = 1'234;
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "all-failed");
  EXPECT_THAT(marks[0].text, HasSubstr("every one of the 1,234 requests failed, most by connect"));
}

TEST(Marks, ASingleRequestThatFailedIsNotCounted) {
  auto shop = sound();
  shop.steps[0].ok = 0;
  shop.steps[0].failed = 1;
  shop.steps[0].errors[static_cast<std::size_t>(model::ErrorClass::kConnect)] = 1;
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_THAT(marks[0].text, HasSubstr("the only request failed, by connect: the latency"));
}

TEST(Marks, ALostExecutorAndEndedDataAreToldWithTheWorkflowsName) {
  auto shop = sound();
  shop.state = model::WorkflowState::kLost;
  shop.reason = "killed by signal 9";
  auto admin = sound();
  admin.name = "admin";
  admin.notes = {{"unique data ran out: users", 12}, {"something else", 3}};
  const auto marks = find_marks({shop, admin}, {});
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].id, "lost");
  EXPECT_THAT(marks[0].text,
              HasSubstr("'shop': the process that made the load was lost: killed by signal 9; what came after"));
  EXPECT_EQ(marks[1].id, "data");
  EXPECT_THAT(marks[1].text, HasSubstr("'admin': unique data ran out: users (12 times)"));
}

TEST(Marks, AThresholdThatCouldNotBeJudgedDoesNotPassUnseen) {
  model::ThresholdVerdict verdict;
  verdict.text = "latency p99 < 1s";
  verdict.where = "step=login";
  verdict.samples = 7;
  const auto marks = find_marks({sound()}, {verdict});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].text, "the threshold 'latency p99 < 1s' where step=login was not judged; 7 samples were seen");
}

TEST(Marks, AThresholdThatCouldNotBeJudgedIsNamedWithItsWindow) {
  model::ThresholdVerdict verdict;
  verdict.text = "latency p99 < 1s";
  verdict.window = std::chrono::seconds(2);
  const auto marks = find_marks({sound()}, {verdict});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].text, "the threshold 'latency p99 < 1s' in every 2s was not judged; 0 samples were seen");
}

TEST(Marks, AThresholdThatCouldNotBeJudgedSaysWhy) {
  model::ThresholdVerdict good;
  good.judged = true;
  model::ThresholdVerdict verdict;
  verdict.text = "latency p99 < 1s";
  verdict.where = "step=logn";
  const auto marks = find_marks({sound()}, {good, verdict}, {}, {}, {"", "nothing in the run is step=logn"});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].text,
            "the threshold 'latency p99 < 1s' where step=logn was not judged; 0 samples were seen: nothing in the run "
            "is step=logn");
}

TEST(Marks, AScriptThatFailsIsMarkedWithWhatItSaid) {
  auto shop = sound();
  shop.notes = {
      {"script error: shop.lua:6: boom", 1'200}, {"script error: shop.lua:9: bang", 5}, {"something else", 1}};
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "script");
  EXPECT_THAT(marks[0].text, HasSubstr("the script failed 1,205 times (shop.lua:6: boom)"));
}

TEST(Marks, VusWhoseStartFailedAreMarkedWithTheirNumber) {
  auto shop = sound();
  shop.notes = {{"VUs ended because their `start` steps failed", 1'200}};
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "start");
  EXPECT_THAT(marks[0].text, HasSubstr("1,200 VUs ended because their `start` steps failed"));
}

TEST(Marks, ARunThatCompletedNoIterationAndCutSomeShortIsMarked) {
  auto shop = sound();
  shop.open = false;
  shop.iterations = 0;
  shop.interrupted = 5;
  const auto marks = find_marks({shop}, {});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].id, "cut");
  EXPECT_THAT(marks[0].text, HasSubstr("no iteration was completed: all 5 were cut short"));
  shop.iterations = 1;
  EXPECT_TRUE(find_marks({shop}, {}).empty());
}

TEST(Marks, APauseByHandIsToldWithItsLength) {
  const auto marks = find_marks({sound(), sound()}, {}, {.paused = 2040ms});
  ASSERT_EQ(marks.size(), 1u) << "once, however many workflows there are";
  EXPECT_EQ(marks[0].id, "paused");
  EXPECT_THAT(marks[0].text, HasSubstr("the load was paused by hand for 2.0 s"));
  EXPECT_TRUE(find_marks({sound()}, {}, {.paused = 3ms}).empty());
}

TEST(Marks, ALoadThatWasChangedByHandIsToldWithItsBounds) {
  const auto told = [](double least, double most) {
    const auto marks = find_marks({sound()}, {}, {.least = least, .most = most});
    return marks.size() == 1 ? marks[0].id + ": " + marks[0].text : "";
  };
  EXPECT_THAT(told(1, 1.3), HasSubstr("scaled: the load was changed by hand, up to ×1.30 of what the file asks for"));
  EXPECT_THAT(told(0.7, 1), HasSubstr("by hand, down to ×0.70 of"));
  EXPECT_THAT(told(0.9, 1.2), HasSubstr("by hand, between ×0.90 and ×1.20 of"));
}

TEST(Marks, RequestsThatNeverLeftThisMachineAreMarked) {
  model::WorkflowResult workflow;
  workflow.name = "w";
  workflow.state = model::WorkflowState::kCompleted;
  model::StepResult step;
  step.role = model::StepRole::kTest;
  step.ok = 27;
  step.failed = 73;
  step.errors[static_cast<std::size_t>(model::ErrorClass::kResource)] = 73;
  workflow.steps.push_back(step);
  const auto marks = find_marks({workflow}, {});
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].id, "exhausted");
  EXPECT_NE(marks[0].text.find("73 of 100 requests (73%)"), std::string::npos) << marks[0].text;
}

TEST(Marks, RequestsThatWereNeverSentForWantOfAValueAreMarked) {
  model::WorkflowResult workflow;
  workflow.name = "w";
  workflow.state = model::WorkflowState::kCompleted;
  model::StepResult step;
  step.role = model::StepRole::kTest;
  step.ok = 50;
  step.failed = 50;
  step.errors[static_cast<std::size_t>(model::ErrorClass::kValue)] = 50;
  workflow.steps.push_back(step);
  const auto marks = find_marks({workflow}, {});
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].id, "unsent");
  EXPECT_NE(marks[0].text.find("50 of 100 requests (50%)"), std::string::npos) << marks[0].text;
}

}  // namespace
}  // namespace muster::engine
