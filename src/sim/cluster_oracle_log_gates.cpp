// What the gates' log decided, entered into the account.
#include <algorithm>
#include <set>
#include <tuple>

#include "sim/cluster_oracle_log.h"

namespace muster::sim {

using cluster::JobId;

void ClusterLog::committed(std::uint64_t index, const cluster::GateEntry& entry, const cluster::GateLedger& after,
                           const std::vector<base::NodeId>& voters) {
  named_by_gates_.voters = voters;
  named_by_gates_.bodies.clear();
  for (const auto& [body, uses] : after.bodies()) named_by_gates_.bodies.push_back(body.hash);
  if (const auto* renewed = std::get_if<cluster::LeasesRenewed>(&entry.command)) return check_renewals(*renewed, after);
  JobId id{};
  std::optional<std::uint64_t> acts_under;
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    id = submitted->job;
    const cluster::GateLedgerJob* const job = after.job(id);
    if (job == nullptr || job->submitted != index) return;
    GateJob made;
    made.submitted = index;
    made.owner = submitted->owner;
    made.slots.resize(job->slots.size());
    if (!gate_jobs_.emplace(id, std::move(made)).second)
      kernel_->violate("13", fmt::format("job {} is submitted a second time, entry {}", cluster::number(id), index));
    check_body("a bundle", submitted->bundle, voters, {entry.proposer, entry.sequence});
  } else {
    std::visit(
        [&](const auto& each) {
          if constexpr (requires { each.fence.job; }) {
            id = each.fence.job;
            acts_under = each.fence.epoch;
          }
          if constexpr (requires { each.job; }) id = each.job;
        },
        entry.command);
  }
  const cluster::GateLedgerJob* const job = after.job(id);
  const auto known = gate_jobs_.find(id);
  if (known == gate_jobs_.end()) return;
  if (const auto* ended = std::get_if<cluster::SlotEnded>(&entry.command); ended != nullptr && job != nullptr)
    check_run_end(id, *job, ended->fence.slot);
  if (job != nullptr) return check_gate_job(id, *job, acts_under);
  if (!known->second.end)
    kernel_->violate("14", fmt::format("the gates forget job {} before its end", cluster::number(id)));
  known->second.forgotten = true;
  const base::Duration ended = known->second.ended_at;
  const bool kept = !lasted(ended, setup_.gate.keep_unacknowledged) && runs_->gates_keep_time(ended);
  if (kept && !known->second.taken)
    kernel_->violate("14", fmt::format("the gates forget job {} though nobody has taken its end", cluster::number(id)));
}

void ClusterLog::taken(base::NodeId by, JobId job) {
  if (ClusterMap::role(by) == ClusterMap::Role::kGate) {
    if (const auto found = gate_jobs_.find(job); found != gate_jobs_.end()) found->second.taken = true;
    return;
  }
  auto& jobs = places_[ClusterMap::datacenter(by) & 1].jobs;
  if (const auto found = jobs.find(job); found != jobs.end()) found->second.taken = true;
}

std::uint64_t ClusterLog::gate_epoch(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? 0 : found->second.epoch;
}

std::optional<cluster::JobState> ClusterLog::end_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? std::nullopt : found->second.end;
}

std::optional<base::Duration> ClusterLog::ended_at_gates_at(JobId job) const {
  const auto found = gate_jobs_.find(job);
  if (found == gate_jobs_.end() || !found->second.end) return std::nullopt;
  return found->second.ended_at;
}

bool ClusterLog::forgotten_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found != gate_jobs_.end() && found->second.forgotten;
}

std::size_t ClusterLog::results_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? 0 : found->second.results;
}

bool ClusterLog::cancelled_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found != gate_jobs_.end() && found->second.cancelled;
}

bool ClusterLog::offered(JobId job, const std::string& datacenter) const {
  const auto found = gate_jobs_.find(job);
  return found != gate_jobs_.end() && found->second.offered.contains(datacenter);
}

bool ClusterLog::awaited(JobId job, const std::string& datacenter) const {
  const auto found = gate_jobs_.find(job);
  if (found == gate_jobs_.end() || found->second.end) return false;
  return std::ranges::any_of(found->second.slots, [&](const GateSlot& slot) {
    const bool runs = slot.phase == cluster::SlotPhase::kOffered || slot.phase == cluster::SlotPhase::kAccepted;
    return runs && slot.datacenter == datacenter;
  });
}

std::vector<cluster::BodyRef> ClusterLog::left(std::uint32_t datacenter, JobId job, std::uint32_t workflow) const {
  std::vector<cluster::BodyRef> bodies;
  const auto& all = places_[datacenter].left;
  for (auto at = all.lower_bound({job, workflow, 0});
       at != all.end() && at->first.job == job && at->first.workflow == workflow; ++at)
    bodies.push_back(at->second.first);
  return bodies;
}

bool ClusterLog::told_whole(std::uint32_t datacenter, JobId job, const cluster::WorkflowStatus& status) const {
  if (status.results == left(datacenter, job, status.workflow)) return true;
  if (!status.results.empty() || setup_.gates == 0) return false;
  base::Duration held{};
  for (const auto& [part, body] : places_[datacenter].left) {
    if (part.job == job && part.workflow == status.workflow) held = std::max(held, body.second);
  }
  if (!lasted(held, setup_.gate.result_patience) && runs_->gates_keep_time(held)) return false;
  kernel_->hit("gate gave up waiting for a result");
  return true;
}

