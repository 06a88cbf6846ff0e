#include "cluster/gate_ledger_rules.h"

#include <algorithm>
#include <set>

#include "cluster/gate_options.h"

namespace muster::cluster {
namespace {

bool sound(const JobSubmitted& command) {
  if (!layers(command.outline) || command.owner.node == kNoNode || command.bundle.size > kMaxBodyBytes) return false;
  if (command.datacenters.size() > kMaxDatacenters || command.count > kMaxDatacenters) return false;
  if (command.count == 0 && command.datacenters.empty()) return false;
  std::set<std::string_view> names;
  return std::ranges::all_of(command.datacenters, [&](const std::string& name) {
    return !name.empty() && name.size() <= kMaxName && names.insert(name).second;
  });
}

std::string cut(std::string text, std::size_t limit) {
  if (text.size() > limit) text.resize(limit);
  return text;
}

}  // namespace

std::size_t outline_bytes(const JobOutline& outline) {
  std::size_t bytes = outline.name.size() + sizeof(JobOutline);
  for (const WorkflowOutline& workflow : outline.workflows) {
    bytes += sizeof(WorkflowOutline) + workflow.name.size() + workflow.depends.size() * sizeof(std::uint32_t);
  }
  return bytes;
}

std::size_t most_results(const GateLedgerJob& job) {
  return (job.slots.size() + (job.reroute ? kMaxReroutes : 0)) * job.outline.workflows.size();
}

Verdict GateLedger::apply(std::uint64_t index, const GateEntry& entry) {
  if (index <= index_) return Verdict::kRepeated;
  index_ = index;
  return std::visit(GateLedgerRules(*this, index, entry), entry.command);
}

Verdict GateLedgerRules::operator()(const JobSubmitted& command) {
  if (const GateLedgerJob* known = find(command.job)) {
    return known->client == command.client ? Verdict::kRepeated : Verdict::kJobConflict;
  }
  if (const Tombstone* ended = ledger_.tombstone(command.job)) {
    return ended->client == command.client ? Verdict::kJobEnded : Verdict::kJobConflict;
  }
  if (std::ranges::find(ledger_.refused_, RefusedProposal{entry_.proposer, entry_.sequence}) !=
      ledger_.refused_.end()) {
    return Verdict::kLedgerFull;
  }
  if (!sound(command)) return Verdict::kInvalid;
  GateLedgerJob job;
  job.submitted = index_;
  job.client = command.client;
  job.owner = command.owner;
  job.renewal = command.renewal;
  job.bundle = command.bundle;
  job.outline = command.outline;
  job.datacenters = command.datacenters;
  job.exact = command.count == 0;
  job.reroute = command.reroute;
  job.slots.resize(job.exact ? command.datacenters.size() : command.count);
  const std::size_t bytes = outline_bytes(job.outline);
  if (ledger_.jobs_.size() >= kMaxGateJobs || most_results(job) > ledger_.free_results() ||
      bytes > kMaxGateOutlineBytes - ledger_.outline_bytes_) {
    return refuse_submission(Verdict::kLedgerFull);
  }
  ledger_.outline_bytes_ += bytes;
  ledger_.reserved_ += most_results(job);
  ledger_.name_body(job.bundle);
  ledger_.jobs_.emplace(command.job, std::move(job));
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const LeasesRenewed& command) {
  bool any = false;
  for (const Renewal& row : command.rows) {
    GateLedgerJob* job = find(row.job);
    if (job == nullptr || job->end || job->epoch != row.epoch || job->owner != command.holder) continue;
    any = true;
    job->renewal = row.renewal;
    for (std::size_t i = 0; i < job->slots.size(); ++i) {
      GateSlot& slot = job->slots[i];
      if ((row.heard >> i & 1) != 0 && slot.phase == SlotPhase::kAccepted) slot.heard = job->renewal;
    }
  }
  return any ? Verdict::kApplied : Verdict::kStaleEpoch;
}

Verdict GateLedgerRules::operator()(const LeaseMoved& command) {
  GateLedgerJob* job = find(command.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  if (job->end) return Verdict::kJobEnded;
  if (command.to.node == kNoNode) return Verdict::kInvalid;
  if (command.epoch == job->epoch && command.to == job->owner) return Verdict::kRepeated;
  if (command.epoch - job->epoch != 1 || command.last != job->renewal) return Verdict::kStaleEpoch;
  job->owner = command.to;
  job->epoch = command.epoch;
  job->renewal = command.renewal;
  // The new owner has heard of nobody yet: the datacenters' leases begin anew.
  for (GateSlot& slot : job->slots) slot.heard = job->renewal;
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const SlotOffered& command) {
  if (command.datacenter.empty() || command.datacenter.size() > kMaxName) return Verdict::kInvalid;
  if (const Found same = find(command.fence, false);
      same.verdict == Verdict::kApplied && same.slot->datacenter == command.datacenter) {
    return Verdict::kRepeated;
  }
  const Found found = find(command.fence, true);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  if (found.job->cancel) return Verdict::kCancelled;
  if (found.slot->phase > SlotPhase::kOffered || command.fence.offer > kMaxOffers) return Verdict::kWrongState;
  if (!may_offer(*found.job, command.datacenter)) return Verdict::kWrongState;
  if (found.slot->phase == SlotPhase::kOffered && !command.refused && !abandon(*found.job, *found.slot)) {
    return Verdict::kLedgerFull;
  }
  found.slot->phase = SlotPhase::kOffered;
  found.slot->offer = command.fence.offer;
  found.slot->datacenter = command.datacenter;
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const SlotAccepted& command) {
  const Found found = find(command.fence, false);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  if (found.slot->phase > SlotPhase::kOffered) return Verdict::kRepeated;
  if (found.slot->phase == SlotPhase::kOpen) return Verdict::kWrongState;
  accept(*found.job, *found.slot);
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const WorkflowReceived& command) {
  const Found found = find(command.fence, false);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  const WorkflowStatus& status = command.status;
  if (status.workflow >= found.job->outline.workflows.size() || !terminal(status.state) ||
      status.results.size() > kMaxParts) {
    return Verdict::kInvalid;
  }
  if (received(*found.job, command.fence.slot, command.fence.offer, status.workflow)) return Verdict::kRepeated;
  if (found.slot->phase == SlotPhase::kOpen || found.slot->phase == SlotPhase::kEnded) return Verdict::kWrongState;
  // Who tells a result has accepted the job, whether or not its answer came through.
  if (found.slot->phase == SlotPhase::kOffered) accept(*found.job, *found.slot);
  GateResult result{command.fence.slot, command.fence.offer, found.slot->datacenter, status};
  result.status.reason = cut(std::move(result.status.reason), kMaxReason);
  if (result.status.results.size() > kMaxGateBodies - ledger_.result_bodies_) {
    result.status.results.clear();
    result.status.reason = cut("There was no room to keep its results. " + result.status.reason, kMaxReason);
  }
  ledger_.name_results(result);
  found.job->results.push_back(std::move(result));
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const SlotEnded& command) {
  const Found found = find(command.fence, false);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  if (!terminal(command.state)) return Verdict::kInvalid;
  if (found.slot->phase == SlotPhase::kEnded) return found.slot->lost ? Verdict::kStaleFence : Verdict::kRepeated;
  if (found.slot->phase == SlotPhase::kOpen) return Verdict::kWrongState;
  const std::size_t told = results_of(*found.job, command.fence.slot, command.fence.offer);
  // Who reads that it completed counts on all of its results.
  if (command.state == JobState::kCompleted && told < found.job->outline.workflows.size()) return Verdict::kWrongState;
  found.slot->elapsed = command.elapsed;
  end_slot(*found.job, *found.slot, command.state, command.reason);
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const SlotLost& command) {
  const Found found = find(command.fence, false);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  if (found.slot->phase == SlotPhase::kEnded && found.slot->lost) return Verdict::kRepeated;
  if (found.slot->phase != SlotPhase::kAccepted) return Verdict::kWrongState;
  if (found.slot->heard != command.heard) return Verdict::kStaleFence;
  const bool remembered = abandon(*found.job, *found.slot);
  if (remembered && command.loss == SlotLoss::kUnheard && found.job->reroute && !found.job->cancel &&
      found.job->reroutes < kMaxReroutes) {
    ++found.job->reroutes;
    found.slot->phase = SlotPhase::kOpen;
    return Verdict::kApplied;
  }
  found.slot->lost = true;
  end_slot(*found.job, *found.slot, found.job->cancel ? JobState::kCancelled : JobState::kFailed, command.reason);
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const SlotFailed& command) {
  const Found found = find(command.fence, false);
  if (found.verdict != Verdict::kApplied) return found.verdict;
  if (command.state != JobState::kFailed && command.state != JobState::kCancelled &&
      command.state != JobState::kTimeout) {
    return Verdict::kInvalid;
  }
  if (found.slot->phase == SlotPhase::kEnded) return Verdict::kRepeated;
  if (found.slot->phase == SlotPhase::kAccepted) return Verdict::kWrongState;
  if (found.slot->phase == SlotPhase::kOffered && !command.refused) static_cast<void>(abandon(*found.job, *found.slot));
  end_slot(*found.job, *found.slot, command.state, command.reason);
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const JobCancelled& command) {
  GateLedgerJob* job = find(command.job);
  if (job == nullptr) return ledger_.tombstone(command.job) != nullptr ? Verdict::kJobEnded : Verdict::kUnknownJob;
  if (job->client != command.client) return Verdict::kJobConflict;
  if (job->end) return Verdict::kJobEnded;
  if (job->cancel) return Verdict::kRepeated;
  job->cancel = command;
  job->cancel->requester = cut(std::move(job->cancel->requester), kMaxName);
  job->cancel->reason = cut(std::move(job->cancel->reason), kMaxReason);
  for (GateSlot& slot : job->slots) {
    if (slot.phase == SlotPhase::kOpen) end_slot(*job, slot, JobState::kCancelled, "cancelled before it began");
  }
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const EndAcknowledged& command) {
  GateLedgerJob* job = find(command.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  if (!job->end) return Verdict::kWrongState;
  if (job->acknowledged) return Verdict::kRepeated;
  job->acknowledged = true;
  return Verdict::kApplied;
}

Verdict GateLedgerRules::operator()(const GateJobForgotten& command) {
  GateLedgerJob* job = find(command.job);
  if (job == nullptr) return ledger_.tombstone(command.job) != nullptr ? Verdict::kRepeated : Verdict::kUnknownJob;
  if (!job->end) return Verdict::kWrongState;
  for (const GateResult& result : job->results) {
    ledger_.result_bodies_ -= result.status.results.size();
    for (const BodyRef& body : result.status.results) ledger_.drop_body(body);
  }
  ledger_.reserved_ -= most_results(*job);
  ledger_.outline_bytes_ -= outline_bytes(job->outline);
  ledger_.tombstones_.push_back({command.job, job->client, *job->end});
  ledger_.jobs_.erase(command.job);
  return Verdict::kApplied;
}

GateLedgerJob* GateLedgerRules::find(JobId id) {
  const auto at = ledger_.jobs_.find(id);
  return at == ledger_.jobs_.end() ? nullptr : &at->second;
}

GateLedgerRules::Found GateLedgerRules::find(const SlotFence& fence, bool next_offer) {
  GateLedgerJob* job = find(fence.job);
  if (job == nullptr) return {.verdict = Verdict::kUnknownJob};
  if (fence.slot >= job->slots.size()) return {.verdict = Verdict::kInvalid};
  GateSlot& slot = job->slots[fence.slot];
  if (job->end && slot.phase != SlotPhase::kEnded) return {.verdict = Verdict::kJobEnded};
  if (fence.epoch != job->epoch) return {.verdict = Verdict::kStaleEpoch};
  if (fence.offer != slot.offer + (next_offer ? 1 : 0)) return {.verdict = Verdict::kStaleFence};
  return {job, &slot, Verdict::kApplied};
}

Verdict GateLedgerRules::refuse_submission(Verdict verdict) {
  if (ledger_.refused_.size() >= kMaxRefusedProposals) ledger_.refused_.pop_front();
  ledger_.refused_.push_back({entry_.proposer, entry_.sequence});
  return verdict;
}

void GateLedgerRules::accept(GateLedgerJob& job, GateSlot& slot) {
  slot.phase = SlotPhase::kAccepted;
  slot.heard = job.renewal;
}

bool GateLedgerRules::abandon(GateLedgerJob& job, const GateSlot& slot) {
  const auto at = std::ranges::lower_bound(job.abandoned, slot.datacenter);
  if (at != job.abandoned.end() && *at == slot.datacenter) return true;
  if (job.abandoned.size() >= kMaxDatacenters) return false;
  job.abandoned.insert(at, slot.datacenter);
  return true;
}

void GateLedgerRules::end_slot(GateLedgerJob& job, GateSlot& slot, JobState state, const std::string& reason) {
  slot.phase = SlotPhase::kEnded;
  slot.state = state;
  slot.reason = cut(reason, kMaxReason);
  const bool all =
      std::ranges::all_of(job.slots, [](const GateSlot& other) { return other.phase == SlotPhase::kEnded; });
  if (!all || job.end) return;
  job.end = end_of(job);
  ledger_.drop_body(job.bundle);
}

}  // namespace muster::cluster
