// Experiments with membership, rather than checks: what each part of Lifeguard gives, and how a group does from ten
// members to ten thousand. A seed names a cell of the table and a repetition; bench/membership.py runs and plots them.
#pragma once

#include <vector>

#include "sim/scenario.h"

namespace muster::sim {

// swim-lifeguard and swim-scale; neither is part of `--scenario all`.
void add_swim_experiments(std::vector<Scenario>& scenarios);

}  // namespace muster::sim
