#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "report/made_up_runs.h"
#include "report/test_runs.h"

namespace muster::report {
namespace {

using test::made_up;
using test::MadeUpRun;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Comparison compared(const model::RunResult& before, const model::RunResult& after) {
  return compare(before, identity_of(before, "before"), after, identity_of(after, "after"));
}

const Delta& delta(const Comparison& comparison, std::string_view metric, std::string_view step = "") {
  for (const Delta& each : comparison.deltas) {
    if (each.metric == metric && each.step == step) return each;
  }
  static const Delta kNone{};
  ADD_FAILURE() << "no delta " << metric << " of '" << step << "'";
  return kNone;
}

// Of 60 to 120 s at 400 to 1,600 requests a second, whose level drifts.
MadeUpRun usual_run(int pair) {
  MadeUpRun run;
  run.seconds = 60 + static_cast<std::uint32_t>(pair % 4) * 20;
  run.rate = std::uint64_t{400} << static_cast<unsigned>(pair % 3);
  run.seed = static_cast<std::uint64_t>(pair) * 3 + 1;
  return run;
}

TEST(Compare, RaisesFewFalseAlarmsAndFindsASlowerTail) {
  int alarms = 0;
  int found = 0;
  int held = 0;
  for (int pair = 0; pair != 100; ++pair) {
    MadeUpRun run = usual_run(pair);
    const model::RunResult before = made_up(run);
    run.seed += 1;
    const Comparison same = compared(before, made_up(run));
    alarms += same.verdict == ComparisonVerdict::kSame ? 0 : 1;
    run.seed += 1;
    run.tail = 1.05;
    const Comparison slower = compared(before, made_up(run));
    const Delta& p95 = delta(slower, "p95");
    found += p95.significant && p95.worse && slower.verdict == ComparisonVerdict::kWorse ? 1 : 0;
    held += p95.low < 0.05 && 0.05 < p95.high ? 1 : 0;
  }
  std::cout << "of 100 pairs of the same thing " << alarms << " are called a change; of 100 with a p95 higher by 5 % "
            << found << " are found, and " << held << " intervals hold that change\n";
  EXPECT_LE(alarms, 5);
  EXPECT_GE(found, 90);
  EXPECT_GE(held, 90);
}

TEST(Compare, GivesTheSameAnswerEachTime) {
  const model::RunResult before = made_up({.seed = 1});
  const model::RunResult after = made_up({.seed = 2});
  EXPECT_EQ(delta(compared(before, after), "p95").low, delta(compared(before, after), "p95").low);
}

TEST(Compare, OfARunWithItselfIsTheSame) {
  const model::RunResult run = made_up({});
  const Comparison comparison = compared(run, run);
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kSame);
  for (const Delta& each : comparison.deltas) {
    EXPECT_EQ(each.change, 0) << each.metric;
    EXPECT_FALSE(each.significant) << each.metric;
  }
  EXPECT_TRUE(comparison.notes.empty()) << comparison.notes.front();
}

TEST(Compare, PutsTheHeadlineFirst) {
  const Comparison comparison = compared(made_up({.seed = 1}), made_up({.seed = 2}));
  ASSERT_GE(comparison.deltas.size(), 9u);
  EXPECT_EQ(comparison.deltas[0].metric, "p95");
  EXPECT_EQ(comparison.deltas[1].metric, "p50");
  EXPECT_EQ(comparison.deltas[2].metric, "rate");
  EXPECT_EQ(comparison.deltas[3].metric, "failed");
  EXPECT_TRUE(comparison.deltas[3].headline);
  EXPECT_FALSE(comparison.deltas[4].headline);
}

TEST(Compare, TellsFailuresWhereThereWereNone) {
  const Comparison comparison = compared(made_up({.seed = 1}), made_up({.failed = 0.01, .seed = 2}));
  const Delta& failed = delta(comparison, "failed");
  EXPECT_EQ(failed.before, 0);
  EXPECT_NEAR(failed.change, 0.01, 0.002);
  EXPECT_FALSE(failed.relative);
  EXPECT_TRUE(failed.significant && failed.worse);
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kWorse);
  EXPECT_THAT(comparison.sentence, HasSubstr("failed requests rose by"));
}

TEST(Compare, AHandfulOfFailuresMayBeChance) {
  model::RunResult after = made_up({.seed = 2});
  after.workflows[0].steps[0].failed = 2;
  after.workflows[0].steps[0].series[30].failed = 2;
  EXPECT_FALSE(delta(compared(made_up({.seed = 1}), after), "failed").significant);
}

