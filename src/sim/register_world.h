// The smallest world worth breaking: nodes that ask each other to keep one mark more and answer once it is durable. It
// checks the simulator itself, is its measure of speed, and shows how a world is written.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/scenario.h"

namespace muster::sim {

struct RegisterOptions {
  std::uint32_t nodes = 3;
  base::Duration pace = std::chrono::milliseconds(5);  // between two questions of a node
  bool hasty = false;  // answers before the mark is durable, as it must not; the oracle is to find it
};

std::unique_ptr<World> make_register_world(const RegisterOptions& options);

void add_register_scenario(std::vector<Scenario>& scenarios);

}  // namespace muster::sim
