#include "sim/cluster_echoes.h"

#include <optional>
#include <variant>

#include "cluster/command_codec.h"

namespace muster::sim {

namespace {

// Proposals that are remembered: enough for those of a take-over, and few to look through.
constexpr std::size_t kMostProposals = 512;

ClusterEchoes::Echo echo_of(base::NodeId node, const Packet& packet) {
  return {.sender = packet.sender, .from = packet.from, .to = node, .frame = std::string(packet.bytes)};
}

struct Decided {
  cluster::JobId job;
  std::uint64_t epoch;
};

// What a job's leader decides under its epoch.
std::optional<Decided> decided(const cluster::Command& command) {
  return std::visit(
      [](const auto& each) -> std::optional<Decided> {
        if constexpr (requires { each.epoch, each.job; }) return Decided{each.job, each.epoch};
        if constexpr (requires { each.epoch, each.part.job; }) return Decided{each.part.job, each.epoch};
        return std::nullopt;
      },
      command);
}

}  // namespace

void ClusterEchoes::heard(base::NodeId node, const Packet& packet, const cluster::Message& message) {
  if (const auto* order = std::get_if<cluster::Dispatch>(&message)) {
    superseded(node, order->part, order->fence);
    dispatches_.try_emplace({node, order->part}, order->fence, echo_of(node, packet));
  } else if (const auto* stop = std::get_if<cluster::StopPart>(&message)) {
    superseded(node, stop->part, stop->fence);
  } else if (const auto* forward = std::get_if<cluster::Forward>(&message)) {
    const auto entry = cluster::decode_entry(forward->entry);
    const auto what = entry ? decided(entry->command) : std::nullopt;
    if (!what || ClusterMap::role(node) != ClusterMap::Role::kManager) return;
    if (proposals_.size() == kMostProposals) proposals_.erase(proposals_.begin());
    proposals_.push_back({ClusterMap::datacenter(node), what->job, what->epoch, echo_of(node, packet)});
    proposals_.back().echo.proposal = true;
  }
}

void ClusterEchoes::superseded(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& by) {
  const auto known = dispatches_.find({worker, part});
  if (known == dispatches_.end() || known->second.first >= by) return;
  ready_.push_back(std::move(known->second.second));
  dispatches_.erase(known);
}

std::vector<ClusterEchoes::Echo> ClusterEchoes::take(const ClusterLog& log) {
  std::erase_if(proposals_, [&](Proposal& each) {
    if (log.epoch(each.datacenter, each.job) <= each.epoch) return false;
    ready_.push_back(std::move(each.echo));
    return true;
  });
  return std::exchange(ready_, {});
}

}  // namespace muster::sim
