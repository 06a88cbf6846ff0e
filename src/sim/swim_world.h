// A group of members under faults, and the oracles of membership. Everything a process does is watched; at the end the
// views of the healthy must agree with the truth.
#pragma once

#include <memory>
#include <vector>

#include "sim/scenario.h"

namespace muster::sim {

struct SwimWorldOptions {
  // Whether anybody healthy held dead is a violation at once (21), and every crash must be found in time (22).
  bool gentle = false;
  // Whether packets may be changed on their way and come through: then only bounds can be watched.
  bool garbled = false;
};

std::unique_ptr<World> make_swim_world(std::uint64_t seed, const SwimWorldOptions& options);

// swim, swim-loss, swim-garbled.
void add_swim_scenarios(std::vector<Scenario>& scenarios);

}  // namespace muster::sim
