// What a workflow's steps do, as spec'd: order, failure, checks, values. Played in memory, one VU unless said
// otherwise.
#include <gmock/gmock.h>

#include "engine/rehearsal.h"
#include "model/options.h"

namespace muster::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kOnce = "{ vus: 1, iterations: 1 }";

TEST(Interpreter, RunsStepsInTheOrderWritten) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - { name: a, play: a }
      - { name: b, play: b, takes: 1ms }
      - { name: c, play: c, at_once: true }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a", "b", "c", "a", "b", "c"));
  EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  EXPECT_EQ(result.iterations, 2U);
  EXPECT_EQ(result.failed_iterations, 0U);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(step(result, name).ok, 2U);
    EXPECT_EQ(step(result, name).latency.count(), 2U);
  }
  EXPECT_GE(step(result, "b").latency.min(), std::chrono::milliseconds(1));
  EXPECT_EQ(step(result, "b").bytes_in, 2U);
}

TEST(Interpreter, JudgingAStepIsNoPartOfTheNextOnesLatency) {
  Rehearsal r;
  r.run(kOnce, R"(
    steps:
      - { name: a, play: a, takes: 1ms, check: { read_at: exists } }
      - { name: b, play: "${a.read_at}" }
)");
  const auto entries = r.journal->entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_GE(entries[1].started.time_since_epoch().count(), std::stoll(entries[1].text));
}

TEST(Interpreter, AFailedStepSkipsTheRestOfTheSequenceAndCountsIt) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 3 }", R"(
    steps:
      - { name: a, play: a }
      - { name: b, play: b, fails: "${iteration == 1}" }
      - { name: c, play: c }
      - { name: d, play: d }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a", "b", "c", "d", "a", "b", "a", "b", "c", "d"));
  EXPECT_EQ(step(result, "b").failed, 1U);
  EXPECT_EQ(step(result, "b").errors[static_cast<std::size_t>(model::ErrorClass::kReset)], 1U);
  EXPECT_EQ(step(result, "c").skipped, 1U);
  EXPECT_EQ(step(result, "d").skipped, 1U);
  EXPECT_EQ(step(result, "a").skipped, 0U);
  EXPECT_EQ(result.iterations, 3U);
  EXPECT_EQ(result.failed_iterations, 1U);
  ASSERT_EQ(step(result, "b").samples.size(), 1U);
  EXPECT_EQ(step(result, "b").samples[0].detail, "it was written so");
}

TEST(Interpreter, AStepThatFailsInsideCallIsCountedLikeAnyOther) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - { name: a, play: a, at_once: true, fails: dns }
      - { name: b, play: b }
)");
  EXPECT_EQ(step(result, "a").failed, 1U);
  EXPECT_EQ(step(result, "a").errors[static_cast<std::size_t>(model::ErrorClass::kDns)], 1U);
  EXPECT_EQ(step(result, "b").skipped, 1U);
}

TEST(Interpreter, OnlyRequiredChecksFailTheStep) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - name: a
        play: hello
        check: { size: 4, said: hello }
      - name: b
        play: hello
        check: { size: { that: 4, required: true }, said: hello }
      - { name: c, play: c }
)");
  ASSERT_EQ(step(result, "a").checks.size(), 2U);
  EXPECT_EQ(step(result, "a").checks[0].failed, 1U);
  EXPECT_EQ(step(result, "a").checks[1].ok, 1U);
  EXPECT_EQ(step(result, "a").ok, 1U);
  EXPECT_EQ(step(result, "b").failed, 1U);
  EXPECT_EQ(step(result, "b").errors[static_cast<std::size_t>(model::ErrorClass::kCheck)], 1U);
  EXPECT_EQ(step(result, "c").skipped, 1U);
  ASSERT_EQ(step(result, "b").samples.size(), 1U);
  EXPECT_THAT(step(result, "b").samples[0].detail, HasSubstr("size"));
}

TEST(Interpreter, AMissingValueFailsTheStepThatNeedsIt) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - if: iteration > 0
        then: [ { set: { x: 1 } } ]
      - { name: a, play: "${x ?? 'fallback'}" }
      - { name: b, play: "${x}" }
)");
  ASSERT_FALSE(r.journal->texts().empty());
  EXPECT_EQ(r.journal->texts()[0], "fallback");
  EXPECT_EQ(step(result, "b").failed, 1U);
  EXPECT_EQ(step(result, "b").errors[static_cast<std::size_t>(model::ErrorClass::kValue)], 1U);
}

