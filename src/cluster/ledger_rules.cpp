// What each command does to the ledger, and when it does nothing. Every rule here is the last line of defence: whatever
// a proposer believed, only this decides.
#include <algorithm>
#include <map>

#include "cluster/ledger.h"
#include "cluster/options.h"

namespace muster::cluster {

class LedgerRules {
 public:
  LedgerRules(Ledger& ledger, std::uint64_t index, const Entry& entry)
      : ledger_(ledger), index_(index), entry_(entry) {}

  Verdict operator()(const JobAccepted& command);
  Verdict operator()(const JobOwner& command);
  Verdict operator()(const Provision& command);
  Verdict operator()(const PartLost& command);
  Verdict operator()(const LayerContext& command);
  Verdict operator()(const ResultHeld& command);
  Verdict operator()(const JobEnded& command);
  Verdict operator()(const CancelRequested& command);
  Verdict operator()(const WorkerAdmitted& command);
  Verdict operator()(const WorkerEvicted& command);
  Verdict operator()(const JobForgotten& command);
  Verdict operator()(const Configuration& command);
  Verdict operator()(const CoresDone& command);

 private:
  LedgerJob* find(JobId id);
  LedgerPart* find(const PartId& id);
  // Whether the job is there, open, and led under this epoch.
  Verdict led(const LedgerJob* job, std::uint64_t epoch) const;
  Verdict refuse_acceptance(Verdict verdict);
  Verdict check_cut(const LedgerWorkflow& workflow, const Provision& command) const;
  Verdict check_cores(const Provision& command) const;
  void release(const PartId& id, const LedgerPart& part);
  void give_back(const LedgerPart& part, std::uint32_t cores);
  void end_part(LedgerPart& part, PartOutcome outcome, std::string reason);
  void settle(LedgerJob& job, LedgerWorkflow& workflow);
  void skip_dependents(LedgerJob& job);
  bool make_room_for_worker();
  void bury(const Tombstone& tombstone);

