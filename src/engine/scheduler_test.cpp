// When VUs run: exact iteration counts, ramps, pacing, arrivals, warm-up and the commands that reach a running load.
// Asserts counts, orders and bounds; no time below a second.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "engine/marks.h"
#include "engine/rehearsal.h"

namespace muster::engine {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kOneStep = "    steps: [ { name: a, play: a } ]\n";

// Arrivals at `rate` for `time`, then none for a second: what a machine that stands still at the end of that time
// leaves undone is made up for.
std::string arrivals(const std::string& rate, const std::string& time, const std::string& more = "") {
  return "{ rate: [ { to: " + rate + ", over: 0s }, { hold: " + time + " }, { to: 0/s, over: 0s }, { hold: 1s } ]" +
         more + " }";
}

std::map<std::uint64_t, std::uint64_t> calls_by_vu(const Journal& journal) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& entry : journal.entries()) ++counts[entry.vu];
  return counts;
}

class OnCores : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Scheduler, OnCores, testing::Values(1, 3));

TEST_P(OnCores, SharedIterationsAreRunExactly) {
  Rehearsal r;
  r.cores = GetParam();
  const auto result = r.run("{ vus: 7, iterations: 1000 }", kOneStep);
  EXPECT_EQ(result.iterations, 1000U);
  EXPECT_EQ(step(result, "a").ok, 1000U);
  EXPECT_EQ(step(result, "a").latency.count(), 1000U);
  EXPECT_EQ(result.interrupted, 0U);
  EXPECT_EQ(result.vus, 0U);
  EXPECT_EQ(result.peak_vus, 7U);
}

TEST_P(OnCores, IterationsEachAreRunByEveryVu) {
  Rehearsal r;
  r.cores = GetParam();
  const auto result = r.run("{ vus: 7, iterations: 13 each }", kOneStep);
  EXPECT_EQ(result.iterations, 91U);
  const auto counts = calls_by_vu(*r.journal);
  ASSERT_EQ(counts.size(), 7U);
  for (const auto& [vu, count] : counts) EXPECT_EQ(count, 13U) << "VU " << vu;
}

TEST_P(OnCores, FewerIterationsThanVusStartNoMoreVusThanThat) {
  Rehearsal r;
  r.cores = GetParam();
  const auto result = r.run("{ vus: 10, iterations: 2 }", "    steps: [ { name: a, play: a, takes: 1ms } ]\n");
  EXPECT_EQ(result.iterations, 2U);
  EXPECT_LE(calls_by_vu(*r.journal).size(), 2U);
}

TEST_P(OnCores, VusAreNumberedOnceOverAllCores) {
  Rehearsal r;
  r.cores = GetParam();
  r.run("{ vus: 8, iterations: 1 each }", "    steps: [ { name: a, play: \"${vu.id}\" } ]\n");
  auto texts = r.journal->texts();
  std::sort(texts.begin(), texts.end());
  EXPECT_THAT(texts, ElementsAre("1", "2", "3", "4", "5", "6", "7", "8"));
}

TEST_P(OnCores, ARampReachesItsPeakAndComesDownAgain) {
  Rehearsal r;
  r.cores = GetParam();
  const auto result = r.run("{ vus: [ { to: 9, over: 200ms }, { hold: 100ms }, { to: 0, over: 200ms } ] }", R"(
    start: [ { play: hello } ]
    steps: [ { name: a, play: a, takes: 1ms } ]
    stop: [ { play: bye } ]
)");
  EXPECT_EQ(calls_by_vu(*r.journal).size(), 9U);
  EXPECT_EQ(r.journal->count("hello"), r.journal->count("bye"));
  EXPECT_GE(r.journal->count("hello"), 9U);
  EXPECT_EQ(result.iterations, step(result, "a").ok);
  EXPECT_EQ(result.interrupted, 0U);
  EXPECT_EQ(result.vus, 0U);
}

