// The duties of the log's leader, none of them in a job's data path: probes workers over the stream that work takes,
// evicts those that are gone, and gives jobs whose leader is gone to another manager with the next epoch. Every other
// manager evicts those that do not answer it, and scans the workers of its own jobs for orphans. Owned by the manager.
#pragma once

#include <cstdint>
#include <map>

#include "base/time.h"
#include "cluster/desk.h"
#include "cluster/peers.h"
#include "cores/liveness.h"

namespace muster::cluster {

class Housekeeper {
 public:
  // Does what is due while this node's ledger is current; when to look again.
  // `accepted`: when each job was, as far as this manager knows.
  base::Instant step(Desk& desk, bool leads, bool draining, Peers& peers,
                     const std::map<JobId, base::Instant>& accepted);

  // The ledger is not current any more. What was seen before then says nothing about anybody when it is again.
  void rest();

  // An answer to a probe.
  void answered(Desk& desk, NodeId worker);

 private:
  void hand_over(Desk& desk, bool draining, Peers& peers, const std::map<JobId, base::Instant>& accepted);
  void probe_all(Desk& desk);
  void scan_for_orphans(Desk& desk);

  bool led_ = false;
  base::Instant due_{};
  base::Instant scan_due_ = base::kNever;
  std::uint64_t last_number_ = 0;
  std::map<NodeId, cores::Liveness> probed_;
};

}  // namespace muster::cluster
