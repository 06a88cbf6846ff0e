#include "model/run_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/random.h"
#include "model/bytes_fixture.h"
#include "model/options.h"

namespace muster::model {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

RunResult example(std::uint64_t seed) {
  base::Random random(seed);
  RunResult run;
  run.job = "shop";
  run.version = "0.1.0";
  run.seed = random.next() >> 1U;
  run.started = 1'700'000'000'250ms;
  run.elapsed = 30s;
  run.verdict = static_cast<Verdict>(random.below(4));
  run.exit_code = 99;
  run.reason = "2 of 4 thresholds failed";
  for (const char* name : {"login", "browse"}) {
    WorkflowResult workflow;
    workflow.name = name;
    workflow.state = WorkflowState::kCompleted;
    workflow.elapsed = 30s;
    StepResult step;
    step.name = "GET /";
    step.kind = "http";
    for (std::uint32_t second = 0; second != 5; ++second) {
      StepSecond row;
      row.second = second;
      row.ok = 100;
      for (int i = 0; i != 100; ++i) {
        const base::Duration latency(static_cast<std::int64_t>(random.below(50'000'000)));
        row.latency.record(latency);
        step.latency.record(latency);
      }
      step.series.push_back(std::move(row));
    }
    step.ok = 500;
    workflow.steps.push_back(std::move(step));
    run.workflows.push_back(std::move(workflow));
  }
  ThresholdVerdict failed;
  failed.text = "latency p95 < 300ms";
  failed.where = "step=login";
  failed.window = 10s;
  failed.value = 0.481;
  failed.samples = 1000;
  failed.judged = true;
  failed.passed = false;
  failed.aborted = true;
  failed.failed_at = 12s;
  run.thresholds = {failed, {}};
  run.marks = {{"late", "the schedule was missed"}};
  return run;
}

RC_GTEST_PROP(RunCodec, DecodingIsTheInverseOfEncoding, ()) {
  const RunResult run = example(*rc::gen::arbitrary<std::uint64_t>());
  const std::string bytes = bytes_of(run);
  const auto decoded = decode_run_result(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(bytes_of(*decoded) == bytes);
  RC_ASSERT(decoded->job == "shop");
  RC_ASSERT(decoded->seed == run.seed);
  RC_ASSERT(decoded->verdict == run.verdict);
  RC_ASSERT(decoded->exit_code == 99);
  RC_ASSERT(decoded->workflows.size() == 2u);
  RC_ASSERT(decoded->workflows[1].steps[0].latency == run.workflows[1].steps[0].latency);
  RC_ASSERT(decoded->workflows[1].steps[0].series.size() == 5u);
  RC_ASSERT(decoded->thresholds[0].failed_at == 12s);
  RC_ASSERT(decoded->thresholds[0].window == 10s);
  RC_ASSERT(decoded->marks[0].id == "late");
}

RC_GTEST_PROP(RunCodec, ADamagedEncodingIsRefusedOrDecodesToItself, ()) {
  std::string bytes = bytes_of(example(7));
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  if (const auto decoded = decode_run_result(bytes)) RC_ASSERT(bytes_of(*decoded) == bytes);
}

TEST(RunCodec, NoPrefixDecodes) {
  const std::string bytes = bytes_of(example(1));
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    ASSERT_FALSE(decode_run_result(std::string_view(bytes).substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(decode_run_result(bytes + "x").has_value());
}

TEST(RunCodec, LeavesOutWhatWorkflowsProvidedToEachOther) {
  RunResult run = example(1);
  const std::string without = bytes_of(run);
  run.workflows[0].provided = {{"token", false, false, 1, {"\"hunter2\""}, 5}};
  EXPECT_EQ(bytes_of(run), without);
}

TEST(RunCodec, SaysWhichVersionItFound) {
  std::string bytes = bytes_of(example(1));
  bytes[0] = 42;
  EXPECT_THAT(decode_run_result(bytes).error().message, HasSubstr("version is 42, known is 1"));
}

TEST(RunCodec, CutsTextsThatNobodyWouldRead) {
  RunResult run = example(1);
  run.reason.assign(kMaxResultText + 10, 'x');
  run.thresholds[0].value = std::nan("");
  const auto decoded = decode_run_result(bytes_of(run));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->reason.size(), kMaxResultText);
  EXPECT_EQ(decoded->thresholds[0].value, 0);
}

}  // namespace
}  // namespace muster::model
