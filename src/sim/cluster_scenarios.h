// The scenarios of the whole cluster.
#pragma once

#include <vector>

#include "sim/scenario.h"

namespace muster::sim {

void add_cluster_scenarios(std::vector<Scenario>& scenarios);

}  // namespace muster::sim
