#include "sim/cluster_oracle_talk.h"

#include <algorithm>
#include <string>

#include "base/ring.h"

namespace muster::sim {

namespace {

constexpr std::uint64_t kKeys = 128;
// Failures that count towards opening a circuit, while it is open included.
constexpr base::Duration kCircuitMemory = std::chrono::seconds(60);

}  // namespace

void ClusterTalk::leaves(base::NodeId from, base::NodeId to, const cluster::Message& message) {
  std::visit([&](const auto& each) { on(from, to, each); }, message);
}

void ClusterTalk::noted(base::NodeId node, const cluster::Note& note) {
  kernel_->hit(std::string("noted ").append(cluster::to_text(note.what)));
  if (note.what == cluster::Noted::kQuorumTimeout) {
    auto& seen = timeouts_[node];
    seen.push_back(kernel_->elapsed());
    while (kernel_->elapsed() - seen.front() > kCircuitMemory) seen.pop_front();
  }
}

void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::Dispatch& message) {
  if (!log_->provisioned(ClusterMap::datacenter(from), message.part, message.fence))
    kernel_->violate("5", fmt::format("manager {} dispatches part {}.{} of job {} under fence {}.{}, which no majority "
                                      "has on disk",
                                      base::number(from), message.part.workflow, message.part.part,
                                      cluster::number(message.part.job), message.fence.epoch, message.fence.attempt));
  if (message.epoch > log_->epoch(ClusterMap::datacenter(from), message.part.job))
    kernel_->violate(
        "11", fmt::format("manager {} acts under epoch {} that the log never gave", base::number(from), message.epoch));
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::SubmitAnswer& message) {
  kernel_->hit(std::string("submit answered ").append(cluster::to_text(message.answer)));
  if (message.answer == cluster::Answer::kQuorumCircuitOpen && timeouts_[from].size() < 3)
    kernel_->violate("26", fmt::format("node {} says that its quorum's circuit is open after {} time-outs",
                                       base::number(from), timeouts_[from].size()));
  if (message.answer != cluster::Answer::kAccepted) return;
  const bool gate = ClusterMap::role(from) == ClusterMap::Role::kGate;
  const bool known = gate ? log_->submitted(message.job) : log_->accepted(ClusterMap::datacenter(from), message.job);
  if (!known)
    kernel_->violate("5", fmt::format("node {} acknowledges job {} to node {}, which no majority has on disk",
                                      base::number(from), cluster::number(message.job), base::number(to)));
}

void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::CancelAnswer& message) {
  if (message.answer != cluster::Answer::kOverloaded) return;
  // A job that is still being submitted cannot be cancelled yet, which is told alike.
  const bool gate = ClusterMap::role(from) == ClusterMap::Role::kGate;
  if (gate ? log_->submitted(message.job) : log_->accepted(ClusterMap::datacenter(from), message.job))
    kernel_->violate("28", fmt::format("node {} sheds the cancellation of job {}", base::number(from),
                                       cluster::number(message.job)));
}

void ClusterTalk::on(base::NodeId, base::NodeId, const cluster::DispatchAnswer& message) {
  kernel_->hit(std::string("dispatch answered ").append(cluster::to_text(message.reply)));
}

void ClusterTalk::on(base::NodeId, base::NodeId, const cluster::ExtensionAnswer& message) {
  kernel_->hit(message.granted ? "extension granted" : "extension refused");
}

void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::Ring& message) {
  std::vector<base::NodeId> gates = message.gates;
  base::Ring ring;
  for (const base::NodeId gate : gates) ring.add(gate);
  std::ranges::sort(gates);
  std::vector<base::NodeId> owners;
  for (std::uint64_t key = 0; key < kKeys; ++key) owners.push_back(ring.owner(base::mix(key)));
  const auto [known, fresh] = owners_.emplace(gates, owners);
  if (!fresh && known->second != owners)
    kernel_->violate("29", fmt::format("gate {} has other owners than gates with the same view", base::number(from)));
  if (!fresh) return;
  for (const auto& [others, before] : owners_) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const bool stays = std::ranges::find(gates, before[key]) != gates.end();
      const bool newcomer = std::ranges::find(others, owners[key]) == others.end();
      if (before[key] != owners[key] && stays && !newcomer)
        kernel_->violate("29", fmt::format("a key moves between gates {} and {} that were and are both there",
                                           base::number(before[key]), base::number(owners[key])));
    }
  }
}

}  // namespace muster::sim
