#include "console/plan.h"

#include <algorithm>
#include <limits>

#include "console/plan_estimates.h"
#include "engine/measure.h"
#include "engine/provisioner.h"
#include "engine/recording.h"
#include "engine/redaction.h"

namespace muster::console {
namespace {

std::optional<double> iterations_of(const engine::LoadShape& shape) {
  const engine::IterationBound bound = shape.iterations();
  switch (bound.of) {
    case engine::IterationBound::Of::kWorkflow:
      return static_cast<double>(bound.count);
    case engine::IterationBound::Of::kEachVu:
      return static_cast<double>(bound.count) * static_cast<double>(shape.peak_vus());
    case engine::IterationBound::Of::kNothing:
      break;
  }
  if (shape.open()) return arrivals_of(shape);
  return std::nullopt;
}

std::vector<PlannedCall> calls_of(const engine::Program& program) {
  std::vector<PlannedCall> calls;
  for (const engine::CallPlan& plan : program.calls) {
    PlannedCall call{.step = program.steps[plan.step].name, .outline = plan.prepared->outline()};
    for (authoring::TextPiece& piece : call.outline.wire) {
      engine::mask_basic_credentials(piece.text);
      engine::redact(piece.text, program.secrets);
    }
    engine::redact(call.outline.connections, program.secrets);
    calls.push_back(std::move(call));
  }
  return calls;
}

// The most that a run can count of what `count` counts in a list of steps.
template <class Count>
double most_of(const PlannedWorkflow& planned, Count count) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const model::Workflow& workflow = *planned.workflow;
  if (!planned.iterations || workflow.scripted) return kUnknown;
  const double of_vu = count(workflow.start).most + count(workflow.stop).most;
  const double of_iteration = count(workflow.steps).most;
  const auto times = [](double each, double number) { return each == 0 ? 0 : each * number; };
  // A VU that takes the place of another begins anew, but not without an iteration.
  return times(of_iteration, *planned.iterations) +
         times(of_vu, *planned.iterations + static_cast<double>(planned.shape->peak_vus()));
}

base::Expected<PlannedWorkflow> planned(const model::Job& job, const model::Workflow& workflow,
                                        const engine::Registry& registry) {
  PlannedWorkflow made;
  made.workflow = &workflow;
  const auto index = static_cast<std::uint64_t>(&workflow - job.workflows.data());
  auto program =
      engine::compile(job, workflow, registry.kinds, registry.protocols, {}, engine::seed_of(job.seed, index));
  if (!program) return std::unexpected(program.error());
  auto shape = registry.shapes.make(workflow.load);
  if (!shape) return std::unexpected(shape.error());
  made.program = std::move(*program);
  made.shape = std::move(*shape);
  made.program->open = made.shape->open();
  made.calls = calls_of(*made.program);
  made.iterations = iterations_of(*made.shape);
  if (workflow.scripted) {
    made.requests.most = made.thinking.most = std::numeric_limits<double>::infinity();
  } else {
    made.requests = requests_of(workflow.steps, registry.kinds);
    made.thinking = thinking_of(workflow.steps);
  }
  made.most_requests = most_of(made, [&](const auto& steps) { return requests_of(steps, registry.kinds); });
  made.most_checks = most_of(made, checks_of);
  return made;
}

// As JobRun does: layers by `depends`, then batches that fit the cores.
base::Expected<void> place(JobPlan& plan) {
  std::vector<engine::Dependent> dependents;
  for (const PlannedWorkflow& each : plan.workflows) {
    dependents.push_back({.name = each.workflow->name, .depends = each.workflow->depends});
  }
  const auto ordered = engine::layers(dependents);
  if (!ordered) return std::unexpected(ordered.error());
  for (const std::vector<std::size_t>& layer : *ordered) {
    std::vector<engine::Candidate> candidates;
    for (const std::size_t index : layer) {
      const PlannedWorkflow& each = plan.workflows[index];
      candidates.push_back({.name = each.workflow->name,
                            .priority = each.workflow->priority,
                            .is_test = each.program->test,
                            .vus = std::max<std::uint64_t>(1, each.shape->peak_vus())});
    }
    if (const auto lacking = engine::shortage(candidates, plan.pool)) {
      plan.shortages.push_back(to_text(*lacking, engine::Tense::kWill));
    }
    auto& batches = plan.layers.emplace_back();
    for (const engine::Batch& batch : engine::provision(candidates, plan.pool)) {
      auto& members = batches.emplace_back();
      for (const engine::Placement& placement : batch) {
        PlannedWorkflow& each = plan.workflows[layer[placement.workflow]];
        const engine::IterationBound bound = each.shape->iterations();
        const std::uint64_t shared = bound.of == engine::IterationBound::Of::kWorkflow ? bound.count : 0;
        each.layer = plan.layers.size() - 1;
        each.batch = batches.size() - 1;
        each.cores = engine::split(std::max<std::uint64_t>(1, each.shape->peak_vus()), shared, placement.cores);
        each.memory = memory_of(each);
        members.push_back(layer[placement.workflow]);
      }
    }
  }
  return {};
}

void add_up(JobPlan& plan) {
  for (const auto& layer : plan.layers) {
    for (const std::vector<std::size_t>& batch : layer) {
      base::Duration longest{};
      std::uint64_t memory = 0;
      for (const std::size_t index : batch) {
        const PlannedWorkflow& each = plan.workflows[index];
        const auto& timeout = each.workflow->timeout;
        longest = std::max(longest, timeout ? std::min(*timeout, each.shape->length()) : each.shape->length());
        memory += each.memory;
      }
      const bool endless = longest == base::Duration::max() || plan.length == base::Duration::max();
      plan.length = endless ? base::Duration::max() : plan.length + longest;
      plan.memory = std::max(plan.memory, memory);
    }
  }
  if (plan.job->timeout) plan.length = std::min(plan.length, *plan.job->timeout);
}

// Whether some step gives a tag of the threshold's `where` a value that only a run can tell.
bool tagged_at_run_time(const model::Threshold& threshold, const JobPlan& plan) {
  for (const auto& [name, value] : threshold.where) {
    for (const PlannedWorkflow& workflow : plan.workflows) {
      for (const engine::CallPlan& call : workflow.program->calls) {
        if (std::ranges::any_of(call.tags, [&](const engine::CompiledTag& tag) { return tag.name == name; }))
          return true;
      }
    }
  }
  return false;
}

// What the judge would say of a run that recorded nothing: only what can never be judged has a problem then.
void judge_thresholds(JobPlan& plan) {
  std::vector<model::WorkflowResult> nothing;
  for (const PlannedWorkflow& each : plan.workflows) nothing.push_back(engine::Collector(*each.program, 1).totals());
  for (const model::Threshold& threshold : plan.job->thresholds) {
    PlannedThreshold judged{.threshold = &threshold, .problem = {}};
    if (const auto possible = engine::judgeable(threshold); !possible) {
      judged.problem = possible.error().message;
    } else if (!tagged_at_run_time(threshold, plan)) {
      judged.problem = engine::measure(threshold, nothing, std::nullopt).problem;
    }
    plan.thresholds.push_back(std::move(judged));
  }
}

}  // namespace

base::Expected<JobPlan> make_plan(const model::Job& job, const engine::Registry& registry, const PlanOptions& options) {
  JobPlan plan;
  plan.job = &job;
  plan.pool = std::max<std::uint32_t>(1, options.cores);
  for (const model::Workflow& workflow : job.workflows) {
    auto made = planned(job, workflow, registry);
    if (!made) return std::unexpected(made.error());
    plan.workflows.push_back(std::move(*made));
  }
  if (auto placed = place(plan); !placed) return std::unexpected(placed.error());
  add_up(plan);
  judge_thresholds(plan);
  plan.warnings = plan_warnings(plan, options);
  return plan;
}

}  // namespace muster::console