TEST(Interpreter, ResultsAndSavedValuesAreSeenByLaterStepsOfTheIterationOnly) {
  Rehearsal r;
  r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - if: iteration == 0
        then:
          - { name: a, play: "a${iteration}", save: { kept: said } }
      - { name: b, play: "${kept ?? 'nothing'} ${a.size ?? 'none'} ${a.said ?? 'none'}" }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a0", "a0 2 a0", "nothing none none"));
}

TEST(Interpreter, WhatStartSavedStaysWithTheVu) {
  Rehearsal r;
  r.run("{ vus: 2, iterations: 2 each }", R"(
    start:
      - { name: login, play: "token${vu.id}", save: { token: said } }
    steps:
      - { name: use, play: "use ${token}" }
    stop:
      - { name: bye, play: "bye ${token}" }
)");
  EXPECT_THAT(r.journal->texts(), UnorderedElementsAre("token1", "token2", "use token1", "use token1", "use token2",
                                                       "use token2", "bye token1", "bye token2"));
}

TEST(Interpreter, ResetIterationDropsWhatStartSaved) {
  Rehearsal r;
  r.run("{ vus: 1, iterations: 2 each }", R"(
    reset: iteration
    start:
      - { name: login, play: token, save: { token: said } }
    steps:
      - { name: use, play: "${token ?? 'gone'}" }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("token", "token", "gone"));
}

TEST(Interpreter, AFailedStartEndsTheVuWithoutIterations) {
  Rehearsal r;
  const auto result = r.run("{ vus: 2, for: 30s }", R"(
    start: [ { name: login, play: login, fails: status } ]
    steps: [ { name: use, play: use } ]
    stop: [ { name: bye, play: bye } ]
)");
  EXPECT_EQ(r.journal->count("login"), 2U);
  EXPECT_EQ(r.journal->count("use"), 0U);
  EXPECT_EQ(result.iterations, 0U);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_EQ(result.notes[0].second, 2U);
}

TEST(Interpreter, SetKeepsTypesAndRendersTemplates) {
  Rehearsal r;
  r.run(kOnce, R"(
    steps:
      - set: { n: 40, text: "x${n + 2}" }
      - { play: "${n + 1} ${text}" }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("41 x42"));
}

TEST(Interpreter, IfTakesOneBranchAndAFailureInItSkipsOnlyWhatCouldHaveRun) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - { name: a, play: a }
      - if: iteration == 0
        then:
          - { name: b, play: b, fails: "true" }
          - { name: c, play: c }
        else:
          - { name: d, play: d }
      - { name: e, play: e }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a", "b", "a", "d", "e"));
  EXPECT_EQ(step(result, "c").skipped, 1U);
  EXPECT_EQ(step(result, "d").skipped, 0U);
  EXPECT_EQ(step(result, "e").skipped, 1U);
}

TEST(Interpreter, AFailureBeforeAnIfDoesNotCountItsBranchesAsSkipped) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - { name: a, play: a, fails: "true" }
      - if: a.size > 0
        then: [ { name: b, play: b } ]
        else: [ { name: c, play: c } ]
      - { name: d, play: d }
)");
  EXPECT_EQ(step(result, "b").skipped + step(result, "c").skipped, 0U);
  EXPECT_EQ(step(result, "d").skipped, 1U);
}

TEST(Interpreter, RepeatRunsItsStepsSoOften) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - repeat: 3
        steps: [ { name: a, play: a }, { name: b, play: b } ]
      - repeat: 0
        steps: [ { name: never, play: never } ]
      - { name: c, play: c }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a", "b", "a", "b", "a", "b", "c"));
  EXPECT_EQ(step(result, "never").ok + step(result, "never").skipped, 0U);
}

TEST(Interpreter, RepeatWhileEndsWhenTheConditionNoLongerHolds) {
  Rehearsal r;
  r.run(kOnce, R"(
    steps:
      - set: { n: 0 }
      - repeat: { while: n < 3 }
        steps: [ { play: "${n}" }, { set: { n: "${n + 1}" } } ]
      - repeat: { while: n > 0, times: 2 }
        steps: [ { play: bounded } ]
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("0", "1", "2", "bounded", "bounded"));
}

