// Reads `load:`: which shape its keys make, and the settings of that shape.
#pragma once

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

model::Load read_load(LoaderContext& context, const YamlNode& node);

// Of a workflow without `load:`: one VU, one iteration.
model::Load default_load(const model::Where& where);

}  // namespace muster::authoring
