#include "engine/selection.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::engine {
namespace {

using model::StepResult;
using model::TaggedResult;
using model::Threshold;
using model::WorkflowResult;

bool has_all(const StepResult& step, const Conditions& conditions) {
  return std::ranges::all_of(conditions.tags, [&](const auto* tag) { return std::ranges::count(step.tags, *tag) > 0; });
}

// `text` is "region=eu,plan=free".
bool has_all(std::string_view text, const Conditions& conditions) {
  return std::ranges::all_of(conditions.tags, [&](const auto* tag) {
    const std::string pair = fmt::format("{}={}", tag->first, tag->second);
    for (std::size_t at = text.find(pair); at != std::string_view::npos; at = text.find(pair, at + 1)) {
      const std::size_t end = at + pair.size();
      if ((at == 0 || text[at - 1] == ',') && (end == text.size() || text[end] == ',')) return true;
    }
    return false;
  });
}

// Requests with a tag are counted in the rows of `tagged`; where a workflow has no such row, or a step is named too,
// the steps that always carry the tag stand for them. Never both, so that nothing counts twice.
void select_in(const WorkflowResult& workflow, const Conditions& conditions, Selection& selection) {
  bool rows = false;
  if (!conditions.tags.empty() && conditions.step.empty()) {
    for (const TaggedResult& row : workflow.tagged) {
      if (!has_all(row.tags, conditions)) continue;
      selection.tagged.push_back(&row);
      rows = true;
    }
  }
  if (rows) return;
  for (const StepResult& step : workflow.steps) {
    const bool named =
        conditions.step.empty() ? step.role == model::StepRole::kTest : std::string_view(step.name) == conditions.step;
    if (named && has_all(step, conditions)) selection.steps.push_back(&step);
  }
}

}  // namespace

Conditions conditions_of(const Threshold& threshold) {
  Conditions conditions;
  for (const auto& condition : threshold.where) {
    if (condition.first == "workflow") {
      conditions.workflow = condition.second;
    } else if (condition.first == "step") {
      conditions.step = condition.second;
    } else {
      conditions.tags.push_back(&condition);
    }
  }
  return conditions;
}

Selection select(const Threshold& threshold, const std::vector<WorkflowResult>& workflows) {
  const Conditions conditions = conditions_of(threshold);
  Selection selection;
  for (const WorkflowResult& workflow : workflows) {
    if (!conditions.workflow.empty() && workflow.name != conditions.workflow) continue;
    if (!conditions.step.empty() &&
        std::ranges::none_of(workflow.steps, [&](const StepResult& step) { return step.name == conditions.step; })) {
      continue;
    }
    selection.workflows.push_back(&workflow);
    select_in(workflow, conditions, selection);
  }
  return selection;
}

std::optional<Extent> extent_of(const Selection& selection) {
  std::optional<Extent> found;
  for (const WorkflowResult* workflow : selection.workflows) {
    if (workflow->elapsed <= base::Duration::zero()) continue;
    const base::Duration end = workflow->began + workflow->elapsed;
    if (!found) found = Extent{workflow->began, end};
    found->begin = std::min(found->begin, workflow->began);
    found->end = std::max(found->end, end);
  }
  return found;
}

std::string where_text(const Threshold& threshold) {
  std::string text;
  for (const auto& [name, value] : threshold.where) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}={}", name, value);
  }
  return text;
}

}  // namespace muster::engine
