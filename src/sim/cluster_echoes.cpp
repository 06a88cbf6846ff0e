#include "sim/cluster_echoes.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "base/hash.h"
#include "cluster/command_codec.h"

namespace muster::sim {

namespace {

// Proposals that are remembered: enough for those of a take-over, and few to look through.
constexpr std::size_t kMostProposals = 512;

ClusterEchoes::Echo echo_of(base::NodeId node, const Packet& packet) {
  return {.sender = packet.sender,
          .from = packet.from,
          .to = node,
          .sent = packet.sent,
          .frame = std::string(packet.bytes)};
}

// Of proposals that leaders of jobs forward, every so many is kept back. Those who asked for it ask anew after a time.
constexpr std::uint64_t kKeptBack = 6;

// Of jobs that a worker has parts of, each so many makes it deaf.
constexpr std::uint64_t kDeafTo = 12;

bool kept_back(const cluster::Entry& entry) {
  return base::mix(base::number(entry.proposer.node) ^
                   base::mix(number(entry.proposer.life) ^ base::mix(entry.sequence))) %
             kKeptBack ==
         0;
}

}  // namespace

void ClusterEchoes::leaves(const cluster::Message& message, const Echo& as) {
  const auto* const order = std::get_if<cluster::Dispatch>(&message);
  if (order == nullptr || ended_) return;
  const auto reached = reached_.find({as.to, order->part});
  if (reached != reached_.end() && order->fence <= reached->second) return;
  Unheard& known = unheard_[{as.to, order->part}];
  if (order->fence >= known.fence) known = {order->fence, order->worker_life, order->admission, as};
}

bool ClusterEchoes::heard(base::NodeId node, const Packet& packet, const cluster::Message& message) {
  if (deaf(node, message)) return false;
  if (const auto* order = std::get_if<cluster::Dispatch>(&message)) {
    superseded(node, order->part, order->fence);
    reached(node, order->part, order->fence);
    dispatches_.try_emplace({node, order->part}, order->fence, echo_of(node, packet));
  } else if (const auto* stop = std::get_if<cluster::StopPart>(&message)) {
    superseded(node, stop->part, stop->fence);
    reached(node, stop->part, stop->fence);
  } else if (const auto* forward = std::get_if<cluster::Forward>(&message)) {
    const auto entry = cluster::decode_entry(forward->entry);
    const std::uint64_t epoch = entry ? epoch_of(entry->command) : 0;
    if (epoch == 0 || ClusterMap::role(node) != ClusterMap::Role::kManager) return true;
    Proposal proposal{ClusterMap::datacenter(node), job_of(entry->command), epoch, echo_of(node, packet)};
    if (superseded(proposal)) return true;
    proposal.echo.proposal = true;
    const bool keep = !ended_ && kept_back(*entry);
    std::vector<Proposal>& list = keep ? kept_back_ : proposals_;
    if (list.size() == kMostProposals) list.erase(list.begin());
    list.push_back(std::move(proposal));
    return !keep;
  }
  return true;
}

void ClusterEchoes::superseded(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& by) {
  const auto known = dispatches_.find({worker, part});
  if (known == dispatches_.end() || known->second.first >= by) return;
  ready_.push_back(std::move(known->second.second));
  dispatches_.erase(known);
}

bool ClusterEchoes::deaf(base::NodeId node, const cluster::Message& message) {
  const auto* const order = std::get_if<cluster::Dispatch>(&message);
  if (ended_ || (order == nullptr && !std::holds_alternative<cluster::StopPart>(message))) return false;
  if (deaf_.node != base::kNoNode && log_->admission(ClusterMap::datacenter(deaf_.node), deaf_) != deaf_under_) {
    const bool was = deaf_.node == node;
    deaf_ = {};
    if (was) return false;
  }
  if (deaf_.node == base::kNoNode && order != nullptr &&
      base::mix(base::number(node) ^ base::mix(cluster::number(order->part.job))) % kDeafTo == 0) {
    deaf_ = {node, order->worker_life};
    deaf_under_ = order->admission;
  }
  return deaf_.node == node;
}

// From now on it refuses this fence, or knows it, whatever it thinks of admissions.
void ClusterEchoes::reached(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& fence) {
  cluster::Fence& highest = reached_[{worker, part}];
  highest = std::max(highest, fence);
  const auto known = unheard_.find({worker, part});
  if (known != unheard_.end() && known->second.fence <= fence) unheard_.erase(known);
}

std::vector<ClusterEchoes::Echo> ClusterEchoes::take() {
  std::vector<Echo> taken = take_superseded(proposals_);
  take_readmitted(taken);
  std::ranges::move(std::exchange(ready_, {}), std::back_inserter(taken));
  return taken;
}

void ClusterEchoes::take_readmitted(std::vector<Echo>& taken) {
  for (auto at = unheard_.begin(); at != unheard_.end();) {
    const base::NodeId worker = at->first.first;
    Unheard& order = at->second;
    const bool back = log_->admission(ClusterMap::datacenter(worker), {worker, order.life}) > order.admission;
    // As long as the part is still its own it may run it.
    if (!back || log_->gives(worker, at->first.second, order.fence)) {
      ++at;
      continue;
    }
    taken.push_back(std::move(order.echo));
    at = unheard_.erase(at);
  }
}

std::vector<ClusterEchoes::Echo> ClusterEchoes::take_kept_back() {
  return ended_ ? std::vector<Echo>() : take_superseded(kept_back_);
}

bool ClusterEchoes::superseded(const Proposal& proposal) const {
  return log_->epoch(proposal.datacenter, proposal.job) > proposal.epoch;
}

std::vector<ClusterEchoes::Echo> ClusterEchoes::take_superseded(std::vector<Proposal>& from) const {
  std::vector<Echo> taken;
  std::erase_if(from, [&](Proposal& each) {
    if (!superseded(each)) return false;
    taken.push_back(std::move(each.echo));
    return true;
  });
  return taken;
}

}  // namespace muster::sim
