#include "sim/cluster_oracle_routing.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace muster::sim {

namespace {

using cluster::Datacenter;
using cluster::DatacenterClass;

bool taken(const cluster::GateLedgerJob& job, const std::string& name) {
  return std::ranges::find(job.abandoned, name) != job.abandoned.end() ||
         std::ranges::find(job.slots, name, &cluster::GateSlot::datacenter) != job.slots.end();
}

// The class counts before what the client prefers, and that before free cores.
bool better(const Datacenter& one, const Datacenter& other, const cluster::GateLedgerJob& job) {
  const auto rank = [&job](const Datacenter& each) {
    const bool preferred = std::ranges::find(job.datacenters, each.name) != job.datacenters.end();
    return std::tuple(each.health, !preferred, -static_cast<std::int64_t>(each.free_cores));
  };
  return rank(one) < rank(other);
}

}  // namespace

void check_choice(Kernel& kernel, base::NodeId gate, const cluster::SlotOffered& choice,
                  const cluster::GateLedgerJob& job, std::span<const Datacenter> known) {
  const std::uint64_t name = cluster::number(choice.fence.job);
  const auto chosen = std::ranges::find(known, choice.datacenter, &Datacenter::name);
  if (chosen == known.end() || chosen->health == DatacenterClass::kUnhealthy) {
    kernel.violate("routing", fmt::format("gate {} offers job {} to {}, which it holds for unhealthy",
                                          base::number(gate), name, choice.datacenter));
    return;
  }
  // Later offers go by who has refused, which is not known here.
  if (job.exact || choice.fence.offer != 1) return;
  for (const Datacenter& other : known) {
    if (other.health == DatacenterClass::kUnhealthy || taken(job, other.name)) continue;
    if (other.health != chosen->health) kernel.hit("datacenters of two classes to choose from");
    if (better(other, *chosen, job))
      kernel.violate("routing", fmt::format("gate {} offers job {} to {} and not to {}, which is better",
                                            base::number(gate), name, choice.datacenter, other.name));
  }
}

}  // namespace muster::sim