TEST_P(OnCores, EveryArrivalIsIssued) {
  Rehearsal r;
  r.cores = GetParam();
  const auto result = r.run(arrivals("1000/s", "500ms", ", max_vus: 60"), kOneStep);
  EXPECT_EQ(result.arrivals, 500U);
  EXPECT_EQ(result.iterations, 500U);
  EXPECT_EQ(result.dropped, 0U);
  EXPECT_TRUE(result.open);
  EXPECT_EQ(step(result, "a").service.count(), 500U);
  EXPECT_EQ(result.lateness.count(), 500U);
}

TEST(Scheduler, ARampOfArrivalsIssuesTheAreaUnderIt) {
  Rehearsal r;
  const auto result = r.run(
      "{ rate: [ { to: 1000/s, over: 500ms }, { hold: 250ms }, { to: 0/s, over: 0s }, { hold: 1s } ], max_vus: 50 }",
      kOneStep);
  EXPECT_NEAR(static_cast<double>(result.arrivals), 500.0, 1.0);
  EXPECT_EQ(result.iterations, result.arrivals);
}

TEST(Scheduler, PacingKeepsIterationsApart) {
  Rehearsal r;
  const auto result = r.run("{ vus: 2, iterations: 4 each, every: 20ms }", kOneStep);
  EXPECT_EQ(result.iterations, 8U);
  std::map<std::uint64_t, base::Instant> latest;
  for (const auto& entry : r.journal->entries()) {
    const auto before = latest.find(entry.vu);
    if (before != latest.end()) EXPECT_GE(entry.started - before->second, 20ms);
    latest[entry.vu] = entry.started;
  }
}

TEST(Scheduler, LatencyOfAnArrivalCountsFromItsIntendedStart) {
  Rehearsal r;
  // One VU that takes 10 ms, 100 arrivals within 100 ms: the last waits for nearly a second.
  const auto result = r.run(arrivals("1000/s", "100ms", ", max_vus: 1, grace: 30s"),
                            "    steps: [ { name: a, play: a, takes: 10ms } ]\n");
  EXPECT_EQ(result.arrivals, 100U);
  EXPECT_EQ(result.iterations, 100U);
  EXPECT_EQ(result.queued, 99U);
  EXPECT_EQ(result.peak_vus, 1U);
  EXPECT_GE(step(result, "a").latency.max(), 850ms);
  EXPECT_GE(step(result, "a").latency.quantile(0.5), 400ms);
  EXPECT_LT(step(result, "a").service.quantile(0.5), 400ms);
}

TEST(Scheduler, ThinkingBeforeTheFirstCallIsNoLatency) {
  Rehearsal r;
  const auto result = r.run(arrivals("50/s", "100ms", ", max_vus: 50"), R"(
    steps:
      - think: 3s
      - { name: a, play: a }
)");
  EXPECT_EQ(step(result, "a").ok, 5U);
  EXPECT_LT(step(result, "a").latency.max(), 2900ms);
}

TEST(Scheduler, LateDropDropsWhatNoVuIsFreeForAndCountsIt) {
  Rehearsal r;
  const auto result = r.run(arrivals("1000/s", "200ms", ", max_vus: 2, late: drop"),
                            "    steps: [ { name: a, play: a, takes: 50ms } ]\n");
  EXPECT_EQ(result.arrivals, 200U);
  EXPECT_EQ(result.iterations + result.dropped, 200U);
  EXPECT_GT(result.dropped, 100U);
  EXPECT_EQ(result.queued, 0U);
  EXPECT_EQ(result.peak_vus, 2U);
}

TEST(Scheduler, QueuedArrivalsThatTheGraceDoesNotReachAreDropped) {
  Rehearsal r;
  const auto result = r.run(arrivals("1000/s", "100ms", ", max_vus: 1, grace: 50ms"),
                            "    steps: [ { name: a, play: a, takes: 20ms } ]\n");
  EXPECT_EQ(result.arrivals, 100U);
  EXPECT_EQ(result.iterations + result.dropped + result.interrupted, 100U);
}

