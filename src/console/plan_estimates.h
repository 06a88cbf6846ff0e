// Numbers about a plan that follow from its text alone. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "console/plan.h"

namespace muster::console {

// Requests that one pass over `steps` makes.
Bounds requests_of(const std::vector<model::Step>& steps, const model::StepKinds& kinds);

// Checks that one pass over `steps` makes.
Bounds checks_of(const std::vector<model::Step>& steps);

// Seconds that one pass over `steps` waits in `think`.
Bounds thinking_of(const std::vector<model::Step>& steps);

// How many arrivals an open shape has in all.
double arrivals_of(const engine::LoadShape& shape);

// Bytes that the workflow's executor takes at the peak, from what was measured for a VU, a connection and a core.
std::uint64_t memory_of(const PlannedWorkflow& workflow);

}  // namespace muster::console
