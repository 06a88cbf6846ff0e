// What a manager does when the log has decided something.
#include <algorithm>

#include "cluster/command_codec.h"
#include "cluster/job_status.h"
#include "cluster/ledger_codec.h"
#include "cluster/manager.h"

namespace muster::cluster {
namespace {

// The bodies whose names in the ledger a command may change.
struct TouchedBodies {
  const Ledger& ledger;

  std::vector<BodyRef> operator()(const JobAccepted& command) const { return {command.bundle}; }
  std::vector<BodyRef> operator()(const ResultHeld& command) const { return {command.body}; }
  std::vector<BodyRef> operator()(const LayerContext& command) const {
    const LedgerJob* job = ledger.job(command.job);
    return job == nullptr ? std::vector<BodyRef>{} : std::vector<BodyRef>{command.body, job->context};
  }
  std::vector<BodyRef> operator()(const JobForgotten& command) const {
    const LedgerJob* job = ledger.job(command.job);
    if (job == nullptr) return {};
    std::vector<BodyRef> bodies = {job->bundle, job->context};
    for (const LedgerWorkflow& workflow : job->workflows) {
      for (const LedgerPart& part : workflow.parts) bodies.push_back(part.result);
    }
    return bodies;
  }
  template <class Other>
  std::vector<BodyRef> operator()(const Other&) const {
    return {};
  }
};

}  // namespace

struct Manager::AfterApply {
  Manager& manager;
  Desk& desk;
  Verdict verdict;
  bool own;  // proposed by this process, and still waited for

  void note(Noted what, const PartId& part, const Fence& fence = {}, NodeId node = kNoNode) const {
    if (verdict == Verdict::kApplied) desk.note(what, part, fence, node);
  }

  void operator()(const JobAccepted& command) const {
    note(Noted::kAccepted, {command.job, 0, 0}, {1, 0}, command.owner.node);
    manager.date(desk, command.job);
    manager.sync_machine(desk, command.job);
    if (own || took_effect(verdict)) manager.submissions_.applied(desk, command.job, verdict);
  }
  void operator()(const JobOwner& command) const {
    note(Noted::kTookOver, {command.job, 0, 0}, {command.epoch, 0}, command.owner.node);
    manager.date(desk, command.job);
    manager.sync_machine(desk, command.job);
  }
  void operator()(const Provision& command) const {
    for (const Assignment& each : command.parts) {
      note(Noted::kProvisioned, {command.job, command.workflow, each.part}, {command.epoch, each.attempt},
           each.worker.node);
    }
    if (own && took_effect(verdict)) ++manager.handed_out_;
    if (!took_effect(verdict)) desk.note(Noted::kProvisionRefused, {command.job, command.workflow, 0});
  }
  void operator()(const PartLost&) const {}
  void operator()(const LayerContext& command) const {
    note(Noted::kLayerClosed, {command.job, 0, 0}, {command.epoch, command.version});
  }
  void operator()(const ResultHeld& command) const {
    note(Noted::kResultHeld, command.part, command.fence);
    if (verdict == Verdict::kRepeated) desk.note(Noted::kResultRepeated, command.part, command.fence);
  }
  void operator()(const JobEnded& command) const {
    if (!took_effect(verdict)) return;
    note(Noted::kEnded, {command.job, 0, 0}, {command.epoch, 0});
    const auto accepted = manager.accepted_.find(command.job);
    const bool known = accepted != manager.accepted_.end();
    manager.ends_.ended(command.job, known ? desk.now - accepted->second : base::Duration::zero(), desk.now);
    manager.pass_on_origin(desk, command.job);
    manager.others_due_ = desk.now;
    const LedgerJob* job = desk.ledger.job(command.job);
    if (job == nullptr) return;
    CancelAnswer answer = cancelled(command.job, *job);
    // It ended by itself while its cancellation was under way, which comes too late now.
    if (!job->cancel) answer.answer = Answer::kEnded;
    manager.tell_cancellers(desk, command.job, answer, true);
  }
  void operator()(const CancelRequested& command) const {
    note(Noted::kCancelled, {command.job, 0, 0});
    const bool over = !took_effect(verdict);
    manager.tell_cancellers(desk, command.job, {.job = command.job, .answer = answer_of(verdict), .done = over}, over);
  }
  void operator()(const WorkerAdmitted& command) const {
    note(Noted::kAdmitted, {}, {}, command.worker.node);
    sync_workers();
  }
  void operator()(const WorkerEvicted& command) const {
    note(Noted::kEvicted, {}, {}, command.worker.node);
    sync_workers();
  }
  void operator()(const JobForgotten& command) const {
    if (!took_effect(verdict)) return;
    note(Noted::kForgotten, {command.job, 0, 0});
    manager.ends_.forgotten(command.job);
    manager.origins_.erase(command.job);
    manager.accepted_.erase(command.job);
    manager.sync_machine(desk, command.job);
  }
  void operator()(const Configuration&) const {}
  void operator()(const CoresDone& command) const { note(Noted::kCoresFreed, command.part, command.fence); }

