// A whole run against executors that do not do as they are told.
#include "engine/job_run.h"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <set>

#include "engine/only_child.h"
#include "engine/rehearsal.h"

namespace muster::engine {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kEndless = R"yaml(muster: 1
workflows:
  - name: w
    load: { vus: 2, for: 1h, grace: 50ms }
    steps: [ { name: a, play: a, takes: 5ms } ]
)yaml";

// Runs a workflow until it has done something, stops its executor as a debugger would, and calls `then`.
model::RunResult with_a_frozen_executor(const JobOptions& options, const std::function<void(JobRun&)>& then) {
  Rehearsal r;
  bool frozen = false;
  const auto result = r.run_layers(kEndless, options, [&](JobRun& run) {
    if (frozen || run.result().workflows[0].iterations == 0) return;
    EXPECT_EQ(kill(only_child(), SIGSTOP), 0);
    frozen = true;
    then(run);
  });
  EXPECT_TRUE(frozen);
  EXPECT_EQ(only_child(), -1) << "it was killed";
  return result;
}

TEST(JobRun, AnExecutorThatDoesNotEndAfterItsGraceIsKilledAndLost) {
  const auto result = with_a_frozen_executor({.stop_margin = 100ms, .trace = {}}, [](JobRun& run) {
    run.interrupted();
    run.stop("interrupted");
  });
  const model::WorkflowResult& workflow = result.workflows[0];
  EXPECT_EQ(workflow.state, model::WorkflowState::kLost);
  EXPECT_THAT(workflow.reason, HasSubstr("told to stop, had not ended 0.1 s after its grace of 0.05 s"));
  EXPECT_THAT(workflow.reason, HasSubstr("killed"));
  EXPECT_GT(workflow.iterations, 0U) << "the last snapshot is kept";
  EXPECT_EQ(result.verdict, model::Verdict::kError);
}

TEST(JobRun, UniqueRowsAndCountersAreUniqueInTheWholeRun) {
  const std::string path = temporary_file("rows_of_a_run.csv", "n\n1\n2\n3\n4\n5\n6\n");
  const std::string workflow = R"yaml(
    load: { vus: 1, iterations: 3 }
    steps: [ { set: { n: "${data.rows.n}", c: "${counter()}" } } ]
    provide: { row: { from: n, keep: all, max: 10 }, count: { from: c, keep: all, max: 10 } }
)yaml";
  for (const bool in_process : {true, false}) {
    Rehearsal r;
    const auto result = r.run_layers("muster: 1\ndata: { rows: { csv: " + path + ", pick: unique } }\nworkflows:\n" +
                                         "  - name: a" + workflow + "  - name: b" + workflow,
                                     {.cores = 2, .in_process = in_process, .trace = {}}, [](JobRun&) {});
    for (const char* key : {"row", "count"}) {
      std::set<std::string> seen;
      for (const auto& each : result.workflows) {
        for (const auto& provided : each.provided) {
          if (provided.key == key) seen.insert(provided.values.begin(), provided.values.end());
        }
      }
      EXPECT_EQ(seen.size(), 6U) << key;
    }
  }
}

TEST(JobRun, IterationsThatForLeavesUndoneAreTold) {
  for (const std::string load : {"{ vus: 4, iterations: 1000", "{ vus: 4, iterations: 250 each"}) {
    Rehearsal r;
    const auto result = r.run_layers("muster: 1\nworkflows:\n  - name: w\n    load: " + load +
                                         ", for: 60ms }\n    steps: [ { name: a, play: a, takes: 10ms } ]\n",
                                     {.cores = 2, .in_process = true, .trace = {}}, [](JobRun&) {});
    ASSERT_EQ(result.workflows[0].notes.size(), 1U) << load;
    const std::uint64_t begun = result.workflows[0].iterations + result.workflows[0].interrupted;
    EXPECT_EQ(result.workflows[0].notes[0].first,
              "ended by `for` after " + std::to_string(begun) + " of 1,000 iterations");
    EXPECT_EQ(result.workflows[0].notes[0].second, 1U);
    EXPECT_THAT(result.reason, HasSubstr("the run was ended by `for` after "));
    EXPECT_EQ(result.verdict, model::Verdict::kPassed);
  }
}