TEST(Interpreter, RetryGoesOnUntilNothingFailsAndThenTheIterationIsGood) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - set: { n: 0 }
      - retry: 5
        steps:
          - set: { n: "${n + 1}" }
          - { name: a, play: "try${n}", fails: "${n < 3}" }
          - { name: b, play: b }
      - { name: c, play: "c${n}" }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("try1", "try2", "try3", "b", "c3"));
  EXPECT_EQ(step(result, "a").ok, 1U);
  EXPECT_EQ(step(result, "a").failed, 2U);
  EXPECT_EQ(step(result, "a").retried, 2U);
  EXPECT_EQ(result.failed_iterations, 0U);
}

TEST(Interpreter, OnlyWhatRanAgainInALaterTryCountsAsRetried) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - set: { n: 0 }
      - retry: 5
        steps:
          - set: { n: "${n + 1}" }
          - { name: early, play: early }
          - parallel: [ { repeat: 2, steps: [ { name: beside, play: beside } ] } ]
          - { name: a, play: a, fails: "${n < 3}" }
          - { name: late, play: late }
          - if: n == 1
            then: [ { name: never, play: never } ]
      - retry: 2
        steps: [ { name: once, play: once } ]
      - { name: after, play: after }
)");
  EXPECT_EQ(step(result, "early").retried, 2U);
  EXPECT_EQ(step(result, "beside").retried, 4U);
  EXPECT_EQ(step(result, "beside").ok, 6U);
  EXPECT_EQ(step(result, "a").retried, 2U);
  EXPECT_EQ(step(result, "late").retried, 0U) << "it ran once, in the third try";
  EXPECT_EQ(step(result, "never").retried, 0U);
  EXPECT_EQ(step(result, "once").retried, 0U);
  EXPECT_EQ(step(result, "after").retried, 0U);
}

TEST(Interpreter, RetryGivesUpAfterSoManyTriesAndFailsTheSequence) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - retry: { times: 2, delay: 1ms }
        steps: [ { name: a, play: a, fails: "true" } ]
      - { name: b, play: b }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a", "a"));
  EXPECT_EQ(step(result, "b").skipped, 1U);
  EXPECT_EQ(result.failed_iterations, 1U);
}

TEST(Interpreter, RetryUntilLooksAtTheCondition) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - set: { word: "'x'" }
      - retry: { until: job.size == 3, times: 10 }
        steps:
          - { name: job, play: "${word}" }
          - set: { word: "x${word}" }
      - { name: after, play: after }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("x", "xx", "xxx", "after"));
  EXPECT_EQ(step(result, "job").retried, 2U);
}

TEST(Interpreter, ARetryWhoseConditionNeverHoldsSaysSoWhenItGivesUp) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - retry: { until: job.size == 3, times: 4 }
        steps: [ { name: job, play: x } ]
)");
  EXPECT_EQ(result.failed_iterations, 1U);
  EXPECT_THAT(result.notes,
              ElementsAre(testing::Pair("retry of 'job' gave up after 4 tries: 'job.size == 3' did not hold", 1U)));
}

TEST(Interpreter, ARetryWhoseStepsFailLeavesItToThemToSayWhy) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - retry: { until: a.size == 3, times: 2 }
        steps: [ { name: a, play: a, fails: "true" } ]
)");
  EXPECT_EQ(result.failed_iterations, 1U);
  EXPECT_THAT(result.notes, ElementsAre());
}