  // Parts of a worker that went or came are looked at by all machines: rare, and any may have one there.
  void sync_workers() const {
    manager.workers_.sync(desk.ledger, desk.now);
    for (const auto& [id, led] : manager.machines_) manager.touch(id);
  }
};

void Manager::applied(std::uint64_t index, std::string_view bytes, base::Instant now) {
  const auto entry = decode_entry(bytes);
  // Entries are decoded before they are proposed; one that cannot be read is read by nobody, everywhere alike.
  if (!entry) return;
  Desk at = desk(now);
  const std::vector<BodyRef> bodies = std::visit(TouchedBodies{ledger_}, entry->command);
  const Verdict verdict = ledger_.apply(index, *entry);
  const bool own = proposals_.applied(*entry, now);
  sync_bodies(at, bodies);
  std::visit(AfterApply{*this, at, verdict, own}, entry->command);
  const Subject subject = subject_of(entry->command);
  if (!std::holds_alternative<WorkerAdmitted>(entry->command) &&
      !std::holds_alternative<WorkerEvicted>(entry->command)) {
    touch(JobId{subject.id});
  }
  // A provision leaves nobody hungrier; one that was refused is thought over at the next feeding.
  hungry_ = hungry_ || !std::holds_alternative<Provision>(entry->command);
  settle(now);
}

base::Expected<void> Manager::restored(std::string_view snapshot, base::Instant now) {
  auto restored = decode_ledger(snapshot);
  if (!restored) return std::unexpected(restored.error());
  Desk at = desk(now);
  for (auto& [id, led] : machines_) led.machine.abandon(at);
  machines_.clear();
  due_.clear();
  ends_.clear();
  owners_ = OwnerWatch();
  ledger_ = std::move(*restored);
  const auto forgotten = [&](const auto& each) { return ledger_.job(each.first) == nullptr; };
  std::erase_if(accepted_, forgotten);
  std::erase_if(origins_, forgotten);
  std::map<BodyHash, std::uint64_t> sizes;
  for (const auto& [hash, body] : ledger_.bodies()) sizes.emplace(hash, body.size);
  bodies_.named(sizes, now, effects_);
  workers_.restored(ledger_, now);
  for (const auto& [id, job] : ledger_.jobs()) {
    if (job.end) ends_.ended(id, base::Duration::zero(), now);
    date(at, id);
    sync_machine(at, id);
    pass_on_origin(at, id);
  }
  std::vector<JobId> over;
  for (const auto& [id, waiting] : cancellers_) {
    const LedgerJob* job = ledger_.job(id);
    if (job == nullptr || job->end) over.push_back(id);
  }
  for (const JobId id : over) tell_cancellers(at, id, {.job = id, .answer = Answer::kEnded, .done = true}, true);
  others_due_ = now;
  hungry_ = true;
  settle(now);
  return {};
}

void Manager::sync_bodies(Desk& desk, const std::vector<BodyRef>& touched) {
  for (const BodyRef& body : touched) {
    if (body.size == 0) continue;
    if (ledger_.bodies().contains(body.hash)) {
      bodies_.name(body, desk.now, effects_);
    } else {
      bodies_.unname(body.hash, desk.now);
    }
  }
}

// When the job was accepted, at the latest: when that was seen here, or by what it is said to be old. Only the time for
// which nobody knew it who lives is missing.
void Manager::date(Desk& desk, JobId id) {
  const LedgerJob* job = ledger_.job(id);
  if (job == nullptr) return;
  const base::Instant at = desk.now - job->elapsed;
  const auto known = accepted_.try_emplace(id, at).first;
  known->second = std::min(known->second, at);
}

// A job is led here if the ledger says so of this very life; each epoch begins with a new machine.
void Manager::sync_machine(Desk& desk, JobId id) {
  const LedgerJob* job = ledger_.job(id);
  const bool mine = job != nullptr && job->owner == self_;
  const auto at = machines_.find(id);
  if (at != machines_.end() && (!mine || at->second.machine.epoch() != job->epoch)) {
    at->second.machine.abandon(desk);
    due_.erase({at->second.due, id});
    machines_.erase(at);
    owners_.leave(id);
  }
  if (!mine) return;
  if (!machines_.try_emplace(id, Led{JobMachine(id, *job, accepted_.at(id)), base::kNever}).second) return;
  // Only gates give their jobs up; a client without them comes back, or does not care.
  if (job->origin_epoch > 0) others_due_ = std::min(others_due_, owners_.lead(desk, id));
  pass_on_origin(desk, id);
  touch(id);
}

}  // namespace muster::cluster