  Ledger& ledger_;
  std::uint64_t index_;
  const Entry& entry_;
};

Verdict Ledger::apply(std::uint64_t index, const Entry& entry) {
  if (index <= index_) return Verdict::kRepeated;
  index_ = index;
  return std::visit(LedgerRules(*this, index, entry), entry.command);
}

void Ledger::name_body(const BodyRef& body) {
  if (body.size == 0) return;
  NamedBody& named = bodies_[body.hash];
  named.size = body.size;
  ++named.uses;
}

void Ledger::drop_body(const BodyRef& body) {
  const auto at = bodies_.find(body.hash);
  if (body.size != 0 && at != bodies_.end() && --at->second.uses == 0) bodies_.erase(at);
}

Verdict LedgerRules::operator()(const JobAccepted& command) {
  if (const LedgerJob* known = find(command.job)) {
    return known->client == command.client ? Verdict::kRepeated : Verdict::kJobConflict;
  }
  if (const Tombstone* ended = ledger_.tombstone(command.job)) {
    return ended->client == command.client ? Verdict::kJobEnded : Verdict::kJobConflict;
  }
  if (std::ranges::find(ledger_.refused_, RefusedProposal{entry_.proposer, entry_.sequence}) !=
      ledger_.refused_.end()) {
    return Verdict::kQueueFull;
  }
  const auto layer = layers(command.outline);
  if (!layer || command.owner.node == kNoNode || command.bundle.size > kMaxBodyBytes) return Verdict::kInvalid;
  if (ledger_.queued() >= kMaxQueued) return refuse_acceptance(Verdict::kQueueFull);
  if (ledger_.jobs_.size() >= kMaxJobs) return refuse_acceptance(Verdict::kLedgerFull);
  LedgerJob job;
  job.accepted = index_;
  job.client = command.client;
  job.origin = command.origin;
  job.origin_epoch = command.origin_epoch;
  job.owner = command.owner;
  job.bundle = command.bundle;
  job.outline = command.outline;
  job.workflows.resize(command.outline.workflows.size());
  for (std::size_t i = 0; i < job.workflows.size(); ++i) job.workflows[i].layer = (*layer)[i];
  ledger_.name_body(job.bundle);
  ledger_.open_.emplace(index_, command.job);
  ledger_.jobs_.emplace(command.job, std::move(job));
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const JobOwner& command) {
  LedgerJob* job = find(command.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  if (job->end) return Verdict::kJobEnded;
  if (command.owner.node == kNoNode || command.elapsed < base::Duration::zero()) return Verdict::kInvalid;
  if (command.epoch == job->epoch && command.owner == job->owner) return Verdict::kRepeated;
  if (command.epoch != job->epoch + 1) return Verdict::kStaleEpoch;
  job->owner = command.owner;
  job->epoch = command.epoch;
  job->elapsed = std::max(job->elapsed, command.elapsed);
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const Provision& command) {
  LedgerJob* job = find(command.job);
  if (const Verdict verdict = led(job, command.epoch); verdict != Verdict::kApplied) return verdict;
  if (job->cancel) return Verdict::kCancelled;
  if (command.workflow >= job->workflows.size() || command.parts.empty() ||
      command.parts.size() > most_parts(job->workflows.size())) {
    return Verdict::kInvalid;
  }
  LedgerWorkflow& workflow = job->workflows[command.workflow];
  if (workflow.layer > job->open_layer) return Verdict::kBarrier;
  if (const Verdict verdict = check_cut(workflow, command); verdict != Verdict::kApplied) return verdict;
  if (const Verdict verdict = check_cores(command); verdict != Verdict::kApplied) return verdict;
  if (workflow.state == WorkflowState::kPending) {
    if (ledger_.parts_ + command.parts.size() > kMaxLedgerParts) return Verdict::kLedgerFull;
    ledger_.parts_ += command.parts.size();
    std::uint32_t total = 0;
    for (const Assignment& assignment : command.parts) total += assignment.cores;
    std::uint32_t first = 0;
    for (const Assignment& assignment : command.parts) {
      workflow.parts.emplace_back().slice = {first, assignment.cores, total};
      first += assignment.cores;
    }
    workflow.state = WorkflowState::kAssigned;
  }
  for (const Assignment& assignment : command.parts) {
    LedgerPart& part = workflow.parts[assignment.part];
    part.phase = PartPhase::kAssigned;
    part.worker = assignment.worker;
    part.fence = {command.epoch, assignment.attempt};
    part.given_back = 0;
    ledger_.workers_.at(assignment.worker.node).used += assignment.cores;
    ledger_.assigned_[assignment.worker.node].insert({command.job, command.workflow, assignment.part});
  }
  job->started = true;
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const PartLost& command) {
  LedgerJob* job = find(command.part.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  LedgerPart* part = find(command.part);
  if (part == nullptr) return Verdict::kInvalid;
  if (command.fence != part->fence) return Verdict::kStaleFence;
  if (command.epoch != job->epoch) return Verdict::kStaleEpoch;
  if (part->phase != PartPhase::kAssigned) return Verdict::kRepeated;
  // It may have been admitted anew since the proposer saw it gone; then its parts run on.
  if (command.loss == Loss::kWorkerDied && ledger_.admitted(part->worker)) return Verdict::kWrongState;
  release(command.part, *part);
  part->phase = PartPhase::kWaiting;
  const bool counts =
      command.loss == Loss::kWorkerDied || command.loss == Loss::kNotRunning || command.loss == Loss::kStuck;
  if (command.loss == Loss::kRefused) ++part->refusals;
  if (counts) {
    ++part->losses;
    if (part->failed_on.size() == kMaxFailedOn) part->failed_on.erase(part->failed_on.begin());
    part->failed_on.push_back(part->worker);
  }
  if (command.loss == Loss::kOverdue) {
    end_part(*part, PartOutcome::kFailed, "no result within its time limit");
  } else if (command.loss == Loss::kCancelled || job->cancel) {
    end_part(*part, PartOutcome::kCancelled, std::string(counts ? kLostWithWorker : "cancelled"));
  } else if (part->losses > kMaxLosses) {
    end_part(*part, PartOutcome::kFailed, "lost too often with its workers");
  } else if (part->refusals > kMaxRefusals) {
    end_part(*part, PartOutcome::kFailed, "refused by too many workers");
  }
  settle(*job, job->workflows[command.part.workflow]);
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const LayerContext& command) {
  LedgerJob* job = find(command.job);
  if (const Verdict verdict = led(job, command.epoch); verdict != Verdict::kApplied) return verdict;
  if (job->cancel) return Verdict::kCancelled;
  if (command.layer < job->open_layer) {
    return command.version <= job->context_version ? Verdict::kRepeated : Verdict::kWrongState;
  }
  if (command.body.size > kMaxBodyBytes) return Verdict::kInvalid;
  if (command.layer != job->open_layer || command.version != job->context_version + 1) return Verdict::kWrongState;
  const bool closed = std::ranges::all_of(job->workflows, [&](const LedgerWorkflow& workflow) {
    return workflow.layer > command.layer || terminal(workflow.state);
  });
  if (!closed) return Verdict::kBarrier;
  ledger_.drop_body(job->context);
  job->context = command.body;
  ledger_.name_body(job->context);
  job->context_version = command.version;
  job->open_layer = command.layer + 1;
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const ResultHeld& command) {
  LedgerJob* job = find(command.part.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  LedgerPart* part = find(command.part);
  if (part == nullptr || command.body.size > kMaxBodyBytes || command.reason.size() > kMaxReason) {
    return Verdict::kInvalid;
  }
  if (command.fence != part->fence) return Verdict::kStaleFence;
  if (part->phase == PartPhase::kEnded) return Verdict::kRepeated;
  // An attempt given up for lost, but not given to another worker yet, may still bring its result.
  if (part->phase == PartPhase::kAssigned) release(command.part, *part);
  part->result = command.body;
  part->counts = command.counts;
  ledger_.name_body(part->result);
  end_part(*part, command.outcome, command.reason);
  settle(*job, job->workflows[command.part.workflow]);
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const JobEnded& command) {
  LedgerJob* job = find(command.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  if (job->end) return Verdict::kRepeated;
  if (command.epoch != job->epoch) return Verdict::kStaleEpoch;
  const bool over = std::ranges::all_of(job->workflows, [](const auto& workflow) { return terminal(workflow.state); });
  if (!over) return Verdict::kWrongState;
  if (command.reason.size() > kMaxReason) return Verdict::kInvalid;
  if (command.state != (job->cancel ? job->cancel->end_as : end_of(*job))) return Verdict::kInvalid;
  job->end = command;
  ledger_.open_.erase(job->accepted);
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const CancelRequested& command) {
  LedgerJob* job = find(command.job);
  if (job == nullptr) {
    if (command.bury && ledger_.tombstone(command.job) == nullptr) {
      bury({command.job, command.client, JobState::kCancelled});
    }
    return Verdict::kUnknownJob;
  }
  if (job->end) return Verdict::kJobEnded;
  if (command.epoch != 0 && command.epoch != job->epoch) return Verdict::kStaleEpoch;
  if (job->cancel) return Verdict::kRepeated;
  const bool known = command.end_as == JobState::kCancelled || command.end_as == JobState::kFailed ||
                     command.end_as == JobState::kTimeout;
  if (!known || command.requester.size() > kMaxName || command.reason.size() > kMaxReason) return Verdict::kInvalid;
  job->cancel = command;
  for (LedgerWorkflow& workflow : job->workflows) {
    if (workflow.state == WorkflowState::kPending) workflow.state = WorkflowState::kCancelled;
    for (LedgerPart& part : workflow.parts) {
      if (part.phase == PartPhase::kWaiting) end_part(part, PartOutcome::kCancelled, "cancelled");
    }
    settle(*job, workflow);
  }
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const WorkerAdmitted& command) {
  if (command.worker.node == kNoNode || command.cores == 0 || command.cores > kMaxCores) return Verdict::kInvalid;
  auto at = ledger_.workers_.find(command.worker.node);
  if (at == ledger_.workers_.end()) {
    if (!make_room_for_worker()) return Verdict::kLedgerFull;
    at = ledger_.workers_.emplace(command.worker.node, LedgerWorker{}).first;
    at->second.evicted = true;
    at->second.life = command.worker.life;
  }
  LedgerWorker& worker = at->second;
  if (command.worker.life < worker.life) return Verdict::kWorkerGone;
  if (command.worker.life > worker.life) worker = {command.worker.life, 0, 0, true, Eviction::kDead, 0};
  if (command.cores < worker.used) return Verdict::kInvalid;
  if (!worker.evicted && worker.cores == command.cores) return Verdict::kRepeated;
  const std::uint64_t admission = worker.evicted ? index_ : worker.admission;
  worker = {worker.life, command.cores, worker.used, false, Eviction::kDead, admission};
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const WorkerEvicted& command) {
  const auto at = ledger_.workers_.find(command.worker.node);
  if (at == ledger_.workers_.end() || at->second.life != command.worker.life) return Verdict::kWorkerGone;
  if (at->second.evicted) return Verdict::kRepeated;
  at->second.evicted = true;
  at->second.reason = command.reason;
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const JobForgotten& command) {
  LedgerJob* job = find(command.job);
  if (job == nullptr) return ledger_.tombstone(command.job) ? Verdict::kRepeated : Verdict::kUnknownJob;
  if (!job->end) return Verdict::kWrongState;
  ledger_.drop_body(job->bundle);
  ledger_.drop_body(job->context);
  for (const LedgerWorkflow& workflow : job->workflows) {
    for (const LedgerPart& part : workflow.parts) ledger_.drop_body(part.result);
    ledger_.parts_ -= workflow.parts.size();
  }
  bury({command.job, job->client, job->end->state});
  ledger_.jobs_.erase(command.job);
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const Configuration& command) {
  if (command.settings.size() > kMaxSettings) return Verdict::kInvalid;
  if (command.version == ledger_.settings_version_ && command.settings == ledger_.settings_) {
    return Verdict::kRepeated;
  }
  if (command.version != ledger_.settings_version_ + 1) return Verdict::kStaleEpoch;
  ledger_.settings_version_ = command.version;
  ledger_.settings_ = command.settings;
  return Verdict::kApplied;
}

Verdict LedgerRules::operator()(const CoresDone& command) {
  const LedgerJob* job = find(command.part.job);
  if (job == nullptr) return Verdict::kUnknownJob;
  LedgerPart* part = find(command.part);
  if (part == nullptr) return Verdict::kInvalid;
  if (command.fence != part->fence) return Verdict::kStaleFence;
  if (command.epoch != job->epoch) return Verdict::kStaleEpoch;
  if (part->phase != PartPhase::kAssigned || command.cores <= part->given_back) return Verdict::kRepeated;
  if (command.cores >= part->slice.cores) return Verdict::kInvalid;
  give_back(*part, command.cores - part->given_back);
  part->given_back = command.cores;
  return Verdict::kApplied;
}

LedgerJob* LedgerRules::find(JobId id) {
  const auto at = ledger_.jobs_.find(id);
  return at == ledger_.jobs_.end() ? nullptr : &at->second;
}

LedgerPart* LedgerRules::find(const PartId& id) {
  LedgerJob* job = find(id.job);
  if (job == nullptr || id.workflow >= job->workflows.size()) return nullptr;
  auto& parts = job->workflows[id.workflow].parts;
  return id.part < parts.size() ? &parts[id.part] : nullptr;
}

Verdict LedgerRules::led(const LedgerJob* job, std::uint64_t epoch) const {
  if (job == nullptr) return Verdict::kUnknownJob;
  if (job->end) return Verdict::kJobEnded;
  return epoch == job->epoch ? Verdict::kApplied : Verdict::kStaleEpoch;
}

Verdict LedgerRules::refuse_acceptance(Verdict verdict) {
  if (ledger_.refused_.size() == kMaxRefusedProposals) ledger_.refused_.pop_front();
  ledger_.refused_.push_back({entry_.proposer, entry_.sequence});
  return verdict;
}

Verdict LedgerRules::check_cut(const LedgerWorkflow& workflow, const Provision& command) const {
  if (terminal(workflow.state)) return Verdict::kWrongState;
  const bool first = workflow.state == WorkflowState::kPending;
  bool repeated = !first;
  bool fits = true;
  for (std::size_t i = 0; i < command.parts.size(); ++i) {
    const Assignment& assignment = command.parts[i];
    if (assignment.cores == 0 || assignment.cores > kMaxCores) return Verdict::kInvalid;
    if (i > 0 && command.parts[i - 1].part >= assignment.part) return Verdict::kInvalid;
    if (first) {
      if (assignment.part != i || assignment.attempt != 1) return Verdict::kInvalid;
      continue;
    }
    if (assignment.part >= workflow.parts.size()) return Verdict::kInvalid;
    const LedgerPart& part = workflow.parts[assignment.part];
    if (assignment.cores != part.slice.cores) return Verdict::kInvalid;
    const Fence fence{command.epoch, assignment.attempt};
    repeated = repeated && part.fence == fence && part.worker == assignment.worker;
    fits = fits && part.phase == PartPhase::kWaiting && assignment.attempt == part.fence.attempt + 1;
  }
  if (repeated) return Verdict::kRepeated;
  return fits ? Verdict::kApplied : Verdict::kStaleFence;
}

Verdict LedgerRules::check_cores(const Provision& command) const {
  std::map<NodeId, std::uint64_t> wanted;
  for (const Assignment& assignment : command.parts) {
    if (!ledger_.admitted(assignment.worker)) return Verdict::kWorkerGone;
    wanted[assignment.worker.node] += assignment.cores;
  }
  const bool free = std::ranges::all_of(
      wanted, [&](const auto& each) { return each.second <= ledger_.workers_.at(each.first).free(); });
  return free ? Verdict::kApplied : Verdict::kCoresTaken;
}

void LedgerRules::release(const PartId& id, const LedgerPart& part) {
  const auto parts = ledger_.assigned_.find(part.worker.node);
  if (parts != ledger_.assigned_.end() && parts->second.erase(id) > 0 && parts->second.empty()) {
    ledger_.assigned_.erase(parts);
  }
  give_back(part, part.cores_held());
}

// A life that is over has no cores to give back.
void LedgerRules::give_back(const LedgerPart& part, std::uint32_t cores) {
  const auto at = ledger_.workers_.find(part.worker.node);
  if (at != ledger_.workers_.end() && at->second.life == part.worker.life) at->second.used -= cores;
}

void LedgerRules::end_part(LedgerPart& part, PartOutcome outcome, std::string reason) {
  part.phase = PartPhase::kEnded;
  part.outcome = outcome;
  part.reason = std::move(reason);
}

void LedgerRules::settle(LedgerJob& job, LedgerWorkflow& workflow) {
  if (workflow.parts.empty() || terminal(workflow.state)) return;
  const auto all_ended =
      std::ranges::all_of(workflow.parts, [](const LedgerPart& part) { return part.phase == PartPhase::kEnded; });
  if (!all_ended) return;
  const auto any = [&](PartOutcome outcome) {
    return std::ranges::find(workflow.parts, outcome, &LedgerPart::outcome) != workflow.parts.end();
  };
  if (any(PartOutcome::kFailed)) {
    workflow.state = WorkflowState::kFailed;
  } else if (any(PartOutcome::kTimeout)) {
    workflow.state = WorkflowState::kTimeout;
  } else {
    workflow.state = any(PartOutcome::kCancelled) ? WorkflowState::kCancelled : WorkflowState::kCompleted;
  }
  if (workflow.state != WorkflowState::kCompleted) skip_dependents(job);
}

void LedgerRules::skip_dependents(LedgerJob& job) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < job.workflows.size(); ++i) {
      if (job.workflows[i].state != WorkflowState::kPending) continue;
      const auto& depends = job.outline.workflows[i].depends;
      const bool skip = std::ranges::any_of(depends, [&](std::uint32_t other) {
        return terminal(job.workflows[other].state) && job.workflows[other].state != WorkflowState::kCompleted;
      });
      if (!skip) continue;
      job.workflows[i].state = WorkflowState::kSkipped;
      again = true;
    }
  }
}

void LedgerRules::bury(const Tombstone& tombstone) {
  ledger_.tombstones_.push_back(tombstone);
}

// An evicted worker without parts is only a memory.
bool LedgerRules::make_room_for_worker() {
  auto& workers = ledger_.workers_;
  if (workers.size() < kMaxWorkers) return true;
  const auto at =
      std::ranges::find_if(workers, [](const auto& each) { return each.second.evicted && each.second.used == 0; });
  if (at == workers.end()) return false;
  workers.erase(at);
  return true;
}

}  // namespace muster::cluster