TEST(Interpreter, AnIterationWhoseLoopsGatherTooMuchIsEnded) {
  const std::string text(200'000, 'x');
  for (const std::string loop : {"repeat: 300", "retry: { times: 300, until: \"false\", delay: 0s }"}) {
    Rehearsal r;
    const auto result = r.run("{ vus: 1, iterations: 2 }", "    steps:\n      - " + loop + R"(
        steps: [ { name: a, play: ")" + text + R"(", save: { all: said } } ]
      - { name: b, play: b }
)");
    EXPECT_EQ(result.iterations, 2U) << loop;
    EXPECT_EQ(result.failed_iterations, 2U) << loop;
    EXPECT_GT(step(result, "a").ok, 100U) << loop;
    EXPECT_LT(step(result, "a").ok, 400U) << loop;
    EXPECT_EQ(step(result, "b").skipped, 2U) << loop;
    ASSERT_EQ(result.notes.size(), 1U) << loop;
    EXPECT_THAT(result.notes[0].first, HasSubstr("more than 16 MiB"));
  }
}

TEST(Interpreter, NestedLoopsKeepTheirOwnCountsWhenAnInnerOneFails) {
  Rehearsal r;
  r.run(kOnce, R"(
    steps:
      - set: { n: 0 }
      - repeat: 2
        steps:
          - retry: 3
            steps:
              - repeat: 2
                steps:
                  - set: { n: "${n + 1}" }
                  - { name: a, play: "a${n}", fails: "${n == 2}" }
      - { name: end, play: end }
)");
  EXPECT_THAT(r.journal->texts(), ElementsAre("a1", "a2", "a3", "a4", "a5", "a6", "end"));
}

TEST(Interpreter, AGroupHasALatencyAndFailsWithItsSteps) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - group: pay
        steps:
          - { name: a, play: a, takes: 2ms }
          - { name: b, play: b, takes: 2ms, fails: "${iteration == 1}" }
          - { name: c, play: c }
      - { name: d, play: d }
)");
  EXPECT_EQ(step(result, "pay").ok, 1U);
  EXPECT_EQ(step(result, "pay").failed, 1U);
  EXPECT_GE(step(result, "pay").latency.min(), std::chrono::milliseconds(4));
  EXPECT_EQ(step(result, "c").skipped, 1U);
  EXPECT_EQ(step(result, "d").skipped, 1U);
}

TEST(Interpreter, ChooseFollowsTheWeights) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2000 }", R"(
    steps:
      - choose:
          - { weight: 9, steps: [ { name: often, play: often } ] }
          - { weight: 1, steps: [ { name: seldom, play: seldom } ] }
          - { weight: 0, steps: [ { name: never, play: never } ] }
      - { name: after, play: after }
)");
  EXPECT_EQ(step(result, "often").ok + step(result, "seldom").ok, 2000U);
  EXPECT_NEAR(static_cast<double>(step(result, "seldom").ok), 200.0, 80.0);
  EXPECT_EQ(step(result, "never").ok, 0U);
  EXPECT_EQ(step(result, "after").ok, 2000U);
}

TEST(Interpreter, TheBranchesOfParallelRunAtOnceAndAreWaitedFor) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - parallel:
          - { name: slow, play: slow, takes: 20ms }
          - { name: fast, play: fast, takes: 1ms }
          - group: both
            steps: [ { name: x, play: x }, { name: y, play: "${x.said}y" } ]
      - { name: after, play: "${slow.said}${fast.said}${y.said}" }
)");
  const auto texts = r.journal->texts();
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_THAT(std::vector(texts.begin(), texts.begin() + 3), ElementsAre("slow", "fast", "x"));
  EXPECT_EQ(texts.back(), "slowfastxy");
  EXPECT_EQ(result.iterations, 1U);
}

TEST(Interpreter, AFailedBranchOfParallelLetsTheOthersFinishAndSkipsWhatFollows) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - parallel:
          - { name: bad, play: bad, fails: "true" }
          - { name: good, play: good, takes: 3ms }
      - { name: after, play: after }
)");
  EXPECT_EQ(step(result, "good").ok, 1U);
  EXPECT_EQ(step(result, "good").skipped, 0U);
  EXPECT_EQ(step(result, "after").skipped, 1U);
  EXPECT_EQ(result.failed_iterations, 1U);
}

TEST(Interpreter, ParallelNestsAndIsReusedEveryIteration) {
  Rehearsal r;
  const auto result = r.run("{ vus: 5, iterations: 40 each }", R"(
    steps:
      - parallel:
          - { name: a, play: a, takes: 1ms }
          - parallel:
              - { name: b, play: b }
              - { name: c, play: c, at_once: true }
          - repeat: 2
            steps: [ { name: d, play: d } ]
)");
  EXPECT_EQ(result.iterations, 200U);
  EXPECT_EQ(step(result, "b").ok, 200U);
  EXPECT_EQ(step(result, "c").ok, 200U);
  EXPECT_EQ(step(result, "d").ok, 400U);
}

