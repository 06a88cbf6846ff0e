// How well a datacenter is, as a gate sees it and routes jobs by. Pure.
#pragma once

#include <cstdint>

namespace muster::cores {

// From best to worst.
enum class DatacenterClass : std::uint8_t { kHealthy, kBusy, kDegraded, kUnhealthy };

struct DatacenterFacts {
  std::uint32_t managers = 0;  // configured
  std::uint32_t live_managers = 0;
  bool manager_stuck = false;  // any of them
  std::uint32_t workers = 0;   // registered
  std::uint32_t healthy_workers = 0;
  std::uint64_t free_cores = 0;  // of healthy workers
};

constexpr DatacenterClass classify(const DatacenterFacts& facts) {
  if (facts.live_managers == 0 || facts.workers == 0) return DatacenterClass::kUnhealthy;
  const bool few_managers = facts.live_managers < facts.managers / 2 + 1;
  const bool few_workers = facts.healthy_workers < facts.workers / 2 + 1;
  if (few_managers || few_workers || facts.manager_stuck) return DatacenterClass::kDegraded;
  return facts.free_cores == 0 ? DatacenterClass::kBusy : DatacenterClass::kHealthy;
}

}  // namespace muster::cores
