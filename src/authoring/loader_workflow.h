// Reads the list of workflows: each one's load, steps, and what it gives to and takes from others.
#pragma once

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

// Fills `job.workflows` and, in the same order, `context.workflow_places`.
void read_workflows(LoaderContext& context, const YamlNode& node, model::Job& job);

}  // namespace muster::authoring
