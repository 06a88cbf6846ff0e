// The gates as one of them sees them: who is alive, in which life, who drains; and the ring, by which every job has an
// owner and a backup. Equal views give equal owners. Bounded. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ring.h"
#include "cluster/ids.h"
#include "cluster/messages_watch.h"

namespace muster::cluster {

class GatePeers {
 public:
  explicit GatePeers(Process self);

  // As membership says. False if nothing changed.
  bool alive(NodeId gate, bool alive);
  // As a gate says itself. Of another life than before, or for the first time: true.
  bool told(NodeId gate, const ManagerState& state);
  void drain() { draining_ = true; }
  bool draining() const { return draining_; }

  bool knows(NodeId gate) const { return ring_.contains(gate); }
  // By the ring alone: for jobs that the log does not know. A draining gate is passed over.
  NodeId ring_owner(JobId job) const;
  // Who should have the job in place of this node: the first on the ring that is alive, known by its life, and does not
  // drain. Nothing if there is nobody.
  std::optional<Process> successor(JobId job, NodeId instead_of) const;

  Ring ring() const;                   // to tell clients
  std::vector<NodeId> others() const;  // live gates but this one
  const std::map<NodeId, Life>& lives() const { return lives_; }

 private:
  bool drains(NodeId gate) const;

  Process self_;
  base::Ring ring_;
  std::map<NodeId, Life> lives_;
  std::map<NodeId, bool> drains_;
  bool draining_ = false;
  std::uint64_t version_ = 1;
};

}  // namespace muster::cluster
