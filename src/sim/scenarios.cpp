// Every scenario that muster-sim knows.
#include "sim/register_world.h"
#include "sim/scenario.h"

namespace muster::sim {

std::vector<Scenario> built_in_scenarios() {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  return scenarios;
}

}  // namespace muster::sim