TEST(JobRun, IterationsThatNoVuWasLeftToRunAreToldAndMarked) {
  const std::string ends =
      "    steps: [ { name: a, play: a }, { if: vu.id == 1 and iteration == 3, then: [ { stop: vu } ] } ]\n";
  const std::string fails =
      "    start: [ { name: login, play: login, fails: '${vu.id == 1}' } ]\n    steps: [ { name: a, play: a } ]\n";
  for (const auto& [rest, undone] : {std::pair(ends, "46"), std::pair(fails, "50")}) {
    Rehearsal r;
    const auto result =
        r.run_layers("muster: 1\nworkflows:\n  - name: w\n    load: { vus: 2, iterations: 100 }\n" + rest,
                     {.cores = 2, .in_process = true, .trace = {}}, [](JobRun&) {});
    const std::string told =
        std::string("ended with ") + undone + " of 100 iterations undone: no VU was left to run them";
    EXPECT_EQ(result.reason, "the run " + told);
    ASSERT_FALSE(result.marks.empty());
    EXPECT_EQ(result.marks.back().id, "undone");
    EXPECT_THAT(result.marks.back().text, HasSubstr(told));
    EXPECT_THAT(result.marks.back().text, HasSubstr("--cores 1"));
  }
}

TEST(JobRun, IterationsThatAStopOfTheWorkflowLeavesUndoneNeedNoNote) {
  Rehearsal r;
  const auto result = r.run_layers(R"yaml(muster: 1
workflows:
  - name: w
    load: { vus: 1, iterations: 100 }
    steps: [ { name: a, play: a }, { stop: workflow } ]
)yaml");
  EXPECT_TRUE(result.workflows[0].notes.empty());
  EXPECT_EQ(result.reason, "the run was completed");
}

TEST(JobRun, UsersThatAllFailInStartFailTheRunWhateverItsLoad) {
  for (const std::string load : {"vus: 4, for: 30s", "vus: 4, iterations: 8", "rate: 50/s, for: 200ms, max_vus: 4"}) {
    Rehearsal r;
    const auto result = r.run_layers("muster: 1\nworkflows:\n  - name: w\n    load: { " + load + R"yaml( }
    start: [ { name: home, play: home }, { name: login, play: login, fails: status } ]
    steps: [ { name: a, play: a } ]
)yaml",
                                     {.cores = 2, .in_process = true, .trace = {}}, [](JobRun&) {});
    EXPECT_EQ(result.verdict, model::Verdict::kFailed) << load;
    EXPECT_EQ(result.exit_code, 99) << load;
    EXPECT_THAT(result.reason, load.starts_with("vus") ? HasSubstr("no iteration ran: the `start` steps of all 4 VUs")
                                                       : HasSubstr("no iteration ran: `start` failed all "));
    ASSERT_FALSE(result.marks.empty()) << load;
    EXPECT_EQ(result.marks[0].id, "start") << load;
    for (const model::Mark& mark : result.marks) EXPECT_NE(mark.id, "undone") << load;
  }
}

TEST(JobRun, DependentsOfAWorkflowWhoseUsersAllFailedInStartAreSkipped) {
  Rehearsal r;
  const auto result = r.run_layers(R"yaml(muster: 1
workflows:
  - name: make
    load: { vus: 2, iterations: 4 }
    start: [ { name: home, play: home }, { name: login, play: login, fails: status } ]
    steps: [ { name: a, play: a } ]
  - name: take
    depends: [make]
    steps: [ { name: b, play: b } ]
)yaml");
  EXPECT_EQ(result.workflows[1].state, model::WorkflowState::kSkipped);
  EXPECT_EQ(r.journal->count("b"), 0U);
  EXPECT_EQ(result.reason, "no iteration of workflow 'make' ran: the `start` steps of all 2 VUs failed");
  EXPECT_EQ(result.exit_code, 99);
}

TEST(JobRun, IterationsThatAreDoneBeforeForIsOverNeedNoNote) {
  Rehearsal r;
  const auto result = r.run_layers(R"yaml(muster: 1
workflows:
  - name: w
    load: { vus: 2, iterations: 4, for: 30s }
    steps: [ { name: a, play: a } ]
)yaml");
  EXPECT_TRUE(result.workflows[0].notes.empty());
  EXPECT_EQ(result.reason, "the run was completed");
}

