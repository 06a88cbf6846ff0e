// The datacenters as one gate sees them: their managers, by what these say of themselves in every ack, and from that
// the class of each datacenter (cores/datacenter.h; one where nobody has a quorum is degraded), the order in which jobs
// are offered, and whom to ask there. Bounded. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cluster/ids.h"
#include "cluster/messages_watch.h"

namespace muster::cluster {

// What a manager says of itself and its datacenter.
struct ManagerReport {
  NodeId manager = kNoNode;
  std::string datacenter;
  std::uint64_t term = 0;
  bool leader = false;
  bool has_quorum = false;
  bool stuck = false;  // it has parts to hand out and hands none out
  std::uint32_t workers = 0;
  std::uint32_t healthy_workers = 0;
  std::uint32_t free_cores = 0;
  std::uint32_t cores = 0;

  bool operator==(const ManagerReport&) const = default;
};

class DatacenterTable {
 public:
  // False if the report is of a manager or datacenter too many, or names none.
  bool report(const ManagerReport& report);
  // Dead by SWIM: it counts as a manager that is not live until it is forgotten.
  void died(NodeId manager);
  void forget(NodeId manager);

  // Empty if it is not known.
  const std::string& datacenter_of(NodeId manager) const;
  DatacenterClass health(const std::string& datacenter) const;

  // Those that may be offered something, best first: by class, the preferred ones first within a class, then by free
  // cores. Unhealthy ones are not in it.
  std::vector<std::string> order(std::span<const std::string> preferred) const;

  // The manager to ask at the n-th try: the leader, then those with a quorum, then the other live ones, around again.
  // kNoNode if none is live.
  NodeId manager_for(const std::string& datacenter, std::uint32_t attempt) const;
  std::vector<NodeId> live_managers(const std::string& datacenter) const;  // in that order

  std::vector<Datacenter> list() const;  // by name
  // Why nothing can be offered to any of these (or to any at all, if none is named), for people.
  std::string why_none(std::span<const std::string> names) const;

 private:
  struct Manager {
    ManagerReport said;
    bool live = true;
    std::uint64_t order = 0;  // of its last report
  };
  struct Place {
    std::map<NodeId, Manager> managers;
    Datacenter summary;
  };

  void judge(const std::string& name);

  std::map<std::string, Place> places_;
  std::map<NodeId, std::string> home_;
  std::uint64_t reports_ = 0;
};

}  // namespace muster::cluster