TEST(Interpreter, AGraphRunsEachStepAfterItsPredecessorsAndSkipsDependentsOfAFailure) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - { name: end, play: end, after: [left, right] }
      - { name: left, play: left, after: [root], takes: 5ms }
      - { name: right, play: right, after: [root] }
      - { name: root, play: root, after: [] }
      - { name: lost, play: lost, after: [broken] }
      - { name: broken, play: broken, after: [root], fails: "true" }
      - { name: further, play: further, after: [lost, right] }
)");
  const auto texts = r.journal->texts();
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts.front(), "root");
  EXPECT_EQ(texts.back(), "end");
  EXPECT_EQ(step(result, "lost").skipped, 1U);
  EXPECT_EQ(step(result, "further").skipped, 1U);
  EXPECT_EQ(step(result, "end").ok, 1U);
  EXPECT_EQ(result.failed_iterations, 1U);
}

TEST(Interpreter, StopEndsTheIterationTheVuOrTheWorkflow) {
  Rehearsal r;
  const auto iteration = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - { name: a, play: a }
      - repeat: 5
        steps: [ { stop: iteration } ]
      - { name: b, play: b }
)");
  EXPECT_EQ(iteration.iterations, 2U);
  EXPECT_EQ(iteration.failed_iterations, 0U);
  EXPECT_EQ(step(iteration, "b").ok + step(iteration, "b").skipped, 0U);

  const auto vu = r.run("{ vus: 3, iterations: 4 each }", R"(
    steps:
      - { name: a, play: a }
      - if: vu.id == 2
        then: [ { stop: vu } ]
)");
  EXPECT_EQ(vu.iterations, 9U);

  const auto workflow = r.run("{ vus: 1, for: 30s }", R"(
    steps:
      - { name: a, play: a }
      - if: iteration == 4
        then: [ { stop: workflow } ]
)");
  EXPECT_EQ(workflow.iterations, 5U);
}

TEST(Interpreter, StopInsideABranchEndsTheIterationOnceTheOthersAreDone) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - parallel:
          - { stop: iteration }
          - { name: other, play: other, takes: 2ms }
      - { name: never, play: never }
)");
  EXPECT_EQ(step(result, "other").ok, 2U);
  EXPECT_EQ(step(result, "never").ok, 0U);
  EXPECT_EQ(result.iterations, 2U);
}

TEST(Interpreter, StopInsideABranchDoesNotHideTheFailureOfAnother) {
  for (const std::string stop : {"iteration", "vu"}) {
    for (const std::string first : {"", "takes: 4ms, "}) {  // the failure comes before the stop, or after it
      Rehearsal r;
      const auto result = r.run("{ vus: 3, iterations: 1 each }", R"(
    steps:
      - parallel:
          - { name: bad, play: bad, )" + first + R"(fails: status }
          - group: g
            steps: [ { think: 2ms }, { stop: )" + stop + R"( } ]
      - { name: never, play: never }
)");
      EXPECT_EQ(result.iterations, 3U);
      EXPECT_EQ(result.failed_iterations, 3U) << stop << first;
      EXPECT_EQ(step(result, "never").ok, 0U);
    }
  }
}

TEST(Interpreter, StepsThatAStopLeavesOutAreNoFailure) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 2 }", R"(
    steps:
      - { name: a, play: a, after: [] }
      - { group: halt, after: [a], steps: [ { stop: iteration } ] }
      - { name: b, play: b, after: [halt] }
)");
  EXPECT_EQ(step(result, "b").ok, 0U);
  EXPECT_EQ(result.iterations, 2U);
  EXPECT_EQ(result.failed_iterations, 0U);
}

TEST(Interpreter, ACheckStepCountsAndFailsWhenRequired) {
  Rehearsal r;
  const auto result = r.run(kOnce, R"(
    steps:
      - set: { n: 3 }
      - { name: soft, check: { n: "> 5" } }
      - { name: hard, check: { n: { that: "> 5", required: true } } }
      - { name: after, play: after }
)");
  EXPECT_EQ(step(result, "soft").checks[0].failed, 1U);
  EXPECT_EQ(step(result, "hard").checks[0].failed, 1U);
  EXPECT_EQ(step(result, "after").skipped, 1U);
}

