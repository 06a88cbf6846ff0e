#include "cluster/gate.h"

#include <algorithm>
#include <cstddef>

#include "cluster/gate_ledger_codec.h"

namespace muster::cluster {
namespace {

// Gates tell each other of themselves, and look after leases, this often. Leases that are due within it are renewed by
// one entry.
constexpr base::Duration kTick = std::chrono::seconds(1);
constexpr auto kRenewalsAtOnce = static_cast<std::ptrdiff_t>(kMaxRenewals);

}  // namespace

Gate::Gate(const GateSettings& settings, const std::vector<BodyRef>& on_disk, base::Instant now)
    : self_(settings.self),
      options_(settings.options),
      proposals_(settings.self, settings.options),
      leases_(settings.self, settings.seed, settings.options),
      peers_(settings.self),
      bodies_(settings.self, settings.hash, settings.bodies, on_disk, now),
      tick_due_(now),
      cleanup_due_(now + settings.options.cleanup) {}

void Gate::standing(const LogStanding& standing, base::Instant now) {
  if (standing == proposals_.standing()) return;
  const bool was_current = current();
  const bool other_voters = standing.voters != proposals_.standing().voters;
  if (other_voters) bodies_.voters(standing.voters);
  proposals_.standing(standing, bodies_, now, effects_);
  if (other_voters || (current() && !was_current)) {
    for (const auto& [id, machine] : machines_) touch(id);
    requests_due_ = now;
    tick_due_ = now;
  }
  settle(now);
}

void Gate::left(NodeId client, base::Instant now) {
  followers_.left(client);
  settle(now);
}

void Gate::gate(NodeId gate, bool alive, base::Instant now) {
  if (peers_.alive(gate, alive)) {
    GateDesk at = desk(now);
    followers_.tell_all(at, peers_.ring());
    tick_due_ = now;
  }
  settle(now);
}

void Gate::manager(const ManagerReport& report, base::Instant now) {
  datacenters_.report(report);
  settle(now);
}

void Gate::manager_died(NodeId manager, base::Instant now) {
  datacenters_.died(manager);
  settle(now);
}

void Gate::manager_removed(NodeId manager, base::Instant now) {
  datacenters_.forget(manager);
  settle(now);
}

void Gate::body_stored(const BodyHash& hash, bool ok, base::Instant now) {
  bodies_.stored(hash, ok, now, effects_);
  settle(now);
}

void Gate::body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now) {
  bodies_.read(hash, std::move(bytes), now, effects_);
  settle(now);
}

void Gate::drain(base::Instant now) {
  if (!peers_.draining()) {
    peers_.drain();
    GateDesk at = desk(now);
    followers_.tell_all(at, peers_.ring());
    tick_due_ = now;
  }
  settle(now);
}

void Gate::wake(base::Instant now) {
  settle(now);
}

base::Instant Gate::deadline() const {
  const base::Instant due = std::min({proposals_.deadline(), bodies_.deadline(), tick_due_, requests_due_});
  return due_.empty() ? due : std::min(due, due_.begin()->first);
}

std::string Gate::snapshot() const {
  std::string bytes;
  encode(ledger_, bytes);
  return bytes;
}

std::optional<std::uint64_t> Gate::acts_for(JobId job, base::Instant now) const {
  const GateLedgerJob* known = ledger_.job(job);
  if (known == nullptr || known->owner != self_ || !leases_.holds(job, known->epoch, now)) return std::nullopt;
  return known->epoch;
}

GateDesk Gate::desk(base::Instant now) {
  return {self_, options_, ledger_, proposals_, leases_, peers_, bodies_, datacenters_, followers_, effects_, now};
}

GateJob* Gate::owned(JobId job) {
  const auto at = machines_.find(job);
  return at == machines_.end() ? nullptr : &at->second;
}

// Everything that is due, once per call.
void Gate::settle(base::Instant now) {
  GateDesk at = desk(now);
  for (const auto& [sequence, command] : proposals_.wake(bodies_, now, effects_)) {
    at.note(Noted::kQuorumTimeout, {});
    if (const auto* submitted = std::get_if<JobSubmitted>(&command)) requests_.timed_out(at, *submitted);
    if (const auto* cancelled = std::get_if<JobCancelled>(&command)) requests_.timed_out(at, *cancelled);
  }
  bodies_.wake(now, effects_, current());
  if (!bodies_.news().empty()) {
    for (const auto& [id, machine] : machines_) touch(id);
    requests_due_ = now;
  }
  if (now >= tick_due_) tick(at);
  while (!due_.empty() && due_.begin()->first <= now) {
    touch(due_.begin()->second);
    schedule(due_.begin()->second, base::kNever);
  }
  for (const JobId job : std::exchange(touched_, {})) step_job(at, job);
  if (now >= requests_due_) requests_due_ = requests_.step(at);
}

