#include "cluster/gate_status.h"

#include <algorithm>

namespace muster::cluster {

JobState state_of(const GateLedgerJob& job) {
  if (job.end) return *job.end;
  if (job.cancel) return JobState::kCancelling;
  const auto any = [&](SlotPhase phase) {
    return std::ranges::any_of(job.slots, [&](const GateSlot& slot) { return slot.phase == phase; });
  };
  if (any(SlotPhase::kAccepted)) return JobState::kRunning;
  return any(SlotPhase::kOffered) ? JobState::kDispatching : JobState::kProvisioning;
}

std::vector<DatacenterStatus> datacenters_of(const GateLedgerJob& job) {
  std::vector<DatacenterStatus> list;
  for (std::uint32_t i = 0; i < job.slots.size(); ++i) {
    const GateSlot& slot = job.slots[i];
    DatacenterStatus status;
    status.name = slot.datacenter.empty() && job.exact ? job.datacenters[i] : slot.datacenter;
    status.lost = slot.lost;
    status.reason = slot.reason;
    status.elapsed = slot.elapsed;
    status.workflows = static_cast<std::uint32_t>(job.outline.workflows.size());
    if (slot.phase == SlotPhase::kEnded) {
      status.state = slot.state;
    } else if (slot.phase == SlotPhase::kAccepted) {
      status.state = JobState::kRunning;
    } else {
      status.state = slot.phase == SlotPhase::kOffered ? JobState::kDispatching : JobState::kProvisioning;
    }
    for (const GateResult& result : job.results) {
      if (result.slot != i || result.offer != slot.offer) continue;
      ++status.workflows_ended;
      status.counts.add(result.status.counts);
    }
    list.push_back(std::move(status));
  }
  return list;
}

SubmitAnswer answer_of(JobId id, const GateLedgerJob& job) {
  SubmitAnswer answer;
  answer.job = id;
  answer.state = state_of(job);
  answer.leader = job.owner.node;
  answer.epoch = job.epoch;
  return answer;
}

StatusAnswer status_of(JobId id, const GateLedgerJob& job) {
  StatusAnswer answer;
  answer.job = id;
  answer.state = state_of(job);
  answer.leader = job.owner.node;
  answer.epoch = job.epoch;
  answer.datacenters = datacenters_of(job);
  return answer;
}

WorkflowEnded result_of(JobId id, const GateLedgerJob& job, std::uint32_t index) {
  const GateResult& result = job.results[index];
  WorkflowEnded message;
  message.job = id;
  message.epoch = job.epoch;
  message.status = result.status;
  message.datacenter = result.datacenter;
  message.sequence = index + 1;
  return message;
}

JobEnd end_message(JobId id, const GateLedgerJob& job) {
  JobEnd message;
  message.job = id;
  message.epoch = job.epoch;
  message.state = *job.end;
  message.datacenters = datacenters_of(job);
  message.results = static_cast<std::uint32_t>(job.results.size());
  for (const GateSlot& slot : job.slots) {
    message.elapsed = std::max(message.elapsed, slot.elapsed);
    if (message.reason.empty() && slot.state != JobState::kCompleted) message.reason = slot.reason;
  }
  return message;
}

}  // namespace muster::cluster