TEST(JobRun, AnExecutorThatDoesNotEndAfterItsOwnLoadIsKilledAndLost) {
  Rehearsal r;
  bool frozen = false;
  const auto result = r.run_layers(R"yaml(muster: 1
workflows:
  - name: w
    load: { vus: 1, for: 300ms, grace: 50ms }
    steps: [ { name: a, play: a, takes: 5ms } ]
)yaml",
                                   {.stop_margin = 100ms, .trace = {}}, [&](JobRun& run) {
                                     // It has begun, and need not have counted anything yet.
                                     if (frozen || run.result().workflows[0].steps.empty()) return;
                                     EXPECT_EQ(kill(only_child(), SIGSTOP), 0);
                                     frozen = true;
                                   });
  EXPECT_EQ(result.workflows[0].state, model::WorkflowState::kLost);
  EXPECT_THAT(result.workflows[0].reason,
              HasSubstr("it should have come to the end of its load, had not ended 0.1 s after its grace"));
}

TEST(JobRun, AnExecutorThatGivesNoSignOfLifeIsKilledAndLost) {
  const auto result = with_a_frozen_executor({.silence_limit = 600ms, .trace = {}}, [](JobRun&) {});
  const model::WorkflowResult& workflow = result.workflows[0];
  EXPECT_EQ(workflow.state, model::WorkflowState::kLost);
  EXPECT_EQ(workflow.reason, "it gave no sign of life for 0.6 s and was killed");
  EXPECT_EQ(result.reason, "workflow 'w' lost its executor process: it gave no sign of life for 0.6 s and was killed");
  EXPECT_GT(workflow.iterations, 0U);
}

TEST(JobRun, AnExecutorThatTheUserAbortsIsAbortedAndNotLost) {
  const auto result = with_a_frozen_executor({.trace = {}}, [](JobRun& run) {
    run.interrupted();
    run.abort();
  });
  EXPECT_EQ(result.workflows[0].state, model::WorkflowState::kAborted);
  EXPECT_EQ(result.verdict, model::Verdict::kInterrupted);
  ASSERT_EQ(result.marks.size(), 1u) << "what it did after its last snapshot is not counted";
  EXPECT_EQ(result.marks[0].id, "lost");
  EXPECT_THAT(result.marks[0].text, HasSubstr("lost: its executor process did not answer and was killed; what came"));
}

TEST(JobRun, WorkflowsThatAThresholdEndedAreAborted) {
  for (const bool in_process : {true, false}) {
    Rehearsal r;
    const auto result = r.run_layers(R"yaml(muster: 1
thresholds: [ { that: failed count < 1, abort: true } ]
workflows:
  - name: quick
    load: { vus: 1, iterations: 1 }
    steps: [ { name: a, play: a } ]
  - name: endless
    depends: [quick]
    load: { vus: 1, for: 1h, grace: 50ms }
    steps: [ { name: b, play: b, takes: 5ms, fails: status } ]
)yaml",
                                     {.cores = 2, .in_process = in_process, .trace = {}}, [](JobRun&) {});
    EXPECT_EQ(result.workflows[0].state, model::WorkflowState::kCompleted);
    EXPECT_EQ(result.workflows[1].state, model::WorkflowState::kAborted);
    EXPECT_EQ(result.workflows[1].reason, "the threshold 'failed count < 1' failed and ended the run");
    EXPECT_EQ(result.verdict, model::Verdict::kFailed);
    EXPECT_EQ(result.exit_code, 99);
  }
}

TEST(JobRun, ATimeOutIsToldWhereverTheWorkflowRuns) {
  for (const bool in_process : {true, false}) {
    Rehearsal r;
    const auto result = r.run_layers(R"yaml(muster: 1
workflows:
  - name: w
    load: { vus: 1, for: 1h, grace: 50ms }
    timeout: 300ms
    steps: [ { name: a, play: a, takes: 5ms } ]
)yaml",
                                     {.in_process = in_process, .trace = {}}, [](JobRun&) {});
    EXPECT_EQ(result.workflows[0].state, model::WorkflowState::kTimedOut);
    EXPECT_EQ(result.workflows[0].reason, "its timeout of 0.3 s was over");
    EXPECT_EQ(result.verdict, model::Verdict::kError);
  }
}