TEST(Scheduler, AnArrivalWhoseStartFailsIsDroppedAndTheNextOneTriesAgain) {
  Rehearsal r;
  const auto result = r.run(arrivals("100/s", "200ms", ", max_vus: 5"), R"(
    start: [ { name: login, play: login, fails: "true" } ]
    steps: [ { name: a, play: a } ]
)");
  EXPECT_EQ(result.arrivals, 20U);
  EXPECT_EQ(result.dropped, 20U);
  EXPECT_EQ(step(result, "login").failed, 20U);
}

TEST(Scheduler, WarmUpRunsAndIsNotCounted) {
  Rehearsal r;
  const auto result = r.run(arrivals("1000/s", "500ms", ", warm_up: 330ms, max_vus: 20"), kOneStep);
  const auto entries = r.journal->entries();
  ASSERT_EQ(entries.size(), 500U);
  // Those that began after the warm-up; the first one is due when the load begins, or a millisecond later.
  const auto counted = std::ranges::count_if(
      entries, [&](const auto& entry) { return entry.started >= entries.front().intended + 330ms; });
  EXPECT_NEAR(static_cast<double>(result.arrivals), static_cast<double>(counted), 20.0);
  EXPECT_EQ(result.iterations, step(result, "a").ok);
  EXPECT_EQ(result.iterations, result.iteration_time.count());
  std::uint64_t in_series = 0;
  for (const auto& second : result.series) in_series += second.iterations;
  EXPECT_EQ(in_series, result.iterations);
}

TEST(Scheduler, TheSeriesCountsBySecondsOfTheRunWhateverTheWarmUp) {
  Rehearsal r;
  const auto result = r.run("{ rate: 400/s, for: 3s, warm_up: 1500ms, max_vus: 20 }", kOneStep);
  EXPECT_EQ(result.began, 1500ms);
  ASSERT_GE(result.series.size(), 2U);
  EXPECT_EQ(result.series[0].second, 1U);
  EXPECT_EQ(result.series[1].second, 2U);
  // Half a second and a whole one, give or take those under way when it turned.
  const auto entries = r.journal->entries();
  const auto between = [&](base::Duration from, base::Duration to) {
    const base::Instant start = entries.front().intended;
    return static_cast<double>(std::ranges::count_if(
        entries, [&](const auto& entry) { return entry.started >= start + from && entry.started < start + to; }));
  };
  EXPECT_NEAR(static_cast<double>(result.series[0].iterations), between(1500ms, 2s), 25.0);
  EXPECT_NEAR(static_cast<double>(result.series[1].iterations), between(2s, 3s), 25.0);
}

