// Which workflows, steps and rows of tagged requests of a result a threshold's `where` is about. Pure; views into the
// result, valid as long as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::engine {

// A threshold's `where`, sorted out; empty views ask for nothing.
struct Conditions {
  std::string_view workflow;
  std::string_view step;
  std::vector<const std::pair<std::string, std::string>*> tags;
};

Conditions conditions_of(const model::Threshold& threshold);

struct Selection {
  std::vector<const model::WorkflowResult*> workflows;
  std::vector<const model::StepResult*> steps;  // without a step's name: those that make requests
  std::vector<const model::TaggedResult*> tagged;
  bool partial = false;  // more such requests may be among those that count as "other"
};

Selection select(const model::Threshold& threshold, const std::vector<model::WorkflowResult>& workflows);

// A stretch of time since the run's start.
struct Extent {
  base::Duration begin{};
  base::Duration end{};
};

// From the first counted moment to the last of the selected workflows, by the seconds of the one that began first;
// nothing if none has begun.
std::optional<Extent> extent_of(const Selection& selection);

// "workflow=shop, step=login"; empty for the whole run.
std::string where_text(const model::Threshold& threshold);

}  // namespace muster::engine
