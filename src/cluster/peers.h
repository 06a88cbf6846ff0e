// The other managers as this one sees them: which life of each is there, who is silent, dead or draining. It decides
// whether the leader of a job is gone. Owned by the manager.
#pragma once

#include <map>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/messages_watch.h"
#include "cluster/options.h"
#include "cluster/worker_table.h"

namespace muster::cluster {

class Peers {
 public:
  Peers(Process self, const ManagerOptions& options, base::Instant now) : self_(self), options_(options), began_(now) {}

  void members(const std::vector<NodeId>& voters);
  // From when on silence counts: who has just become leader has not listened before.
  void watch_from(base::Instant now) { began_ = now; }
  // False if the message is of a life that is over.
  bool heard(NodeId manager, const ManagerState& state, base::Instant now);
  void swim(NodeId manager, Liveness liveness);

  // Whether this process will not lead anything any more: another life of its node is there, it is dead or silent, or
  // no manager.
  bool gone(const Process& manager, base::Instant now) const;
  bool draining(const Process& manager) const;
  // Who can be given jobs, ascending; this manager included unless it drains.
  std::vector<Process> available(bool self_draining, base::Instant now) const;

 private:
  struct Peer {
    Life life{};
    base::Instant heard = base::Instant::min();
    bool draining = false;
    Liveness swim = Liveness::kAlive;
  };

  Process self_;
  ManagerOptions options_;
  base::Instant began_;
  std::map<NodeId, Peer> peers_;  // the voters but this one
};

}  // namespace muster::cluster