TEST(Scheduler, WhatIsCountedRightAfterAWarmUpOfAnyLengthIsKept) {
  Rehearsal r;
  const auto result =
      r.run("{ vus: 1, for: 400ms, warm_up: 260ms }", "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
  std::uint64_t counted = 0;
  const auto entries = r.journal->entries();
  for (const auto& entry : entries) counted += entry.started >= entries.front().started + 270ms ? 1U : 0U;
  EXPECT_GE(step(result, "a").ok, counted);
  EXPECT_LT(step(result, "a").ok, entries.size());
}

TEST(Scheduler, WorkUnderWayHasTheGraceToFinish) {
  Rehearsal r;
  const auto result = r.run("{ vus: 3, for: 50ms, grace: 30s }", R"(
    steps: [ { name: a, play: a, takes: 200ms } ]
    stop: [ { name: bye, play: bye } ]
)");
  EXPECT_EQ(result.iterations, 3U);
  EXPECT_EQ(result.interrupted, 0U);
  EXPECT_EQ(step(result, "bye").ok, 3U);
}

TEST(Scheduler, WhatOutlivesTheGraceIsInterruptedAndCountsAsCancelled) {
  Rehearsal r;
  const auto result = r.run("{ vus: 3, for: 50ms, grace: 10ms }", R"(
    steps:
      - parallel:
          - { name: a, play: a, stalls: true }
          - think: 1m
)");
  EXPECT_EQ(result.iterations, 0U);
  EXPECT_EQ(result.interrupted, 3U);
  EXPECT_EQ(step(result, "a").failed, 3U);
  EXPECT_EQ(step(result, "a").errors[static_cast<std::size_t>(model::ErrorClass::kCancelled)], 3U);
}

TEST(Scheduler, TheTimeUntilARequestIsCutShortIsCounted) {
  Rehearsal r;
  const auto result =
      r.run("{ vus: 3, for: 50ms, grace: 1100ms }", "    steps: [ { name: a, play: a, stalls: true } ]\n");
  EXPECT_EQ(step(result, "a").failed, 3U);
  EXPECT_GE(result.elapsed, 1149ms);
  const model::StepSecond& last = step(result, "a").series.back();
  EXPECT_LT(std::chrono::seconds(last.second), result.began + result.elapsed) << "a second that was counted";
}

class LoopsThatNeverWait : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Bodies, LoopsThatNeverWait,
                         testing::Values("{ repeat: { while: \"true\" }, steps: [ { set: { x: 1 } } ] }",
                                         "{ repeat: { while: \"true\" }, steps: [ { think: 0s } ] }",
                                         "{ repeat: { while: \"true\" }, steps: [ { check: { \"1\": 1 } } ] }",
                                         "{ repeat: 1000000000, steps: [ { play: a, at_once: true } ] }",
                                         "{ retry: { times: 1000000, until: \"false\", delay: 0s }, steps: [ { set: { "
                                         "x: 1 } } ] }",
                                         "{ parallel: [ { repeat: { while: \"true\" }, steps: [ { set: { x: 1 } } ] }, "
                                         "{ play: b, takes: 1ms } ] }"));

