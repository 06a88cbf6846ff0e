#include "engine/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "engine/recording.h"

namespace muster::engine {
namespace {

using model::StepResult;
using model::TaggedResult;
using model::Threshold;
using model::WorkflowResult;

using Tag = std::pair<std::string, std::string>;

bool has(const StepResult& step, const Tag& tag) {
  return std::ranges::count(step.tags, tag) > 0;
}

// `text` is "region=eu,plan=free".
bool has(std::string_view text, const Tag& tag) {
  const std::string pair = fmt::format("{}={}", tag.first, tag.second);
  for (std::size_t at = text.find(pair); at != std::string_view::npos; at = text.find(pair, at + 1)) {
    const std::size_t end = at + pair.size();
    if ((at == 0 || text[at - 1] == ',') && (end == text.size() || text[end] == ',')) return true;
  }
  return false;
}

// "region" and "plan" of the same. A value that looks like a further tag passes for one.
template <class Fn>
void each_key(std::string_view text, Fn&& fn) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (const std::size_t key = text.substr(0, end).find('='); key != std::string_view::npos) fn(text.substr(0, key));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// How the tags of a run that a step's requests carry compare with those that are asked for.
struct Cover {
  bool all = false;    // it carries all that are asked for
  bool exact = false;  // and no other that only the run tells: one combination is asked for
};

Cover cover_of(const TaggedResult& row, const StepResult& step, const Conditions& conditions) {
  std::size_t keys = 0;
  std::size_t asked = 0;
  each_key(row.tags, [&](std::string_view key) {
    ++keys;
    asked += std::ranges::any_of(conditions.tags, [&](const Tag* tag) { return tag->first == key; }) ? 1 : 0;
  });
  const auto constant = std::ranges::count_if(conditions.tags, [&](const Tag* tag) { return has(step, *tag); });
  return {.all = asked + static_cast<std::size_t>(constant) >= conditions.tags.size(), .exact = keys == asked};
}

const StepResult* step_of(const WorkflowResult& workflow, const TaggedResult& row) {
  const auto found = std::ranges::find(workflow.steps, row.step, &StepResult::name);
  return row.step.empty() || found == workflow.steps.end() ? nullptr : &*found;
}

// Whether some of the requests that are asked for may be among those that have no row of their own. A step has such
// requests if its rows do not add up to all of them. Of one without any row it is not known whether its requests have
// tags of a run at all: it may have some if the others do not account for all that count as "other".
bool is_partial(const WorkflowResult& workflow, const Conditions& conditions, const Selection& selection) {
  struct Rows {
    const TaggedResult* first = nullptr;
    std::uint64_t requests = 0;
  };
  std::map<std::string_view, Rows> rows;
  std::uint64_t unexplained = 0;
  for (const TaggedResult& row : workflow.tagged) {
    if (row.tags == kOtherTags) {
      unexplained += row.ok + row.failed;
      continue;
    }
    Rows& of_step = rows[row.step];
    if (of_step.first == nullptr) of_step.first = &row;
    of_step.requests += row.ok + row.failed;
  }
  if (unexplained == 0) return false;
  bool without_rows = false;
  for (const StepResult& step : workflow.steps) {
    const bool named = conditions.step.empty() || std::string_view(step.name) == conditions.step;
    const bool whole = !named || std::ranges::count(selection.steps, &step) > 0;
    // What was cut at the end has no tags.
    const std::uint64_t cut = step.errors[static_cast<std::size_t>(model::ErrorClass::kCancelled)];
    const std::uint64_t requests = step.ok + step.failed - std::min(step.failed, cut);
    const auto found = rows.find(step.name);
    if (found == rows.end()) {
      without_rows = without_rows || (!whole && requests > 0);
      continue;
    }
    const std::uint64_t others = requests - std::min(requests, found->second.requests);
    unexplained -= std::min(unexplained, others);
    if (whole || others == 0) continue;
    const Cover cover = cover_of(*found->second.first, step, conditions);
    // A combination that is listed for a step is whole there.
    const bool listed = cover.exact && std::ranges::any_of(selection.tagged, [&](const TaggedResult* row) {
                          return row >= workflow.tagged.data() &&
                                 row < workflow.tagged.data() + workflow.tagged.size() &&
                                 std::string_view(row->step) == step.name;
                        });
    if (cover.all && !listed) return true;
  }
  return without_rows && unexplained > 0;
}

// A step that always carries the tags stands for its requests. Those of other steps are counted in their rows of
// `tagged`, by the tags that only a run can tell; the constant ones are the step's. Never both, so that nothing counts
// twice.
void select_in(const WorkflowResult& workflow, const Conditions& conditions, Selection& selection) {
  const std::size_t before = selection.steps.size();
  for (const StepResult& step : workflow.steps) {
    const bool named =
        conditions.step.empty() ? step.role == model::StepRole::kTest : std::string_view(step.name) == conditions.step;
    const bool tagged = std::ranges::all_of(conditions.tags, [&](const Tag* tag) { return has(step, *tag); });
    if (named && tagged) selection.steps.push_back(&step);
  }
  if (conditions.tags.empty()) return;
  const bool none = selection.steps.size() == before;
  for (const TaggedResult& row : workflow.tagged) {
    const StepResult* const step = step_of(workflow, row);
    if (!conditions.step.empty() && std::string_view(row.step) != conditions.step) continue;
    if (step == nullptr ? !none : std::ranges::count(selection.steps, step) > 0) continue;
    const auto carried = [&](const Tag* tag) { return has(row.tags, *tag) || (step != nullptr && has(*step, *tag)); };
    if (std::ranges::all_of(conditions.tags, carried)) selection.tagged.push_back(&row);
  }
  selection.partial = selection.partial || is_partial(workflow, conditions, selection);
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
  base::Duration shift{};  // of the first to begin
  for (const WorkflowResult* workflow : selection.workflows) {
    if (workflow->elapsed <= base::Duration::zero()) continue;
    const base::Duration begin = workflow->began + workflow->shift;
    const base::Duration end = begin + workflow->elapsed;
    if (!found || begin < found->begin) shift = workflow->shift;
    if (!found) found = Extent{begin, end};
    found->begin = std::min(found->begin, begin);
    found->end = std::max(found->end, end);
  }
  if (found) *found = {found->begin - shift, found->end - shift};
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
