// What can be known to be wrong once a whole job has been read: orders that cannot be kept, names that nothing has, and
// expressions that do not compile. Each part reports to the context and goes on.
#pragma once

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

void validate(LoaderContext& context, const model::Job& job);

// `depends`, `provide` and `use` between workflows; `after` within each.
void validate_graph(LoaderContext& context, const model::Job& job);
// Every expression and every ${…} against the names that are known where it stands.
void validate_names(LoaderContext& context, const model::Job& job);
// What each kind says about its own steps and targets.
void validate_kinds(LoaderContext& context, const model::Job& job);
// The user's own metrics, and what thresholds ask: metrics and their aggregates; workflows, steps and tags under
// `where`, whether the metric is kept for these and for a `window`, and whether there are any checks to judge.
void validate_thresholds(LoaderContext& context, const model::Job& job);

// For each step of a graph, the positions of all steps that have finished before it starts, sorted. Empty where the
// graph has a cycle or is larger than the limit. Unknown names in `after` are passed over.
std::vector<std::vector<std::size_t>> ancestors(const model::Workflow& workflow, const YamlLimits& limits);

}  // namespace muster::authoring