// Whatever a gate makes of it, the datacenter's own log knows how the job ended there, and that every workflow has.
void ClusterLog::check_run_end(JobId id, const cluster::GateLedgerJob& job, std::uint32_t slot) {
  const GateJob& known = gate_jobs_.at(id);
  if (slot >= job.slots.size() || known.slots[slot].phase == cluster::SlotPhase::kEnded) return;
  const cluster::GateSlot& now = job.slots[slot];
  if (now.phase != cluster::SlotPhase::kEnded) return;
  const auto truth = end(ClusterMap::datacenter(now.datacenter), id);
  if (truth != now.state)
    kernel_->violate(
        "16", fmt::format("the gates have it that job {} ended as {} at {}; there it is {}", cluster::number(id),
                          cluster::to_text(now.state), now.datacenter, truth ? cluster::to_text(*truth) : "open"));
  const auto told = std::ranges::count_if(
      job.results, [&](const cluster::GateResult& each) { return each.slot == slot && each.offer == now.offer; });
  if (static_cast<std::size_t>(told) != job.outline.workflows.size())
    kernel_->violate("12", fmt::format("the gates have it that job {} ended at {} and know the ends of {} of its {} "
                                       "workflows",
                                       cluster::number(id), now.datacenter, told, job.outline.workflows.size()));
}

// A row counts for who owns the job under that very epoch.
void ClusterLog::check_renewals(const cluster::LeasesRenewed& command, const cluster::GateLedger& after) {
  for (const cluster::Renewal& row : command.rows) {
    const cluster::GateLedgerJob* const job = after.job(row.job);
    const auto known = gate_jobs_.find(row.job);
    if (job == nullptr || known == gate_jobs_.end() || job->renewal != row.renewal) continue;
    if (row.epoch != known->second.epoch || command.holder != known->second.owner)
      kernel_->violate("9", fmt::format("gate {} renews the lease of job {} under epoch {}, which gate {} has under {}",
                                        base::number(command.holder.node), cluster::number(row.job), row.epoch,
                                        base::number(known->second.owner.node), known->second.epoch));
  }
}

void ClusterLog::check_gate_job(JobId id, const cluster::GateLedgerJob& job, std::optional<std::uint64_t> acts_under) {
  GateJob& known = gate_jobs_.at(id);
  const std::uint64_t name = cluster::number(id);
  std::vector<GateSlot> slots;
  for (const cluster::GateSlot& slot : job.slots) slots.push_back({slot.phase, slot.offer, slot.datacenter});
  const bool changed = slots != known.slots || job.results.size() != known.results;
  if (changed && acts_under && *acts_under != known.epoch)
    kernel_->violate("9", fmt::format("something was decided for job {} under the gates' epoch {}, which is at {}",
                                      name, *acts_under, known.epoch));
  if (job.epoch < known.epoch || (job.epoch == known.epoch && job.owner != known.owner))
    kernel_->violate("11",
                     fmt::format("job {} goes from gate {} to {}, and its epoch from {} to {}", name,
                                 base::number(known.owner.node), base::number(job.owner.node), known.epoch, job.epoch));
  for (std::size_t i = 0; i < std::min(slots.size(), known.slots.size()); ++i) {
    const GateSlot& before = known.slots[i];
    if (before.phase == cluster::SlotPhase::kEnded && slots[i] != before)
      kernel_->violate(
          "16", fmt::format("what {} made of job {} had ended, and now it is otherwise", before.datacenter, name));
    const bool again = slots[i].phase == cluster::SlotPhase::kOpen || slots[i].phase == cluster::SlotPhase::kOffered;
    if (before.phase == cluster::SlotPhase::kAccepted && again && !job.reroute)
      kernel_->violate("16", fmt::format("job {} is to run again elsewhere, which nobody asked for, since {} is lost",
                                         name, before.datacenter));
    if (slots[i].offer < before.offer)
      kernel_->violate(
          "11", fmt::format("the offers of slot {} of job {} go from {} to {}", i, name, before.offer, slots[i].offer));
  }
  if (job.epoch > known.epoch) kernel_->hit("job taken over by another gate");
  if (known.end && job.end != known.end)
    kernel_->violate("16", fmt::format("job {} had ended at the gates, and now it is otherwise", name));
  if (job.end && !known.end) {
    known.ended_at = kernel_->elapsed();
    kernel_->hit(std::string("gates' job ").append(cluster::to_text(*job.end)));
  }
  known.owner = job.owner;
  known.epoch = job.epoch;
  known.end = job.end;
  known.cancelled = known.cancelled || job.cancel.has_value();
  if (job.end == cluster::JobState::kCancelled && !known.cancelled)
    kernel_->violate("16", fmt::format("job {} ends as cancelled at the gates, which nobody asked for", name));
  for (const GateSlot& slot : slots) {
    if (slot.offer > 0) known.offered.insert(slot.datacenter);
  }
  known.slots = std::move(slots);
  for (std::size_t i = known.results; i < job.results.size(); ++i) {
    const cluster::GateResult& result = job.results[i];
    if (!told_whole(ClusterMap::datacenter(result.datacenter), id, result.status))
      kernel_->violate("12",
                       fmt::format("the gates know {} of the {} bodies that workflow {} of job {} left at {}",
                                   result.status.results.size(),
                                   left(ClusterMap::datacenter(result.datacenter), id, result.status.workflow).size(),
                                   result.status.workflow, name, result.datacenter));
  }
  known.results = job.results.size();
  if (job.end) {
    open_gate_jobs_.erase(id);
  } else {
    open_gate_jobs_.insert(id);
  }
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  for (const cluster::GateResult& result : job.results) {
    if (!seen.insert({result.slot, result.offer, result.status.workflow}).second)
      kernel_->violate(
          "12", fmt::format("the gates have the end of workflow {} of job {} twice", result.status.workflow, name));
  }
}

}  // namespace muster::sim