TEST(JobRun, APausedExecutorIsNotTakenForAWedgedOne) {
  Rehearsal r;
  int told = 0;  // to pause, then to stop
  const auto result = r.run_layers(kEndless, {.silence_limit = 700ms, .trace = {}}, [&](JobRun& run) {
    if (told == 0) {
      run.pause();
      told = 1;
    } else if (told == 1 && run.result().elapsed > 1500ms) {
      run.stop("");
      told = 2;
    }
  });
  EXPECT_EQ(result.workflows[0].state, model::WorkflowState::kCompleted);
}

TEST(JobRun, WorkflowsThatTookTurnsForLackOfCoresAreWarnedOfAndMarked) {
  const std::string rest = ", load: { vus: 1, iterations: 1 }, steps: [ { name: s, play: a, takes: 1ms } ] }\n";
  const std::string yaml = "muster: 1\nworkflows:\n  - { name: a" + rest + "  - { name: b" + rest;
  for (const std::uint32_t cores : {1U, 2U}) {
    Rehearsal r;
    std::vector<std::string> warnings;
    const auto result = r.run_layers(yaml, {.cores = cores, .in_process = true, .trace = {}},
                                     [&](JobRun& run) { warnings = run.warnings(); });
    ASSERT_EQ(warnings.size(), cores == 1 ? 1U : 0U);
    ASSERT_EQ(result.marks.size(), cores == 1 ? 1U : 0U);
    if (cores > 1) continue;
    EXPECT_THAT(warnings[0], HasSubstr("2 workflows of one layer need 2 cores"));
    EXPECT_EQ(result.marks[0].id, "batches");
    EXPECT_THAT(result.marks[0].text, HasSubstr("they ran in 2 batches, one after the other; --cores 2"));
  }
}

TEST(JobRun, APauseAndAChangeOfTheLoadByHandAreMarkedOnceAndSummedUp) {
  Rehearsal r;
  int told = 0;
  base::Duration next{};
  const auto result = r.run_layers(kEndless, {.in_process = true, .trace = {}}, [&](JobRun& run) {
    const base::Duration now = run.result().elapsed;
    if (now < next) return;
    const std::array<std::function<void()>, 8> steps = {
        [&] { run.scale(1.1); }, [&] { run.scale(1.3); }, [&] { run.scale(1.0); }, [&] { run.pause(); },
        [&] { run.resume(); },   [&] { run.pause(); },    [&] { run.pause(); },    [&] { run.stop(""); },
    };
    if (static_cast<std::size_t>(told) < steps.size()) steps[static_cast<std::size_t>(told++)]();
    next = now + (run.paused() ? 150ms : 20ms);
  });
  ASSERT_EQ(result.marks.size(), 2U);
  EXPECT_EQ(result.marks[0].id, "paused");
  // 150 ms, and twice that until the stop.
  double seconds = 0;
  ASSERT_EQ(std::sscanf(result.marks[0].text.c_str(), "the load was paused by hand for %lf s", &seconds), 1);
  EXPECT_GE(seconds, 0.4);
  EXPECT_LE(seconds, base::seconds(result.elapsed));
  EXPECT_EQ(result.marks[1].id, "scaled");
  EXPECT_THAT(result.marks[1].text, HasSubstr("up to ×1.30"));
  EXPECT_EQ(result.verdict, model::Verdict::kPassed);
}

TEST(JobRun, APauseInTheWarmUpIsInNoFigureAndMarksNothing) {
  Rehearsal r;
  bool paused = false;
  base::Duration until{};
  const std::string yaml =
      std::string(kEndless).replace(std::string(kEndless).find("vus: "), 5, "warm_up: 300ms, vus: ");
  const auto result = r.run_layers(yaml, {.in_process = true, .trace = {}}, [&](JobRun& run) {
    const base::Duration now = run.result().elapsed;
    if (!paused && run.result().workflows[0].warming_up) {
      paused = true;
      until = now + 200ms;
      run.pause();
    } else if (run.paused() && now > until) {
      run.resume();
    } else if (!run.result().workflows[0].warming_up && run.result().workflows[0].iterations > 20) {
      run.stop("");
    }
  });
  EXPECT_TRUE(paused);
  EXPECT_THAT(result.marks, testing::IsEmpty());
}

}  // namespace
}  // namespace muster::engine
