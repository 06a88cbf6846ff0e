#include "console/screen/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "report/figures.h"

namespace muster::console {
namespace {

std::string amount(double value, bool open) {
  if (open) return report::short_rate(value) + "/s";
  const auto vus = static_cast<std::uint64_t>(std::max(value, 0.0));
  return fmt::format("{} VU{}", report::grouped(vus), vus == 1 ? "" : "s");
}

std::vector<StagePlan> stages_of(const model::Load& load) {
  std::vector<StagePlan> stages;
  base::Duration end{};
  double before = load.open() ? load.rate : 0;
  for (const model::Stage& stage : load.stages) {
    end += stage.over;
    const bool hold = !stages.empty() && std::abs(stage.to - before) < 1e-9;
    if (stage.over > base::Duration::zero()) {
      stages.push_back({end, fmt::format("{} {}", hold ? "hold" : "to", amount(stage.to, load.open()))});
    }
    before = stage.to;
  }
  return stages;
}

// Without user and password: a screen is seen by others.
std::string shown_address(std::string address) {
  const std::size_t scheme = address.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t end = address.find_first_of("/?#", begin);
  const std::size_t at = address.substr(0, end).rfind('@');
  if (at != std::string::npos && at >= begin) address.erase(begin, at + 1 - begin);
  return address;
}

std::string load_text(const model::Load& load) {
  if (!load.stages.empty()) return {};
  return amount(load.open() ? load.rate : static_cast<double>(load.vus), load.open());
}

}  // namespace

RunPlan run_plan(const model::Job& job, const engine::LoadShapes& shapes, std::vector<std::vector<std::size_t>> turns) {
  RunPlan plan;
  plan.job = job.name;
  plan.turns = std::move(turns);
  for (const model::Target& target : job.targets) {
    if (target.name.empty()) plan.target = shown_address(target.address);
  }
  for (const model::Workflow& workflow : job.workflows) {
    WorkflowPlan one;
    one.name = workflow.name;
    one.warm_up = workflow.load.warm_up;
    one.stages = stages_of(workflow.load);
    one.load = load_text(workflow.load);
    if (const auto shape = shapes.make(workflow.load)) {
      if ((*shape)->length() != base::Duration::max()) one.length = (*shape)->length();
      const engine::IterationBound bound = (*shape)->iterations();
      if (bound.of == engine::IterationBound::Of::kWorkflow) one.iterations = bound.count;
      if (bound.of == engine::IterationBound::Of::kEachVu) one.iterations = bound.count * (*shape)->peak_vus();
    }
    plan.workflows.push_back(std::move(one));
  }
  return plan;
}

}  // namespace muster::console