TEST(Interpreter, MetricsAddUpOverCores) {
  Rehearsal r;
  r.cores = 3;
  const auto result = r.run("{ vus: 6, iterations: 5 each }", R"(
    steps:
      - { metric: sold, type: counter, value: 2 }
      - { metric: round, type: trend, value: iteration }
      - { metric: even, type: rate, value: "vu.id % 2 == 0" }
      - { name: a, play: a }
)");
  // In the order of their names, which is the same however many cores and machines there are.
  ASSERT_EQ(result.metrics.size(), 3U);
  EXPECT_EQ(result.metrics[0].name, "even");
  EXPECT_EQ(result.metrics[0].trues, 15U);
  EXPECT_EQ(result.metrics[1].name, "round");
  EXPECT_EQ(result.metrics[1].count, 30U);
  EXPECT_EQ(result.metrics[1].min, 0.0);
  EXPECT_EQ(result.metrics[1].max, 4.0);
  EXPECT_EQ(result.metrics[2].name, "sold");
  EXPECT_EQ(result.metrics[2].sum, 60.0);
}

TEST(Interpreter, TagsBeyondTheLimitCountAsOtherAndSaySo) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 250 }", R"(
    steps:
      - { name: a, play: a, tags: { round: "${iteration}" } }
)");
  EXPECT_EQ(result.tagged.size(), model::kMaxTagSets + 1);
  std::uint64_t all = 0;
  for (const auto& tagged : result.tagged) {
    all += tagged.ok;
    if (tagged.tags == "other") {
      EXPECT_EQ(tagged.ok, 50U);
    }
  }
  EXPECT_EQ(all, 250U);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_THAT(result.notes[0].first, HasSubstr("other"));
  EXPECT_EQ(result.notes[0].second, 50U);
}

TEST(Interpreter, EveryIterationTakesOneRowOfData) {
  Rehearsal r;
  const std::string path = temporary_file("rows.csv", "name,age\nann,1\nbob,2\ncid,3\n");
  r.run("{ vus: 1, iterations: 4 }", R"(
    steps:
      - { play: "${data.people.name}" }
      - { play: "${data.people.age}" }
)",
        "data: { people: { csv: \"" + path + "\" } }\n");
  EXPECT_THAT(r.journal->texts(), ElementsAre("ann", "1", "bob", "2", "cid", "3", "ann", "1"));
}

TEST(Interpreter, StartAndStopTakeNoRowOfDataThatTheyDoNotRead) {
  Rehearsal r;
  const std::string path = temporary_file("few.csv", "name\nann\nbob\n");
  const auto result = r.run("{ vus: 2, iterations: 1 each }", R"(
    start: [ { play: hello } ]
    steps: [ { play: "${data.people.name}" } ]
    stop: [ { play: bye } ]
)",
                            "data: { people: { csv: \"" + path + "\", pick: unique } }\n");
  EXPECT_EQ(r.journal->count("ann"), 1U);
  EXPECT_EQ(r.journal->count("bob"), 1U);
  EXPECT_EQ(result.iterations, 2U);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Interpreter, UniqueDataEndsTheRunWhenItHasRunOut) {
  Rehearsal r;
  std::string rows = "id\n";
  for (int i = 0; i < 50; ++i) rows += std::to_string(i) + "\n";
  const std::string path = temporary_file("unique.csv", rows);
  r.cores = 3;
  const auto result = r.run("{ vus: 6, for: 30s }", R"(
    steps: [ { name: a, play: "${data.ids.id}" } ]
)",
                            "data: { ids: { csv: \"" + path + "\", pick: unique } }\n");
  EXPECT_EQ(result.iterations, 50U);
  auto texts = r.journal->texts();
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
  ASSERT_FALSE(result.notes.empty());
  EXPECT_THAT(result.notes[0].first, HasSubstr("ran out"));
}

TEST(Interpreter, UniqueDataThatRunsOutEndsAnOpenLoadWithoutWaitingForTheGrace) {
  Rehearsal r;
  const std::string path = temporary_file("open.csv", "id\n1\n2\n3\n");
  const auto result = r.run("{ rate: 1000/s, for: 30s, max_vus: 1, grace: 50s }", R"(
    steps: [ { name: a, play: "${data.ids.id}", takes: 5ms } ]
)",
                            "data: { ids: { csv: \"" + path + "\", pick: unique } }\n");
  EXPECT_EQ(result.iterations, 3U);
  EXPECT_EQ(result.iterations + result.dropped, result.arrivals);
}