TEST(Compare, NegligibleChangesDoNotCount) {
  const Comparison comparison = compared(made_up({.rate = 5'000, .drift = 0, .seed = 1}),
                                         made_up({.rate = 5'000, .drift = 0, .all = 1.008, .seed = 2}));
  EXPECT_FALSE(delta(comparison, "p50").significant);
}

TEST(Compare, SaysThatARunIsTooShort) {
  const Comparison comparison = compared(made_up({.seconds = 5, .seed = 1}), made_up({.seconds = 60, .seed = 2}));
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kUnknown);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("too few seconds to judge: 5 whole ones before, 60 after")));
  EXPECT_FALSE(delta(comparison, "p95").judged);
  EXPECT_GT(delta(comparison, "p95").before, 0) << "the values are told all the same";
}

TEST(Compare, SaysWhatIsDifferentAboutTheRuns) {
  model::RunResult before = made_up({.seed = 1});
  model::RunResult after = made_up({.rate = 800, .seed = 2});
  after.job = "another";
  after.marks = {{"late", "…"}};
  after.version = "0.2.0";
  model::StepResult step = after.workflows[0].steps[0];
  step.name = "POST /cart";
  after.workflows[0].steps.push_back(std::move(step));
  const Comparison comparison = compared(before, after);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("different jobs: 'made up' before, 'another' after")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("load of workflow 'made up' differs")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("the run after is marked (late)")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("only in the run after: 'POST /cart'")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("muster was 0.1.0 before and 0.2.0 after")));
}

TEST(Compare, TellsTheLengthsOfShortRunsThatDiffer) {
  model::RunResult before = made_up({.seed = 1});
  model::RunResult after = made_up({.seed = 1});
  before.elapsed = std::chrono::milliseconds(120);
  after.elapsed = std::chrono::milliseconds(540);
  EXPECT_THAT(compared(before, after).notes, Contains("the runs differ in length: 120ms before, 540ms after"));
}

TEST(Compare, ACompletedRunThatStrictMakesAnErrorEndedByItself) {
  const model::RunResult before = made_up({.seed = 1});
  model::RunResult after = made_up({.seed = 2});
  after.verdict = model::Verdict::kError;
  after.reason = "the result is marked (late) and --strict makes that an error";
  EXPECT_THAT(compared(before, after).notes, Not(Contains(HasSubstr("did not end by itself"))));
  after.workflows[0].state = model::WorkflowState::kLost;
  EXPECT_THAT(compared(before, after).notes, Contains(HasSubstr("the run after did not end by itself")));
  after.workflows[0].state = model::WorkflowState::kCompleted;
  after.verdict = model::Verdict::kInterrupted;
  EXPECT_THAT(compared(before, after).notes, Contains(HasSubstr("the run after did not end by itself")));
}

TEST(Compare, TellsAStepThatChangedBeforeThoseThatDidNot) {
  const auto with_steps = [](double second_step, std::uint64_t seed) {
    model::RunResult run = made_up({.seed = seed});
    model::RunResult other = made_up({.all = second_step, .seed = seed + 100});
    other.workflows[0].steps[0].name = "slow one";
    run.workflows[0].steps.push_back(other.workflows[0].steps[0]);
    return run;
  };
  const Comparison comparison = compared(with_steps(1, 1), with_steps(1.3, 2));
  EXPECT_TRUE(delta(comparison, "p50", "slow one").significant);
  EXPECT_FALSE(delta(comparison, "p50", "GET /").significant);
  const auto first = std::ranges::find_if(comparison.deltas, [](const Delta& each) { return !each.step.empty(); });
  EXPECT_EQ(first->step, "slow one");
  EXPECT_EQ(first->workflow, "made up");
}

TEST(Compare, DoesNotJudgeAStepThatRanInAFewSecondsOnly) {
  MadeUpRun usual;
  model::RunResult before = made_up(usual);
  usual.seed = 2;
  model::RunResult after = made_up(usual);
  MadeUpRun start;
  start.seconds = 2;
  start.rate = 3;
  for (model::RunResult* run : {&before, &after}) {
    model::StepResult login = made_up(start).workflows.front().steps.front();
    login.name = "login";
    run->workflows.front().steps.push_back(std::move(login));
    start.all = 10;
  }
  const Comparison comparison = compared(before, after);
  for (const char* metric : {"mean", "rate", "failed", "p50"}) {
    EXPECT_FALSE(delta(comparison, metric, "login").judged) << metric;
    EXPECT_FALSE(delta(comparison, metric, "login").significant) << metric;
  }
  EXPECT_TRUE(delta(comparison, "mean").judged);
}

TEST(Compare, TakesAnyTwoResults) {
  const auto all = {test::passed(), test::marked(), test::wide(), test::refused(), test::lost(), test::nothing()};
  for (const model::RunResult& before : all) {
    for (const model::RunResult& after : all) {
      const Comparison comparison = compare(before, identity_of(before), after, identity_of(after), {.resamples = 10});
      EXPECT_FALSE(comparison.sentence.empty());
      for (const Delta& each : comparison.deltas) {
        EXPECT_TRUE(std::isfinite(each.change) && std::isfinite(each.low) && std::isfinite(each.high));
      }
    }
  }
}

}  // namespace
}  // namespace muster::report
