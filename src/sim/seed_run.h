// One seed of one scenario from its beginning to its verdict, and the search for a shorter plan that fails alike. Pure:
// the same arguments give the same result, on any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/fault.h"
#include "sim/record.h"
#include "sim/scenario.h"

namespace muster::sim {

struct SeedRun {
  Record record;
  FaultPlan plan;
  std::vector<std::string> lines;  // of the trace, if it was kept
};

// With a plan, that one takes the place of the one drawn from the seed.
SeedRun run_seed(const Scenario& scenario, std::uint64_t seed, Trace trace = Trace::kNone,
                 const std::optional<FaultPlan>& plan = {});

struct Shrunk {
  FaultPlan plan;
  SeedRun run;  // of that plan, with its trace
  std::uint32_t tries = 0;
  bool interrupted = false;  // a shorter plan may do
};

// Drops faults and shortens those that are left as long as the same invariant is violated, until it is `interrupted`,
// which is asked before each try and may be empty.
Shrunk shrink(const Scenario& scenario, std::uint64_t seed, const SeedRun& failed,
              const std::function<bool()>& interrupted = {});

}  // namespace muster::sim
