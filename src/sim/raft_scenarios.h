// The scenarios of Raft's world, and what they share.
#pragma once

#include <vector>

#include "base/random.h"
#include "sim/raft_world.h"
#include "sim/scenario.h"

namespace muster::sim {

// raft, raft-election, raft-partitions, raft-restart, raft-transfer.
void add_raft_scenarios(std::vector<Scenario>& scenarios);
// One for each rule that a Raft was seen to break (docs: the named regressions).
void add_raft_regressions(std::vector<Scenario>& scenarios);

// Options of the core with limits so small that every one of them is met.
cores::RaftOptions tight_raft_options(base::Random& random);

// A scenario with what all of Raft's watch, whose setup is drawn from the seed.
Scenario raft_scenario(std::string name, std::string summary, std::function<RaftSetup(base::Random& random)> setup);

}  // namespace muster::sim
