#include "sim/cluster_map.h"

namespace muster::sim {

namespace {

// Gates from 1, clients from 11; the datacenter d has managers from 100(d + 1) + 1 and workers from 100(d + 1) + 11.
constexpr std::uint64_t kFirstClient = 11;
constexpr std::uint64_t kDatacenter = 100;
constexpr std::uint64_t kFirstWorker = 11;

base::NodeId named(std::uint32_t datacenter, std::uint64_t within) {
  return base::NodeId{kDatacenter * (datacenter + 1) + within};
}

}  // namespace

ClusterMap::ClusterMap(const ClusterSetup& setup) {
  for (std::uint32_t i = 0; i < setup.gates; ++i) gates_.push_back(base::NodeId{1 + i});
  for (std::uint32_t i = 0; i < setup.clients; ++i) clients_.push_back(base::NodeId{kFirstClient + i});
  for (std::uint32_t each = 0; each < setup.datacenters; ++each) {
    founders_.emplace_back();
    managers_.emplace_back();
    workers_.emplace_back();
    for (std::uint32_t i = 0; i < setup.managers + setup.spares; ++i) {
      managers_.back().push_back(named(each, 1 + i));
      if (i < setup.managers) founders_.back().push_back(named(each, 1 + i));
    }
    for (std::uint32_t i = 0; i < setup.workers; ++i) workers_.back().push_back(named(each, kFirstWorker + i));
  }
}

ClusterMap::Role ClusterMap::role(base::NodeId node) {
  const std::uint64_t name = base::number(node);
  if (name < kFirstClient) return Role::kGate;
  if (name < kDatacenter) return Role::kClient;
  return name % kDatacenter < kFirstWorker ? Role::kManager : Role::kWorker;
}

std::uint32_t ClusterMap::datacenter(base::NodeId node) {
  return static_cast<std::uint32_t>(base::number(node) / kDatacenter) - 1;
}

}  // namespace muster::sim
