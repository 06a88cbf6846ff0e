// What a job will do, worked out without doing it: the same layers, batches, split and compiled requests as in a run,
// beside estimates and warnings. For `muster explain`. Plain values over a job that must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/engine.h"
#include "engine/split.h"
#include "model/job.h"

namespace muster::console {

// Two ends of what is not known exactly; `most` may be infinite.
struct Bounds {
  double least = 0;
  double most = 0;
};

struct PlannedCall {
  std::string step;             // its name
  engine::CallOutline outline;  // secrets taken out
};

struct PlannedWorkflow {
  const model::Workflow* workflow = nullptr;
  std::unique_ptr<engine::Program> program;
  std::unique_ptr<engine::LoadShape> shape;
  std::size_t layer = 0;
  std::size_t batch = 0;             // within the layer
  std::vector<engine::Slice> cores;  // what each core runs
  std::vector<PlannedCall> calls;
  std::optional<double> iterations;  // in all; open: arrivals; nothing: as many as the server allows in the time
  Bounds requests;                   // of one iteration; of a scripted workflow nothing is known
  double most_requests = 0;          // of the whole run; infinite: not known
  double most_checks = 0;            // likewise
  Bounds thinking;                   // seconds of one iteration
  std::uint64_t memory = 0;          // bytes at the peak, estimated
};

struct PlannedThreshold {
  const model::Threshold* threshold = nullptr;
  std::string problem;  // why it can never be judged; empty: it can
};

struct JobPlan {
  const model::Job* job = nullptr;
  std::uint32_t pool = 1;                  // cores
  std::vector<PlannedWorkflow> workflows;  // in the job's order
  // Positions in `workflows`: layers one after the other, of batches one after the other.
  std::vector<std::vector<std::vector<std::size_t>>> layers;
  std::vector<std::string> shortages;  // layers that the cores do not hold at once, a sentence each; among the warnings
  std::vector<PlannedThreshold> thresholds;
  base::Duration length{};   // graces left out; Duration::max(): nothing but iterations bounds it
  std::uint64_t memory = 0;  // of the batch that takes most
  std::vector<std::string> warnings;
};

struct PlanOptions {
  std::uint32_t cores = 1;
  std::uint64_t open_files = 0;  // that a process may have; 0: not known
};

// `job` outlives the plan. Errors are the user's to mend.
base::Expected<JobPlan> make_plan(const model::Job& job, const engine::Registry& registry, const PlanOptions& options);

// What is likely not meant, a sentence each.
std::vector<std::string> plan_warnings(const JobPlan& plan, const PlanOptions& options);

struct PlanText {
  bool colour = false;
  std::size_t columns = 80;
  std::size_t bytes = 400;  // of each request that are shown
};

std::string plan_text(const JobPlan& plan, const model::StepKinds& kinds, const PlanText& options);
std::string plan_json(const JobPlan& plan, const model::StepKinds& kinds);

}  // namespace muster::console
