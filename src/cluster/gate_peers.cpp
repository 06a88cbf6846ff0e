#include "cluster/gate_peers.h"

#include "base/hash.h"
#include "cluster/options.h"

namespace muster::cluster {

GatePeers::GatePeers(Process self) : self_(self) {
  ring_.add(self.node);
  lives_[self.node] = self.life;
}

bool GatePeers::alive(NodeId gate, bool alive) {
  if (gate == self_.node || gate == kNoNode) return false;
  if (alive && ring_.nodes().size() >= kMaxGates) return false;
  const bool changed = alive ? ring_.add(gate) : ring_.remove(gate);
  if (!changed) return false;
  ++version_;
  if (!alive) {
    lives_.erase(gate);
    drains_.erase(gate);
  }
  return true;
}

bool GatePeers::told(NodeId gate, const ManagerState& state) {
  if (gate == self_.node || !ring_.contains(gate)) return false;
  if (drains_[gate] != state.draining) {
    drains_[gate] = state.draining;
    ++version_;
  }
  const auto [at, added] = lives_.try_emplace(gate, state.life);
  if (!added && state.life <= at->second) return false;
  at->second = state.life;
  return true;
}

NodeId GatePeers::ring_owner(JobId job) const {
  const std::uint64_t key = base::hash_of(number(job));
  const NodeId found = ring_.first_live(key, [&](NodeId gate) { return !drains(gate); });
  return found == kNoNode ? ring_.owner(key) : found;
}

std::optional<Process> GatePeers::successor(JobId job, NodeId instead_of) const {
  const NodeId found = ring_.first_live(base::hash_of(number(job)), [&](NodeId gate) {
    return gate != instead_of && lives_.contains(gate) && !drains(gate);
  });
  if (found == kNoNode) return std::nullopt;
  return Process{found, lives_.at(found)};
}

Ring GatePeers::ring() const {
  Ring told{.version = version_, .gates = {}};
  for (const NodeId gate : ring_.nodes()) {
    if (!drains(gate)) told.gates.push_back(gate);
  }
  return told;
}

std::vector<NodeId> GatePeers::others() const {
  std::vector<NodeId> found;
  for (const NodeId gate : ring_.nodes()) {
    if (gate != self_.node) found.push_back(gate);
  }
  return found;
}

bool GatePeers::drains(NodeId gate) const {
  if (gate == self_.node) return draining_;
  const auto at = drains_.find(gate);
  return at != drains_.end() && at->second;
}

}  // namespace muster::cluster
