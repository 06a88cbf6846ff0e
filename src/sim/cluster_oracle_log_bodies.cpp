// On whose disks the bodies are that the logs name.
#include <algorithm>

#include "sim/cluster_oracle_log.h"

namespace muster::sim {

void ClusterLog::proposed(const cluster::Entry& entry, const std::vector<base::NodeId>& voters) {
  if (sent_as_before({entry.proposer, entry.sequence}, voters)) return;
  if (const auto* accepted = std::get_if<cluster::JobAccepted>(&entry.command))
    check_proposed("a bundle", accepted->bundle, voters);
  if (const auto* context = std::get_if<cluster::LayerContext>(&entry.command))
    check_proposed("a context", context->body, voters);
  if (const auto* held = std::get_if<cluster::ResultHeld>(&entry.command))
    check_proposed("a result", held->body, voters);
}

void ClusterLog::proposed(const cluster::GateEntry& entry, const std::vector<base::NodeId>& voters) {
  if (sent_as_before({entry.proposer, entry.sequence}, voters)) return;
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command))
    check_proposed("a bundle", submitted->bundle, voters);
  if (const auto* received = std::get_if<cluster::WorkflowReceived>(&entry.command)) {
    for (const cluster::BodyRef& body : received->status.results) check_proposed("a result", body, voters);
  }
}

// Whoever said that it holds a body keeps it for longer than a proposal is repeated; but the voters may be others.
bool ClusterLog::sent_as_before(const Proposal& proposal, const std::vector<base::NodeId>& voters) {
  const auto [at, first] = sent_.try_emplace(proposal, voters);
  if (!first && at->second == voters) return true;
  at->second = voters;
  return false;
}

// Whoever is behind may drop what others have named meanwhile only if enough of them have it.
void ClusterLog::drops(base::NodeId node, const cluster::BodyHash& body, bool named) {
  if (!keeps(node, body)) return;
  if (named) kernel_->violate("bodies", fmt::format("node {} drops a body that its ledger names", base::number(node)));
  const Named& log = named_by(node);
  if (!std::ranges::binary_search(log.bodies, body) || !std::ranges::binary_search(log.voters, node)) return;
  const std::size_t left = holders(body, log.voters) - 1;
  if (left < log.voters.size() - log.voters.size() / 2 && !excused(log.voters))
    kernel_->violate("bodies", fmt::format("node {} drops a body that the log names, which is on {} other disks of {}",
                                           base::number(node), left, log.voters.size()));
}

ClusterLog::Named& ClusterLog::named_by(base::NodeId node) {
  return ClusterMap::role(node) == ClusterMap::Role::kGate ? named_by_gates_ : named_[ClusterMap::datacenter(node)];
}

bool ClusterLog::keeps(base::NodeId node, const cluster::BodyHash& body) const {
  const auto found = bodies_.find(node);
  return found != bodies_.end() && found->second.contains(body);
}

std::size_t ClusterLog::holders(const cluster::BodyHash& body, const std::vector<base::NodeId>& voters) const {
  return static_cast<std::size_t>(std::ranges::count_if(voters, [&](base::NodeId node) { return keeps(node, body); }));
}

// Whoever said that it holds a body keeps it for some time, by its own clock: one that leaps drops it too early.
bool ClusterLog::excused(const std::vector<base::NodeId>& voters) const {
  if (std::ranges::all_of(voters, [this](base::NodeId node) { return runs_->keeps_time(node); })) return false;
  kernel_->hit("body on too few disks for want of a clock");
  return true;
}

// What counts is that every majority has somebody who holds it. Members may have changed while the proposal was under
// way: then it is as if it had been named before that, and who holds it brings it to the new ones.
void ClusterLog::check_body(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters,
                            const Proposal& proposal) {
  const auto reaches_all = [&](const std::vector<base::NodeId>& these) {
    return holders(body.hash, these) >= these.size() - these.size() / 2;
  };
  if (reaches_all(voters)) return;
  if (const auto sent = sent_.find(proposal);
      sent != sent_.end() && sent->second != voters && reaches_all(sent->second))
    return kernel_->hit("body named while members changed");
  const std::size_t found = holders(body.hash, voters);
  if (!excused(voters))
    kernel_->violate("bodies", fmt::format("the log names {} that is on {} disks of {}: body {:x}", what, found,
                                           voters.size(), body.hash.words.back()));
}

void ClusterLog::check_proposed(const char* what, const cluster::BodyRef& body,
                                const std::vector<base::NodeId>& voters) {
  const std::size_t found = body.size == 0 ? voters.size() : holders(body.hash, voters);
  if (found < voters.size() / 2 + 1 && !excused(voters))
    kernel_->violate("bodies", fmt::format("{} is proposed that is on {} disks of {}: body {:x}", what, found,
                                           voters.size(), body.hash.words.back()));
}

}  // namespace muster::sim
