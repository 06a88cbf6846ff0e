#include "cluster/peers.h"

#include <algorithm>

namespace muster::cluster {

void Peers::members(const std::vector<NodeId>& voters) {
  std::erase_if(peers_, [&](const auto& each) { return !std::ranges::binary_search(voters, each.first); });
  for (const NodeId voter : voters) {
    if (voter != self_.node) peers_.try_emplace(voter);
  }
}

bool Peers::heard(NodeId manager, const ManagerState& state, base::Instant now) {
  const auto at = peers_.find(manager);
  if (at == peers_.end() || state.life < at->second.life) return false;
  at->second.life = state.life;
  at->second.heard = now;
  at->second.draining = state.draining;
  return true;
}

void Peers::swim(NodeId manager, Liveness liveness) {
  if (const auto at = peers_.find(manager); at != peers_.end()) at->second.swim = liveness;
}

bool Peers::gone(const Process& manager, base::Instant now) const {
  if (manager.node == self_.node) return manager.life != self_.life;
  const auto at = peers_.find(manager.node);
  if (at == peers_.end()) return true;
  const Peer& peer = at->second;
  if (peer.life > manager.life || peer.swim == Liveness::kDead) return true;
  return now - std::max(peer.heard, began_) >= options_.manager_silence;
}

bool Peers::draining(const Process& manager) const {
  const auto at = peers_.find(manager.node);
  return at != peers_.end() && at->second.life == manager.life && at->second.draining;
}

std::vector<Process> Peers::available(bool self_draining, base::Instant now) const {
  std::vector<Process> found;
  if (!self_draining) found.push_back(self_);
  for (const auto& [node, peer] : peers_) {
    const Process process{node, peer.life};
    if (peer.heard != base::Instant::min() && !peer.draining && !gone(process, now)) found.push_back(process);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace muster::cluster
