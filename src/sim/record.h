// What a run leaves behind: what it broke, what it met on the way, what it measured, and a hash by which two runs of
// one seed are compared. Plain values; filled by the kernel and the world.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/network.h"

namespace muster::sim {

struct Violation {
  std::string invariant;  // its name in invariants.h
  std::string sentence;   // what was seen, with the nodes and numbers
  base::Duration at{};    // virtual time
};

struct Record {
  std::uint64_t hash = 0;
  std::uint64_t events = 0;
  base::Duration virtual_time{};
  std::uint64_t faults = 0;  // begun
  std::optional<Violation> violation;
  std::map<std::string, std::uint64_t, std::less<>> counters;
  std::map<std::string, std::vector<double>, std::less<>> measures;
  Traffic traffic;
};

}  // namespace muster::sim
