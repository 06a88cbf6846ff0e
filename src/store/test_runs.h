// Small made-up runs for the tests of this room.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "model/result.h"
#include "store/run_record.h"

namespace muster::store::test {

inline model::RunResult small_run(std::string job, std::uint64_t seed) {
  base::Random random(seed);
  model::RunResult run;
  run.job = std::move(job);
  run.version = "0.1.0";
  run.seed = seed;
  run.started = std::chrono::seconds(1'763'164'800);
  run.elapsed = std::chrono::seconds(3);
  run.reason = "the run was completed";
  model::WorkflowResult workflow;
  workflow.name = "browse";
  workflow.state = model::WorkflowState::kCompleted;
  workflow.elapsed = run.elapsed;
  model::StepResult step;
  step.name = "GET /";
  step.kind = "http";
  for (std::uint32_t second = 0; second != 3; ++second) {
    model::StepSecond row;
    row.second = second;
    row.ok = 50;
    for (int i = 0; i != 50; ++i) {
      const base::Duration latency(static_cast<std::int64_t>(1'000'000 + random.below(9'000'000)));
      row.latency.record(latency);
      step.latency.record(latency);
    }
    step.ok += row.ok;
    step.series.push_back(std::move(row));
  }
  workflow.steps.push_back(std::move(step));
  run.workflows.push_back(std::move(workflow));
  return run;
}

inline RunRecord record_of(const model::RunResult& run) {
  RunRecord record;
  record.started = run.started;
  record.elapsed = run.elapsed;
  record.job = run.job;
  record.version = run.version;
  record.verdict = run.verdict;
  record.exit_code = run.exit_code;
  record.requests = 150;
  record.rate = 50;
  record.p50 = std::chrono::milliseconds(5);
  record.p95 = std::chrono::milliseconds(9);
  record.p99 = std::chrono::milliseconds(10);
  return record;
}

}  // namespace muster::store::test
