// The factories of the load shapes in this folder, one file each; built_in_shapes() registers them. They check that
// what they are given makes sense, also when it did not come through the YAML loader.
#pragma once

#include <memory>

#include "base/error.h"
#include "engine/load_shape.h"

namespace muster::engine {

using MadeShape = base::Expected<std::unique_ptr<LoadShape>>;

MadeShape make_constant_vus(const model::Load& load);
MadeShape make_ramping_vus(const model::Load& load);
MadeShape make_shared_iterations(const model::Load& load);
MadeShape make_iterations_each(const model::Load& load);
MadeShape make_constant_arrivals(const model::Load& load);
MadeShape make_ramping_arrivals(const model::Load& load);

}  // namespace muster::engine
