// What a manager does about workers: contact, reports, progress, results.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/manager.h"

namespace muster::cluster {
namespace {

// Jobs that workers speak of and nobody knows; further ones are looked at when they are reported again.
constexpr std::size_t kMaxUnknown = 1024;

}  // namespace

void Manager::on(Desk& desk, NodeId from, const Heartbeat& message) {
  const Process worker{from, message.life};
  HeartbeatAnswer answer;
  answer.life = message.life;
  answer.sent = message.sent;
  answer.pressure = pressure_;
  answer.managers.assign(
      standing_.voters.begin(),
      standing_.voters.begin() + static_cast<std::ptrdiff_t>(std::min(standing_.voters.size(), kMaxManagers)));
  if (message.cluster != cluster_ || message.environment != environment_ || message.major != kProtocolMajor) {
    answer.contact = Contact::kMismatch;
    answer.reason =
        fmt::format("expected cluster '{}', environment '{}', protocol {}; received '{}', '{}', {}", cluster_,
                    environment_, kProtocolMajor, message.cluster, message.environment, message.major);
    return desk.send(from, answer);
  }
  answer.contact = contact(desk, worker, message);
  const bool fresh = workers_.heard(worker, message.state, message.version, desk.now);
  if (answer.contact != Contact::kAdmitted) return desk.send(from, answer);
  answer.admission = ledger_.workers().at(from).admission;
  std::set<JobId> named;
  for (const PartReport& report : message.parts) {
    const LedgerJob* job = ledger_.job(report.part.job);
    if (job == nullptr || !named.insert(report.part.job).second) continue;
    answer.leaders.push_back({report.part.job, job->owner.node, job->epoch});
  }
  for (const JobId id : message.idle) {
    const LedgerJob* job = ledger_.job(id);
    if (job == nullptr || job->end) answer.over.push_back(id);
  }
  desk.send(from, std::move(answer));
  if (!fresh) return;
  reported(desk, worker, message.parts, message.version);
}

// A manager without quorum, or behind, is no contact: its worker could be evicted, and its parts given to others,
// without its knowing.
Contact Manager::contact(Desk& desk, const Process& worker, const Heartbeat& message) {
  if (!current()) return Contact::kNoQuorum;
  const auto at = ledger_.workers().find(worker.node);
  if (at != ledger_.workers().end() && at->second.life > worker.life) return Contact::kStaleLife;
  const bool admitted = ledger_.admitted(worker);
  const bool away = message.state == WorkerState::kOffline || message.cores == 0 || message.cores > kMaxCores;
  if (admitted && (away || at->second.cores == message.cores)) return Contact::kAdmitted;
  if (!away && workers_.may_return(ledger_, worker, desk.now) && workers_.may_ask(worker.node, desk.now)) {
    desk.propose(WorkerAdmitted{worker, message.cores});
  }
  if (admitted) return Contact::kAdmitted;
  const bool evicted = at != ledger_.workers().end() && at->second.life == worker.life;
  return evicted ? Contact::kEvicted : Contact::kPending;
}

void Manager::on(Desk& desk, NodeId from, const DispatchAnswer& message) {
  const LedgerPart* part = ledger_.part(message.part);
  if (part == nullptr || part->worker.node != from) return;
  ++handed_out_;
  workers_.answered(from, desk.now);
  if (JobMachine* machine = led(message.part.job)) {
    machine->receive(desk, message);
    touch(message.part.job);
  }
}

void Manager::on(Desk& desk, NodeId from, const PartStopped& message) {
  const LedgerPart* part = ledger_.part(message.part);
  if (part == nullptr || part->worker.node != from) return;
  workers_.answered(from, desk.now);
  if (JobMachine* machine = led(message.part.job)) {
    machine->receive(desk, message);
    touch(message.part.job);
  }
}

void Manager::on(Desk& desk, NodeId from, const Progress& message) {
  const Process worker{from, message.life};
  if (!clocks_.contains(worker) && clocks_.size() >= kMaxWorkers) clocks_.clear();
  ClockOffset& clock = clocks_[worker];
  clock.take(message.sent, desk.now);
  for (const PartProgress& progress : message.parts) {
    const LedgerPart* part = ledger_.part(progress.part);
    if (part == nullptr || part->worker != worker) continue;
    if (JobMachine* machine = led(progress.part.job)) {
      machine->progress(desk, progress, *clock.value());
      machine->push_windows(desk);
    }
  }
}

void Manager::on(Desk& desk, NodeId from, const PartResult& message) {
  if (!current()) return;
  // From the worker itself, or forwarded by another manager.
  const bool forwarded = std::ranges::binary_search(standing_.voters, from);
  if (message.worker != from && !forwarded) return;
  // Of an attempt that was another's it can say nothing.
  const LedgerPart* part = ledger_.part(message.part);
  const Process worker{message.worker, message.life};
  if (part != nullptr && part->fence == message.fence && part->worker != worker) return;
  if (JobMachine* machine = led(message.part.job)) {
    machine->receive(desk, message);
    return touch(message.part.job);
  }
  const Worth worth = worth_of(ledger_, message.part, message.fence);
  if (worth == Worth::kUnwanted) return desk.send(message.worker, ResultAck{message.part, message.fence});
  const LedgerJob* job = ledger_.job(message.part.job);
  if (job != nullptr && !forwarded && job->owner.node != self_.node) desk.send(job->owner.node, message);
}

void Manager::on(Desk& desk, NodeId from, const ExtensionAsk& message) {
  JobMachine* machine = led(message.part.job);
  if (machine == nullptr || !current()) return;
  machine->receive(desk, from, message);
  touch(message.part.job);
}

void Manager::on(Desk& desk, NodeId from, const ProbeAnswer& message) {
  housekeeper_.answered(desk, from);
  const Process worker{from, message.life};
  if (!workers_.heard(worker, message.state, message.version, desk.now)) return;
  reported(desk, worker, message.parts, message.version);
}

void Manager::on(Desk& desk, NodeId from, const CancelPoll& message) {
  // Without a version: what is missing in it says nothing.
  reported(desk, {from, message.life}, message.parts, 0);
}

void Manager::reported(Desk& desk, const Process& worker, const std::vector<PartReport>& parts, std::uint64_t version) {
  if (!current()) return;
  workers_.paced(worker, parts, desk.now);
  std::vector<Tracked> tracked;
  for (const PartId& id : ledger_.assigned(worker.node)) {
    const LedgerPart* part = ledger_.part(id);
    const JobMachine* machine = led(id.job);
    if (machine == nullptr || part->worker != worker) continue;
    if (const auto found = machine->tracked(id, part->fence)) tracked.push_back(*found);
  }
  for (const Action& action : reconcile(ledger_, worker, tracked, parts, version)) act(desk, worker, action, parts);
}

void Manager::act(Desk& desk, const Process& worker, const Action& action, const std::vector<PartReport>& parts) {
  const JobId id = action.part.job;
  JobMachine* machine = led(id);
  const LedgerJob* job = ledger_.job(id);
  switch (action.finding) {
    case Finding::kAdopt:
      if (machine != nullptr) machine->reported(desk, parts[action.report]);
      return;
    case Finding::kMissing:
      if (machine != nullptr) machine->missing(desk, action.part, action.fence);
      return touch(id);
    case Finding::kAck:
      return desk.send(worker.node, ResultAck{action.part, action.fence});
    case Finding::kNewer:
      return desk.note(Noted::kSuperseded, action.part, action.fence, worker.node);
    case Finding::kUnknown: {
      if (unknown_.size() >= kMaxUnknown) unknown_.clear();
      const base::Instant since = unknown_.try_emplace(id, desk.now).first->second;
      if (desk.now - since < options_.unknown_grace) return;
      break;
    }
    case Finding::kStop:
      // While another leads the job it is theirs to stop; the worker asks them, too.
      if (job != nullptr && !job->end && machine == nullptr) return;
      break;
  }
  desk.note(Noted::kOrphanFound, action.part, action.fence, worker.node);
  // What is forgotten had its last leader: no epoch follows.
  const std::uint64_t epoch = job != nullptr ? job->epoch : UINT64_MAX;
  desk.send(worker.node, StopPart{action.part, action.fence, epoch, StopReason::kUntracked});
}

void Manager::on(Desk& desk, NodeId from, const BodyOffer& message) {
  bodies_.receive(from, message, desk.now, effects_);
}
void Manager::on(Desk&, NodeId from, const BodyHeld& message) {
  bodies_.receive(from, message);
}
void Manager::on(Desk& desk, NodeId from, const BodyWanted& message) {
  bodies_.receive(from, message, desk.now, effects_);
}
void Manager::on(Desk& desk, NodeId from, const BodyPiece& message) {
  bodies_.receive(from, message, desk.now, effects_);
}
void Manager::on(Desk& desk, NodeId from, const BodyMissing& message) {
  bodies_.receive(from, message, desk.now, effects_);
}

}  // namespace muster::cluster
