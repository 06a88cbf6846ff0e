// A scenario: a world to build, the faults it is to bear, how long, and what must have been seen over many seeds.
// Adding one is one file and one line in scenarios.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/fault.h"
#include "sim/kernel.h"

namespace muster::sim {

// What all seeds of one scenario gave together.
struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  std::uint64_t faults = 0;
  double virtual_seconds = 0;
  double cpu_seconds = 0;  // of all threads together
  std::uint64_t hash = 0;  // of all hashes in the order of the seeds
  std::map<std::string, std::uint64_t, std::less<>> counters;
  std::map<std::string, std::vector<double>, std::less<>> measures;

  void add(const Record& record, double took);
};

// The value below which `share` of the values lie; 0 if there are none.
double percentile(std::vector<double> values, double share);

struct Scenario {
  std::string name;
  std::string summary;
  std::vector<std::string> watches;  // invariants, by name

  std::function<std::unique_ptr<World>(std::uint64_t seed)> make;
  // What the machine is like for this seed.
  std::function<KernelOptions(base::Random& random)> options;
  FaultProfile faults;
  base::Duration first_fault = std::chrono::seconds(1);
  base::Duration safety = std::chrono::seconds(30);    // first phase: anything may happen
  base::Duration liveness = std::chrono::seconds(30);  // second phase, at most; 0 if there is none

  std::vector<std::string> counters;  // each must have been hit, once there were enough seeds
  std::uint64_t enough_seeds = 1000;
  // What holds only over many seeds (S); asked at the end of a run.
  std::function<std::optional<Violation>(const Totals& totals)> judge;
  bool in_all = true;  // part of `--scenario all`
};

// Each kind of fault that its profile has is to be met: for scenarios whose seeds are many enough.
void demand_faults(Scenario& scenario);

std::vector<Scenario> built_in_scenarios();

}  // namespace muster::sim
