// What the gates' log decided, entered into the account.
#include <algorithm>
#include <set>
#include <tuple>

#include "sim/cluster_oracle_log.h"

namespace muster::sim {

using cluster::JobId;

void ClusterLog::committed(std::uint64_t index, const cluster::GateEntry& entry, const cluster::GateLedger& after,
                           const std::vector<base::NodeId>& voters) {
  JobId id{};
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    id = submitted->job;
    const cluster::GateLedgerJob* const job = after.job(id);
    if (job == nullptr || job->submitted != index) return;
    GateJob made;
    made.submitted = index;
    if (!gate_jobs_.emplace(id, std::move(made)).second)
      kernel_->violate("13", fmt::format("job {} is submitted a second time, entry {}", cluster::number(id), index));
    if (!gate_jobs_.at(id).end) open_gate_jobs_.insert(id);
    check_body("a bundle", submitted->bundle, voters);
  } else if (const auto* moved = std::get_if<cluster::LeaseMoved>(&entry.command)) {
    id = moved->job;
    const cluster::GateLedgerJob* const job = after.job(id);
    if (job != nullptr && job->epoch == moved->epoch && job->owner == moved->to) {
      const auto [known, fresh] = gate_jobs_.try_emplace(id);
      if (fresh) open_gate_jobs_.insert(id);
      if (known->second.epoch < moved->epoch) kernel_->hit("job taken over by another gate");
    }
  } else {
    std::visit(
        [&id](const auto& each) {
          if constexpr (requires { each.fence.job; }) id = each.fence.job;
          if constexpr (requires { each.job; }) id = each.job;
        },
        entry.command);
  }
  const cluster::GateLedgerJob* const job = after.job(id);
  const auto known = gate_jobs_.find(id);
  if (known == gate_jobs_.end()) return;
  if (job == nullptr) {
    if (!known->second.end)
      kernel_->violate("14", fmt::format("the gates forget job {} before its end", cluster::number(id)));
    return;
  }
  if (job->epoch < known->second.epoch)
    kernel_->violate("11", fmt::format("the gates' epoch of job {} falls from {} to {}", cluster::number(id),
                                       known->second.epoch, job->epoch));
  known->second.epoch = job->epoch;
  if (known->second.end && job->end != known->second.end)
    kernel_->violate("16", fmt::format("job {} had ended at the gates, and now it is otherwise", cluster::number(id)));
  if (job->end && !known->second.end) kernel_->hit(std::string("gates' job ").append(cluster::to_text(*job->end)));
  known->second.end = job->end;
  known->second.cancelled = known->second.cancelled || job->cancel.has_value();
  known->second.slots.clear();
  for (const cluster::GateSlot& slot : job->slots)
    known->second.slots.push_back({slot.phase, slot.offer, slot.datacenter});
  if (job->end) {
    open_gate_jobs_.erase(id);
  } else {
    open_gate_jobs_.insert(id);
  }
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  for (const cluster::GateResult& result : job->results) {
    if (!seen.insert({result.slot, result.offer, result.status.workflow}).second)
      kernel_->violate("12", fmt::format("the gates have the end of workflow {} of job {} twice",
                                         result.status.workflow, cluster::number(id)));
  }
}

std::uint64_t ClusterLog::gate_epoch(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? 0 : found->second.epoch;
}

std::optional<cluster::JobState> ClusterLog::end_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? std::nullopt : found->second.end;
}

bool ClusterLog::cancelled_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found != gate_jobs_.end() && found->second.cancelled;
}

bool ClusterLog::awaited(JobId job, const std::string& datacenter) const {
  const auto found = gate_jobs_.find(job);
  if (found == gate_jobs_.end() || found->second.end) return false;
  return std::ranges::any_of(found->second.slots, [&](const GateSlot& slot) {
    const bool runs = slot.phase == cluster::SlotPhase::kOffered || slot.phase == cluster::SlotPhase::kAccepted;
    return runs && slot.datacenter == datacenter;
  });
}

}  // namespace muster::sim
