// Reads lists of steps by the StepKind descriptors: which kind a step is, its fields, the keys that every step has, and
// the steps within it. Knows no kind by name.
#pragma once

#include <string_view>
#include <vector>

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

// `what` names the list in messages: "'steps'".
std::vector<model::Step> read_steps(LoaderContext& context, const YamlNode& node, std::string_view what);

// Gives a name to every step of the workflow that has none ("GET /cart", "think-2") and reports names given twice.
void name_steps(LoaderContext& context, model::Workflow& workflow);

// Calls `visit` for each step, outer ones before the steps within them.
template <class Steps, class Visit>
void each_step(Steps&& steps, const Visit& visit) {
  for (auto& step : steps) {
    visit(step);
    for (auto& branch : step.branches) each_step(branch.steps, visit);
  }
}

}  // namespace muster::authoring