TEST_P(LoopsThatNeverWait, EndWithTheirLoadAndItsGrace) {
  Rehearsal r;
  const auto result = r.run("{ vus: 2, for: 100ms, grace: 50ms }", "    steps: [ " + std::string(GetParam()) + " ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  EXPECT_GE(result.iterations + result.interrupted, 2U);
}

TEST(Scheduler, ALoopThatNeverWaitsLeavesOtherVusTheirTurn) {
  Rehearsal r;
  const auto result = r.run("{ vus: 2, for: 1s, grace: 10ms }", R"(
    steps:
      - if: vu.id == 1
        then: [ { repeat: { while: "true" }, steps: [ { set: { x: 1 } } ] } ]
      - { name: a, play: a, takes: 1ms }
)");
  EXPECT_GT(step(result, "a").ok, 10U);
  EXPECT_EQ(result.interrupted, 1U);
}

TEST(Scheduler, ALoopThatGivesWayMakesAllItsRounds) {
  Rehearsal r;
  const auto result =
      r.run("{ vus: 1, iterations: 3 }",
            "    steps: [ { repeat: 1001, steps: [ { metric: m, type: counter, value: 1 } ] }, { play: a } ]\n");
  EXPECT_EQ(result.metrics[0].count, 3003U);
  EXPECT_EQ(result.iterations, 3U);
}

// Sends commands one after the other, each once its condition holds.
class CommandScript {
 public:
  using Condition = std::function<bool(const model::WorkflowResult&)>;
  CommandScript& when(Condition condition, Command command) {
    acts_.push_back({std::move(condition), command});
    return *this;
  }
  void operator()(Runner& runner, const model::WorkflowResult& result) {
    if (next_ >= acts_.size() || !acts_[next_].first(result)) return;
    runner.command(acts_[next_++].second);
  }
  bool done() const { return next_ == acts_.size(); }

 private:
  std::vector<std::pair<Condition, Command>> acts_;
  std::size_t next_ = 0;
};

TEST(Scheduler, LatenessOfAnOpenLoadIsThatOfItsArrivalsAndOfAClosedOneThatOfItsTimers) {
  const char* const steps = "    steps: [ { name: a, play: a }, { think: 1ms }, { name: b, play: b } ]\n";
  Rehearsal open;
  const auto opened = open.run(arrivals("500/s", "100ms"), steps);
  EXPECT_EQ(opened.iterations, 50U);
  EXPECT_EQ(opened.lateness.count(), opened.arrivals) << "the timers between its steps are not arrivals";
  Rehearsal closed;
  EXPECT_EQ(closed.run("{ vus: 1, iterations: 5 }", steps).lateness.count(), 5U);
}

TEST(Scheduler, StopLetsWorkFinishAndAbortDoesNot) {
  for (const auto kind : {Command::Kind::kStop, Command::Kind::kAbort}) {
    Rehearsal r;
    CommandScript script;
    script.when([&](const auto&) { return !r.journal->texts().empty(); }, {.kind = kind});
    r.during = std::ref(script);
    const auto result = r.run("{ vus: 2, for: 1h, grace: 30s }", "    steps: [ { name: a, play: a, takes: 3s } ]\n");
    const bool stopped = kind == Command::Kind::kStop;
    EXPECT_EQ(result.iterations, stopped ? 2U : 0U);
    EXPECT_EQ(result.interrupted, stopped ? 0U : 2U);
    EXPECT_EQ(step(result, "a").failed, stopped ? 0U : 2U);  // cancelled
  }
}

TEST(Scheduler, WhatIsCancelledAtTheEndHasWaitedSoLong) {
  Rehearsal r;
  const auto result =
      r.run("{ vus: 1, for: 100ms, grace: 200ms }", "    steps: [ { name: a, play: a, stalls: true } ]\n");
  EXPECT_EQ(step(result, "a").latency.count(), 1U);
  EXPECT_GE(step(result, "a").latency.min(), 199ms) << "the grace at least, however late it began";
}

TEST(Scheduler, WhatFinishesInTheGraceBelongsToTheCountedTime) {
  Rehearsal r;
  const auto result =
      r.run("{ vus: 1, for: 100ms, grace: 10s }", "    steps: [ { name: a, play: a, takes: 400ms } ]\n");
  EXPECT_EQ(step(result, "a").ok, 1U);
  EXPECT_GE(result.elapsed, std::chrono::milliseconds(399));
  EXPECT_LT(result.elapsed, std::chrono::seconds(9));
}

TEST(Scheduler, AStepThatStopsTheWorkflowStopsItOnEveryCore) {
  Rehearsal r;
  r.cores = 3;
  const auto result = r.run("{ vus: 3, for: 1h }",
                            "    steps: [ { name: a, play: a, takes: 1ms }, { if: vu.id == 1 && vu.iteration == 5, "
                            "then: [ { stop: workflow } ] } ]\n");
  EXPECT_LT(result.elapsed, std::chrono::seconds(30));
}

TEST(Scheduler, UniqueRowsAreUsedUpWhateverTheNumberOfCores) {
  const std::string path = temporary_file("unique_rows.csv", "n\n1\n2\n3\n4\n5\n6\n7\n");
  for (const std::uint32_t cores : {1U, 2U, 3U}) {
    Rehearsal r;
    r.cores = cores;
    r.run("{ vus: 7, iterations: 1 each }", "    steps: [ { play: \"${data.rows.n}\" } ]\n",
          "data: { rows: { csv: " + path + ", pick: unique } }\n");
    auto texts = r.journal->texts();
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(texts, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
  }
}

TEST(Scheduler, PauseStopsNewIterationsAndResumeShiftsTheSchedule) {
  Rehearsal r;
  std::size_t at_pause = 0;
  std::size_t at_resume = 0;
  base::Instant paused{};
  CommandScript script;
  script.when([&](const auto& result) { return result.iterations > 0; }, {.kind = Command::Kind::kPause});
  script.when(
      [&](const auto&) {
        if (paused == base::Instant{}) paused = base::now();
        if (at_pause == 0 && base::now() > paused + 1s) at_pause = r.journal->texts().size();
        if (base::now() < paused + 2s) return false;
        at_resume = r.journal->texts().size();
        return true;
      },
      {.kind = Command::Kind::kResume});
  r.during = std::ref(script);
  const auto began = base::now();
  const auto result = r.run("{ vus: 2, for: 1500ms }", "    steps: [ { name: a, play: a, takes: 2ms } ]\n");
  EXPECT_GT(at_pause, 0U);
  EXPECT_EQ(at_pause, at_resume);
  EXPECT_GT(result.iterations, at_resume);
  EXPECT_GE(base::now() - began, 1700ms);
}

TEST(Scheduler, PauseHoldsArrivalsBackAndLosesNone) {
  Rehearsal r;
  std::size_t at_pause = 0;
  std::size_t at_resume = 0;
  base::Instant paused{};
  CommandScript script;
  script.when([&](const auto&) { return r.journal->texts().size() > 5; }, {.kind = Command::Kind::kPause});
  script.when(
      [&](const auto&) {
        if (paused == base::Instant{}) paused = base::now();
        if (at_pause == 0 && base::now() > paused + 1s) at_pause = r.journal->texts().size();
        if (base::now() < paused + 3s) return false;
        at_resume = r.journal->texts().size();
        return true;
      },
      {.kind = Command::Kind::kResume});
  r.during = std::ref(script);
  const auto result = r.run(arrivals("400/s", "500ms", ", max_vus: 1, grace: 30s"),
                            "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
  EXPECT_EQ(at_pause, at_resume);
  EXPECT_EQ(result.arrivals, 200U);
  EXPECT_EQ(result.iterations, 200U);
  // 200 × 5 ms in one VU: a second of queue at most, and none of the pause.
  EXPECT_LT(step(result, "a").latency.max(), 3s);
}

class PausedWarmUp : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Loads, PausedWarmUp,
                         testing::Values("{ vus: 2, for: 2500ms, warm_up: 1500ms }",
                                         "{ rate: 200/s, for: 2500ms, warm_up: 1500ms, max_vus: 20 }"));

TEST_P(PausedWarmUp, StaysAWarmUpHoweverLongThePauseIs) {
  Rehearsal r;
  r.cores = 2;
  base::Instant paused{};
  CommandScript script;
  script.when([&](const auto&) { return r.journal->texts().size() > 5; }, {.kind = Command::Kind::kPause});
  script.when(
      [&](const auto&) {
        if (paused == base::Instant{}) paused = base::now();
        return base::now() >= paused + 2500ms;
      },
      {.kind = Command::Kind::kResume});
  r.during = std::ref(script);
  const auto result = r.run(GetParam(), "    steps: [ { name: a, play: a, takes: 10ms } ]\n");
  // What is left of the warm-up follows the pause; if that ended it, nearly all would count, and the pause with it.
  EXPECT_GT(step(result, "a").ok, 0U);
  EXPECT_LT(step(result, "a").ok, r.journal->texts().size() * 4 / 5);
  EXPECT_EQ(result.iterations, step(result, "a").ok);
  EXPECT_GE(result.began, 3s);
  EXPECT_LT(result.elapsed, 2s);
  std::uint64_t in_series = 0;
  for (const auto& second : result.series) in_series += second.iterations;
  EXPECT_EQ(in_series, result.iterations);
}

TEST(Scheduler, StopDuringAPauseEndsTheRun) {
  Rehearsal r;
  CommandScript script;
  script.when([&](const auto&) { return r.journal->texts().size() > 5; }, {.kind = Command::Kind::kPause});
  script.when([](const auto&) { return true; }, {.kind = Command::Kind::kStop});
  script.when([](const auto&) { return true; }, {.kind = Command::Kind::kResume});
  r.during = std::ref(script);
  const auto result = r.run("{ vus: 2, for: 1h }", R"(
    steps: [ { name: a, play: a, takes: 2ms } ]
    stop: [ { name: bye, play: bye } ]
)");
  EXPECT_EQ(step(result, "bye").ok, 2U);
}

TEST(Scheduler, ScaleChangesTheNumberOfVus) {
  Rehearsal r;
  r.cores = 2;
  CommandScript script;
  script.when([](const auto& result) { return result.iterations > 0; }, {.kind = Command::Kind::kScale, .factor = 3});
  script.when([](const auto& result) { return result.vus == 12; }, {.kind = Command::Kind::kScale, .factor = 0.5});
  script.when([](const auto& result) { return result.vus == 2; }, {.kind = Command::Kind::kStop});
  r.during = std::ref(script);
  const auto result = r.run("{ vus: 4, for: 1h }", "    steps: [ { name: a, play: a, takes: 2ms } ]\n");
  EXPECT_TRUE(script.done());
  EXPECT_EQ(calls_by_vu(*r.journal).size(), 12U);
  EXPECT_EQ(result.interrupted, 0U);
}

TEST_P(OnCores, ScalingDownLeavesAVuForTheIterationsThatAreBounded) {
  for (const bool each : {false, true}) {
    Rehearsal r;
    r.cores = GetParam();
    const std::uint64_t iterations = 40 * r.cores;
    CommandScript script;
    script.when([&](const auto&) { return !r.journal->texts().empty(); },
                {.kind = Command::Kind::kScale, .factor = 0.1});
    r.during = std::ref(script);
    const std::string vus = "{ vus: " + std::to_string(r.cores) + ", iterations: ";
    const auto result = r.run(vus + (each ? "40 each }" : std::to_string(iterations) + " }"),
                              "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
    EXPECT_TRUE(script.done());
    EXPECT_EQ(result.iterations, iterations) << (each ? "each" : "shared");
    EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  }
}

TEST(Scheduler, IterationsOfVusThatScalingTakesAwayAreToldAsUndone) {
  Rehearsal r;
  CommandScript script;
  script.when([&](const auto&) { return !r.journal->texts().empty(); }, {.kind = Command::Kind::kScale, .factor = 0.5});
  r.during = std::ref(script);
  const auto result = r.run("{ vus: 4, iterations: 40 each }", "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
  EXPECT_TRUE(script.done());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0].first, kIterationsWithoutVu);
  EXPECT_GT(result.notes[0].second, 0U);
  EXPECT_EQ(result.iterations + result.notes[0].second, 160U);
}

TEST(Scheduler, NobodyTakesThePlaceOfAVuThatHasRunItsIterations) {
  for (const Command& command :
       {Command{.kind = Command::Kind::kResume}, {.kind = Command::Kind::kScale, .factor = 1}}) {
    for (const char* load : {"{ vus: 2, iterations: 3 each }", "{ vus: 2, iterations: 4 }"}) {
      Rehearsal r;
      CommandScript script;
      // The first VU is through while the second is in its first iteration, or no iteration is left for it.
      script.when([&](const auto& result) { return result.iterations >= 3 && result.vus == 1; },
                  {.kind = Command::Kind::kPause});
      script.when([](const auto&) { return true; }, command);
      if (command.kind == Command::Kind::kScale)
        script.when([](const auto&) { return true; }, {.kind = Command::Kind::kResume});
      r.during = std::ref(script);
      const auto result = r.run(load, R"(
    start: [ { name: s, play: s } ]
    steps:
      - if: vu.id == 2
        then: [ { name: slow, play: slow, takes: 2s } ]
      - { name: a, play: a }
)");
      EXPECT_TRUE(script.done()) << load;
      EXPECT_EQ(r.journal->count("s"), 2U) << load;
      EXPECT_EQ(result.iterations, std::string(load).contains("each") ? 6U : 4U) << load;
    }
  }
}

TEST(Scheduler, ABoundedLoadThatIsScaledDownBeforeItBeginsIsRunAllTheSame) {
  Rehearsal r;
  r.cores = 2;
  bool told = false;
  r.during = [&](Runner& runner, const model::WorkflowResult&) {
    if (!told) runner.command({.kind = Command::Kind::kScale, .factor = 0});
    told = true;
  };
  EXPECT_EQ(r.run("{ vus: 2, iterations: 20 }", "    steps: [ { name: a, play: a, takes: 5ms } ]\n").iterations, 20U);
}

TEST(Scheduler, ScaleChangesTheRate) {
  Rehearsal r;
  CommandScript script;
  script.when([&](const auto&) { return !r.journal->texts().empty(); }, {.kind = Command::Kind::kScale, .factor = 5});
  r.during = std::ref(script);
  const auto result = r.run(arrivals("100/s", "2s", ", max_vus: 50"), kOneStep);
  EXPECT_GT(result.arrivals, 300U);
  EXPECT_LE(result.arrivals, 1001U);
  EXPECT_EQ(result.arrivals, result.iterations + result.dropped);
}

TEST(Scheduler, AVuThatStoppedItselfDoesNotUpsetTheCountOfTheOthers) {
  Rehearsal r;
  const auto result = r.run("{ vus: [ { to: 4, over: 100ms }, { hold: 200ms }, { to: 0, over: 100ms } ] }", R"(
    steps:
      - { name: a, play: a, takes: 1ms }
      - if: vu.id == 1
        then: [ { stop: vu } ]
)");
  EXPECT_LE(result.peak_vus, 4U);
  EXPECT_EQ(result.vus, 0U);
  EXPECT_EQ(result.interrupted, 0U);
}

TEST(Scheduler, ARunEndsWhenAllItsVusStoppedThemselves) {
  Rehearsal r;
  const auto result = r.run("{ vus: 3, for: 1h }", R"(
    steps:
      - { name: a, play: a }
      - { stop: vu }
)");
  EXPECT_EQ(result.iterations, 3U);
}

TEST(Scheduler, AStartThatStopsItsVuOrTheWorkflowIsFollowedByNoIteration) {
  for (const std::string& load : {arrivals("100/s", "100ms", ", max_vus: 5"), std::string("{ vus: 2, for: 100ms }")}) {
    for (const std::string scope : {"vu", "workflow"}) {
      Rehearsal r;
      const auto result = r.run(load, "    start: [ { name: login, play: login }, { stop: " + scope + R"( } ]
    steps: [ { name: a, play: a } ]
    stop: [ { name: bye, play: bye } ]
)");
      EXPECT_GT(step(result, "login").ok, 0U) << load << scope;
      EXPECT_EQ(step(result, "a").ok, 0U) << load << scope;
      EXPECT_EQ(step(result, "bye").ok, step(result, "login").ok) << load << scope;
      EXPECT_EQ(result.dropped, result.arrivals) << load << scope;
    }
  }
}

TEST(Scheduler, ManyVusOnOneCoreAllRun) {
  Rehearsal r;
  const auto result = r.run("{ vus: 20000, iterations: 1 each }", R"(
    steps:
      - think: 1ms..50ms
      - { name: a, play: a }
)");
  EXPECT_EQ(result.iterations, 20000U);
  EXPECT_EQ(result.peak_vus, 20000U);
}

TEST(Engine, DestroyedWhileItRunsEndsItsThreads) {
  Rehearsal r;
  const auto job =
      r.job("muster: 1\nworkflows: [ { name: w, load: { vus: 2, for: 1h }, steps: [ { play: a, takes: 1ms } ] } ]");
  std::atomic<int> calls = 0;
  const TraceSink count = [&](const StepTrace&) { ++calls; };
  auto engine = Engine::make(
      {.job = &job, .workflow = &job.workflows.front(), .cores = 2, .seed = 1, .received = {}, .trace = count},
      r.registry);
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE((*engine)->start());
  // More calls than fit into two intervals, without a poll: each core has a set handed over that nobody takes.
  while (calls < 1200) std::this_thread::yield();
  engine->reset();
}

TEST(Engine, TellsWhatIsWrongBeforeTheClockStarts) {
  Rehearsal r;
  model::Job job = r.job("muster: 1\nworkflows: [ { name: w, load: { vus: 1, for: 1s }, steps: [ { play: a } ] } ]");
  job.workflows[0].load.vus = 0;
  auto engine = Engine::make(
      {.job = &job, .workflow = &job.workflows.front(), .cores = 1, .seed = 1, .received = {}, .trace = {}},
      r.registry);
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("'vus' is 0"));
}

}  // namespace
}  // namespace muster::engine