void Gate::step_job(GateDesk& desk, JobId job) {
  base::Instant due = base::kNever;
  if (GateJob* machine = owned(job)) {
    due = machine->step(desk);
    if (leases_.holds(job, machine->epoch(), desk.now)) followers_.push(desk, job, machine->pushes(desk.now));
  }
  schedule(job, std::min(due, followers_.step(desk, job)));
}

void Gate::schedule(JobId job, base::Instant due) {
  const auto at = due_of_.find(job);
  if (at != due_of_.end()) {
    due_.erase({at->second, job});
    due_of_.erase(at);
  }
  if (due == base::kNever) return;
  due_of_.emplace(job, due);
  due_.emplace(due, job);
}

void Gate::tick(GateDesk& desk) {
  tick_due_ = desk.now + kTick;
  for (const NodeId peer : peers_.others()) {
    desk.send(peer, ManagerState{self_.life, ledger_.index(), static_cast<std::uint32_t>(machines_.size()),
                                 peers_.draining()});
  }
  // A gate that does not keep up with the log does its jobs no good: another one shall have them.
  GateLeases::Due due = leases_.due(desk.now, current());
  renew(desk, std::move(due.renew));
  for (const GateLeases::Slot& slot : due.unheard) {
    if (GateJob* machine = owned(slot.job)) machine->unheard(slot.slot);
    touch(slot.job);
  }
  if (!current()) return;
  move_leases(desk, due.expired);
  if (desk.now < cleanup_due_) return;
  cleanup_due_ = desk.now + options_.cleanup;
  if (leads_log()) forget_ended(desk);
}

void Gate::renew(GateDesk& desk, std::vector<Renewal> rows) {
  std::erase_if(rows, [&](const Renewal& row) {
    const GateJob* machine = owned(row.job);
    return machine == nullptr || machine->epoch() != row.epoch;
  });
  if (rows.empty()) return;
  for (Renewal& row : rows) row.heard = owned(row.job)->take_heard();
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = rows.end() - first > kRenewalsAtOnce ? first + kRenewalsAtOnce : rows.end();
    desk.propose(LeasesRenewed{self_, std::vector<Renewal>(first, last)});
    first = last;
  }
}

void Gate::move(GateDesk& desk, JobId id, const GateLedgerJob& job, const Process& to) {
  desk.propose(LeaseMoved{id, job.epoch + 1, job.renewal, leases_.fresh(), to});
}

// Leases of a former life of this gate are taken back, those of a draining one handed over, those that are over given
// to the next on the ring; the last by the log's leader alone, lest all gates propose the same.
void Gate::move_leases(GateDesk& desk, const std::vector<JobId>& expired) {
  for (const auto& [id, job] : ledger_.jobs()) {
    if (job.end || job.owner.node != self_.node) continue;
    if (job.owner != self_ && !peers_.draining()) {
      move(desk, id, job, self_);
    } else if (peers_.draining()) {
      const auto next = peers_.successor(id, self_.node);
      if (!next) continue;
      leases_.give_up(id);
      move(desk, id, job, *next);
    }
  }
  if (!leads_log()) return;
  for (const JobId id : expired) {
    const GateLedgerJob* job = ledger_.job(id);
    if (job == nullptr || job->end || job->owner.node == self_.node) continue;
    if (const auto next = peers_.successor(id, job->owner.node)) {
      desk.note(Noted::kLeaseLapsed, id, job->epoch, job->owner.node);
      move(desk, id, *job, *next);
    }
  }
}

// Ends are kept until their client has them, but not for ever.
void Gate::forget_ended(GateDesk& desk) {
  for (const auto& [id, since] : ended_) {
    const GateLedgerJob* job = ledger_.job(id);
    if (job == nullptr || !job->end) continue;
    const base::Duration keep = !job->acknowledged                  ? options_.keep_unacknowledged
                                : *job->end == JobState::kCompleted ? options_.keep_completed
                                                                    : options_.keep_failed;
    if (desk.now >= since + keep) desk.propose(GateJobForgotten{id});
  }
}

}  // namespace muster::cluster
