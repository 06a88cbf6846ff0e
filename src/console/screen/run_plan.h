// What is known of a run before it begins, as far as a screen tells it: how long each workflow is meant to take, in
// stages or iterations, and what waits for what. Plain values, made once from the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/load_shape.h"
#include "model/job.h"

namespace muster::console {

struct StagePlan {
  base::Duration end{};  // since the workflow's start
  std::string text;      // "to 100 VUs", "hold 500/s"
};

struct WorkflowPlan {
  std::string name;
  std::optional<base::Duration> length;     // of the load, warm-up included; nothing: only iterations bound it
  std::optional<std::uint64_t> iterations;  // in all
  std::vector<StagePlan> stages;            // ramping shapes
  std::string load;                         // "100 VUs", "200/s"; empty where stages tell it
  base::Duration warm_up{};
};

struct RunPlan {
  std::string job;
  std::string target;  // address of the default target; empty if there is none
  std::vector<WorkflowPlan> workflows;
  // Indexes of those that run together, one turn after the other: by what they depend on and what the cores hold.
  std::vector<std::vector<std::size_t>> turns;
};

RunPlan run_plan(const model::Job& job, const engine::LoadShapes& shapes, std::vector<std::vector<std::size_t>> turns);

}  // namespace muster::console
