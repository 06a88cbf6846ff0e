#include "cluster/gate_ledger.h"

#include <algorithm>

#include "base/hash.h"
#include "cluster/gate_ledger_codec.h"

namespace muster::cluster {

bool received(const GateLedgerJob& job, std::uint32_t slot, std::uint32_t offer, std::uint32_t workflow) {
  return std::ranges::any_of(job.results, [&](const GateResult& result) {
    return result.slot == slot && result.offer == offer && result.status.workflow == workflow;
  });
}

std::size_t results_of(const GateLedgerJob& job, std::uint32_t slot, std::uint32_t offer) {
  return static_cast<std::size_t>(std::ranges::count_if(
      job.results, [&](const GateResult& result) { return result.slot == slot && result.offer == offer; }));
}

bool may_offer(const GateLedgerJob& job, const std::string& datacenter) {
  if (std::ranges::binary_search(job.abandoned, datacenter)) return false;
  return std::ranges::none_of(
      job.slots, [&](const GateSlot& slot) { return slot.phase != SlotPhase::kOpen && slot.datacenter == datacenter; });
}

JobState end_of(const GateLedgerJob& job) {
  const auto all = [&](JobState state) {
    return std::ranges::all_of(job.slots, [&](const GateSlot& slot) { return slot.state == state; });
  };
  const auto any = [&](JobState state) {
    return std::ranges::any_of(job.slots, [&](const GateSlot& slot) { return slot.state == state; });
  };
  if (all(JobState::kCompleted)) return JobState::kCompleted;
  if (job.cancel && any(JobState::kCancelled)) return JobState::kCancelled;
  const bool something = std::ranges::any_of(
      job.results, [](const GateResult& result) { return result.status.state == WorkflowState::kCompleted; });
  if (any(JobState::kCompleted) || any(JobState::kPartial) || something) return JobState::kPartial;
  return all(JobState::kTimeout) ? JobState::kTimeout : JobState::kFailed;
}

const GateLedgerJob* GateLedger::job(JobId id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

const Tombstone* GateLedger::tombstone(JobId id) const {
  return tombstones_.find(id);
}

std::uint64_t GateLedger::digest() const {
  std::string bytes;
  encode(*this, bytes);
  return base::digest_of(bytes);
}

void GateLedger::name_body(const BodyRef& body) {
  if (body.size != 0) ++bodies_[body];
}

void GateLedger::drop_body(const BodyRef& body) {
  const auto at = bodies_.find(body);
  if (at != bodies_.end() && --at->second == 0) bodies_.erase(at);
}

void GateLedger::name_results(const GateResult& result) {
  result_bodies_ += result.status.results.size();
  for (const BodyRef& body : result.status.results) name_body(body);
}

}  // namespace muster::cluster
