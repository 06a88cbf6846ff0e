// Every law that an oracle of the simulator watches, by the name under which a violation is told. `muster-sim
// --invariants` prints the table with the scenarios that watch each.
#pragma once

#include <span>
#include <string_view>

namespace muster::sim {

struct Invariant {
  std::string_view name;
  std::string_view area;
  // E: holds after every event. F: holds after heal and drain. S: holds over many seeds.
  std::string_view when;
  std::string_view law;
};

std::span<const Invariant> invariants();
const Invariant* find_invariant(std::string_view name);  // null if there is none

}  // namespace muster::sim