TEST(Interpreter, UniqueDataThatRunsOutInStartOrStopLeavesThemOut) {
  const std::string path = temporary_file("three_rows.csv", "id\n1\n2\n3\n");
  const std::string data = "data: { ids: { csv: \"" + path + "\", pick: unique } }\n";
  for (const char* load : {"{ vus: 5, for: 200ms }", "{ rate: 500/s, for: 30s, max_vus: 5 }"}) {
    Rehearsal r;
    const auto result = r.run(load, R"(
    start: [ { name: login, play: "in ${data.ids.id}" } ]
    steps: [ { name: a, play: a, takes: 20ms } ]
    stop: [ { name: bye, play: bye } ]
)",
                              data);
    EXPECT_EQ(step(result, "login").ok, 3U) << load;
    EXPECT_EQ(step(result, "login").failed, 0U) << load;
    EXPECT_EQ(step(result, "bye").ok, 3U) << load;
    EXPECT_LT(result.elapsed, std::chrono::seconds(20)) << load;
    EXPECT_EQ(result.dropped + (result.open ? result.iterations : 0), result.arrivals) << load;
    ASSERT_FALSE(result.notes.empty());
    EXPECT_THAT(result.notes[0].first, HasSubstr("ran out"));
  }
  Rehearsal r;
  const auto result = r.run("{ vus: 5, iterations: 1 each }", R"(
    steps: [ { name: a, play: a } ]
    stop: [ { name: bye, play: "out ${data.ids.id}" } ]
)",
                            data);
  EXPECT_EQ(result.iterations, 5U);
  EXPECT_EQ(step(result, "bye").ok, 3U);
  EXPECT_EQ(step(result, "bye").failed, 0U);
}

TEST(Interpreter, ProvidedValuesReachTheWorkflowThatUsesThem) {
  Rehearsal r;
  const auto result = r.run_layers(R"(muster: 1
workflows:
  - name: make
    load: { vus: 1, iterations: 3 }
    steps:
      - { name: a, play: "a${iteration}", save: { token: said } }
      - if: iteration > 5
        then: [ { set: { absent: 1 } } ]
    provide:
      absent: { from: absent }
      last: { from: token }
      first: { from: token, keep: first }
      all: { from: token, keep: all, max: 2 }
  - name: take
    depends: [make]
    use: { last: make, first: make, all: make, absent: { from: make, default: none } }
    load: { vus: 1, iterations: 3 }
    steps: [ { name: b, play: "${last} ${first} ${all} ${absent}" } ]
)");
  EXPECT_EQ(result.exit_code, 0) << result.reason;
  EXPECT_THAT(r.journal->texts(), ElementsAre("a0", "a1", "a2", "a2 a0 a0 none", "a2 a0 a1 none", "a2 a0 a0 none"));
}

TEST(Interpreter, ValuesThatAreAllHandedOnKeepTheirTypes) {
  Rehearsal r;
  const auto result = r.run_layers(R"(muster: 1
workflows:
  - name: make
    load: { vus: 1, iterations: 2 }
    steps: [ { set: { number: "${iteration}", list: "${[iteration, 7]}", yes: "${iteration == 1}" } } ]
    provide: { number: { from: number, keep: all }, list: { from: list, keep: all }, yes: { from: yes, keep: all } }
  - name: take
    depends: [make]
    use: { number: make, list: make, yes: make }
    load: { vus: 1, iterations: 2 }
    steps: [ { name: b, play: "${number + 1} ${list[1]} ${yes == true}" } ]
)");
  EXPECT_EQ(result.exit_code, 0) << result.reason;
  EXPECT_THAT(r.journal->texts(), ElementsAre("1 7 false", "2 7 true"));
}

TEST(Interpreter, DependentsOfAFailedWorkflowAreSkipped) {
  Rehearsal r;
  const auto result = r.run_layers(R"(muster: 1
workflows:
  - name: make
    steps: [ { name: a, play: a, fails: "true" } ]
  - name: take
    depends: [make]
    steps: [ { name: b, play: b } ]
)");
  EXPECT_EQ(result.workflows[1].state, model::WorkflowState::kSkipped);
  EXPECT_EQ(r.journal->count("b"), 0U);
  EXPECT_EQ(result.exit_code, 99);
}

}  // namespace
}  // namespace muster::engine
