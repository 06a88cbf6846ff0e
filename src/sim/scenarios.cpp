// Every scenario that muster-sim knows.
#include "sim/cluster_scenarios.h"
#include "sim/raft_scenarios.h"
#include "sim/register_world.h"
#include "sim/scenario.h"
#include "sim/swim_experiments.h"
#include "sim/swim_world.h"

namespace muster::sim {

std::vector<Scenario> built_in_scenarios() {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  add_swim_scenarios(scenarios);
  add_swim_experiments(scenarios);
  add_raft_scenarios(scenarios);
  add_raft_regressions(scenarios);
  add_cluster_scenarios(scenarios);
  return scenarios;
}

}  // namespace muster::sim
