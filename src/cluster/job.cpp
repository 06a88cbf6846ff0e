#include "cluster/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cluster/options.h"

namespace muster::cluster {
namespace {

base::Expected<void> within_limits(const JobOutline& outline) {
  if (outline.workflows.empty()) return base::fail("A job needs at least one workflow.");
  if (outline.workflows.size() > kMaxWorkflows) {
    return base::fail(
        fmt::format("The job has {} workflows, at most {} are possible.", outline.workflows.size(), kMaxWorkflows));
  }
  if (outline.name.size() > kMaxName) return base::fail("The name of the job is too long.");
  if (outline.time_limit && *outline.time_limit <= base::Duration::zero()) {
    return base::fail("The time limit of the job must be above zero.");
  }
  std::size_t bytes = outline.name.size();
  std::set<std::string_view> names;
  for (const WorkflowOutline& workflow : outline.workflows) {
    if (workflow.name.size() > kMaxName) return base::fail("The name of a workflow is too long.");
    if (!names.insert(workflow.name).second) {
      return base::fail(fmt::format("Two workflows are named '{}'.", workflow.name));
    }
    if (workflow.depends.size() > kMaxDepends) {
      return base::fail(fmt::format("Workflow '{}' depends on {} others, at most {} are possible.", workflow.name,
                                    workflow.depends.size(), kMaxDepends));
    }
    if (workflow.run_limit && *workflow.run_limit <= base::Duration::zero()) {
      return base::fail(fmt::format("The time limit of workflow '{}' must be above zero.", workflow.name));
    }
    // Up to 32 bytes of numbers each, and 2 for a dependency.
    bytes += workflow.name.size() + 2 * workflow.depends.size() + 32;
    for (std::size_t i = 0; i < workflow.depends.size(); ++i) {
      const bool ascending = i == 0 || workflow.depends[i - 1] < workflow.depends[i];
      if (workflow.depends[i] >= outline.workflows.size() || !ascending) {
        return base::fail(fmt::format("Workflow '{}' depends on what is not there.", workflow.name));
      }
    }
  }
  if (bytes > kMaxOutlineBytes) {
    return base::fail("The names of the workflows and what they depend on are too long, taken together.");
  }
  return {};
}

}  // namespace

base::Expected<std::vector<std::uint32_t>> layers(const JobOutline& outline) {
  if (auto fine = within_limits(outline); !fine) return std::unexpected(fine.error());
  const std::size_t count = outline.workflows.size();
  std::vector<std::uint32_t> layer(count, 0);
  std::vector<bool> known(count, false);
  for (std::size_t found = 0; found < count;) {
    const std::size_t before = found;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& depends = outline.workflows[i].depends;
      if (known[i] || !std::ranges::all_of(depends, [&](std::uint32_t other) { return known[other]; })) continue;
      for (const std::uint32_t other : depends) layer[i] = std::max(layer[i], layer[other] + 1);
      known[i] = true;
      ++found;
    }
    if (found == before) return base::fail("Workflows depend on each other in a circle.");
  }
  return layer;
}

std::size_t most_parts(std::size_t workflows) {
  return std::min(kMaxParts, kMaxJobParts / std::max<std::size_t>(workflows, 1));
}

std::string_view to_text(JobState state) {
  static constexpr std::array<std::string_view, kJobStates> kTexts = {
      "submitted",  "classifying", "provisioning", "queued", "dispatching", "running", "completing",
      "cancelling", "completed",   "partial",      "failed", "cancelled",   "timeout"};
  return kTexts[static_cast<std::size_t>(state)];
}

bool terminal(JobState state) {
  return state >= JobState::kCompleted;
}

bool legal(JobState from, JobState to) {
  if (from == to) return true;
  if (terminal(from)) return false;
  if (to == JobState::kSubmitted) return false;
  if (from == JobState::kCancelling) {
    return to == JobState::kCancelled || to == JobState::kFailed || to == JobState::kTimeout;
  }
  if (to == JobState::kCancelling) return from != JobState::kSubmitted;
  if (from == JobState::kSubmitted) return to == JobState::kClassifying;
  if (from == JobState::kCompleting) {
    return to == JobState::kCompleted || to == JobState::kPartial || to == JobState::kFailed;
  }
  // Between classifying and completing a job goes to and fro: each layer is provisioned, may wait for cores, is
  // dispatched and runs, and a lost part takes it back. Its end always passes through completing or cancelling.
  return !terminal(to) && to != JobState::kClassifying;
}

std::string_view to_text(WorkflowState state) {
  static constexpr std::array<std::string_view, kWorkflowStates> kTexts = {
      "pending", "assigned", "running", "completed", "failed", "cancelled", "timeout", "skipped"};
  return kTexts[static_cast<std::size_t>(state)];
}

bool terminal(WorkflowState state) {
  return state >= WorkflowState::kCompleted;
}

bool legal(WorkflowState from, WorkflowState to) {
  if (from == to) return true;
  if (terminal(from) || to == WorkflowState::kPending) return false;
  if (from == WorkflowState::kPending) {
    return to == WorkflowState::kAssigned || to == WorkflowState::kSkipped || to == WorkflowState::kCancelled;
  }
  return to != WorkflowState::kSkipped;
}

std::string_view to_text(PartOutcome outcome) {
  static constexpr std::array<std::string_view, kPartOutcomes> kTexts = {"completed", "failed", "timeout", "cancelled"};
  return kTexts[static_cast<std::size_t>(outcome)];
}

void Counts::add(const Counts& other) {
  iterations += other.iterations;
  ok += other.ok;
  failed += other.failed;
}

std::optional<Counts> Counts::since(const Counts& earlier) const {
  if (iterations < earlier.iterations || ok < earlier.ok || failed < earlier.failed) return std::nullopt;
  return Counts{iterations - earlier.iterations, ok - earlier.ok, failed - earlier.failed};
}

}  // namespace muster::cluster
