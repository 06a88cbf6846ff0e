// What a gate does when the gates' log has decided something.
#include <algorithm>

#include "cluster/gate.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger_codec.h"

namespace muster::cluster {
namespace {

std::vector<JobId> jobs_of(const GateCommand& command) {
  return std::visit(
      [](const auto& each) -> std::vector<JobId> {
        if constexpr (requires { each.rows; }) {
          std::vector<JobId> jobs;
          for (const Renewal& row : each.rows) jobs.push_back(row.job);
          return jobs;
        } else if constexpr (requires { each.fence; }) {
          return {each.fence.job};
        } else {
          return {each.job};
        }
      },
      command);
}

// The bodies whose names in the ledger a command may change: an end drops the bundle, forgetting drops all.
std::vector<BodyRef> bodies_of(const GateLedger& ledger, const GateCommand& command) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&command)) return {submitted->bundle};
  if (const auto* received = std::get_if<WorkflowReceived>(&command)) return received->status.results;
  if (std::holds_alternative<LeasesRenewed>(command)) return {};
  const GateLedgerJob* job = ledger.job(jobs_of(command).front());
  if (job == nullptr) return {};
  std::vector<BodyRef> bodies = {job->bundle};
  if (!std::holds_alternative<GateJobForgotten>(command)) return bodies;
  for (const GateResult& result : job->results) {
    bodies.insert(bodies.end(), result.status.results.begin(), result.status.results.end());
  }
  return bodies;
}

}  // namespace

struct Gate::AfterApply {
  Gate& gate;
  GateDesk& desk;
  Verdict verdict;
  bool own;  // proposed by this process, and still waited for

  void note(Noted what, JobId job, std::uint64_t epoch = 0, NodeId node = kNoNode) const {
    if (verdict == Verdict::kApplied) desk.note(what, job, epoch, node);
  }

  void operator()(const JobSubmitted& command) const {
    note(Noted::kAccepted, command.job, 1, command.owner.node);
    gate.requests_.applied(desk, command, verdict, own);
  }
  void operator()(const LeaseMoved& command) const {
    note(Noted::kTookOver, command.job, command.epoch, command.to.node);
    // Whoever takes over renews at once: it holds nothing before.
    if (command.to == gate.self_) gate.tick_due_ = desk.now;
  }
  void operator()(const WorkflowReceived& command) const {
    note(Noted::kResultHeld, command.fence.job, command.fence.epoch);
    if (verdict == Verdict::kRepeated) desk.note(Noted::kResultRepeated, command.fence.job, command.fence.epoch);
    if (!took_effect(verdict)) desk.note(Noted::kResultRefused, command.fence.job, command.fence.epoch);
  }
  void operator()(const JobCancelled& command) const {
    note(Noted::kCancelled, command.job);
    gate.requests_.applied(desk, command, verdict, own);
  }
  void operator()(const GateJobForgotten& command) const {
    note(Noted::kForgotten, command.job);
    if (!took_effect(verdict)) return;
    gate.followers_.forgotten(command.job);
    gate.ended_.erase(command.job);
  }
  template <class Other>
  void operator()(const Other&) const {}
};

void Gate::applied(std::uint64_t index, std::string_view bytes, base::Instant now) {
  const auto entry = decode_gate_entry(bytes);
  // Entries are decoded before they are proposed; one that cannot be read is read by nobody, everywhere alike.
  if (!entry) return;
  GateDesk at = desk(now);
  const std::vector<BodyRef> bodies = bodies_of(ledger_, entry->command);
  const Verdict verdict = ledger_.apply(index, *entry);
  const bool own = proposals_.applied(*entry, now);
  sync_bodies(at, bodies);
  for (const JobId id : jobs_of(entry->command)) {
    leases_.sync(id, ledger_.job(id), now);
    sync_job(at, id);
  }
  std::visit(AfterApply{*this, at, verdict, own}, entry->command);
  settle(now);
}

base::Expected<void> Gate::restored(std::string_view snapshot, base::Instant now) {
  auto restored = decode_gate_ledger(snapshot);
  if (!restored) return std::unexpected(restored.error());
  GateDesk at = desk(now);
  std::vector<JobId> known;
  for (const auto& [id, machine] : machines_) known.push_back(id);
  ledger_ = std::move(*restored);
  std::erase_if(ended_, [&](const auto& ended) { return ledger_.job(ended.first) == nullptr; });
  std::map<BodyHash, std::uint64_t> sizes;
  for (const auto& [body, uses] : ledger_.bodies()) sizes.emplace(body.hash, body.size);
  bodies_.named(sizes, now, effects_);
  leases_.sync(ledger_, now);
  for (const JobId id : known) sync_job(at, id);
  for (const auto& [id, job] : ledger_.jobs()) sync_job(at, id);
  tick_due_ = now;
  settle(now);
  return {};
}

void Gate::sync_bodies(GateDesk& desk, const std::vector<BodyRef>& touched) {
  for (const BodyRef& body : touched) {
    if (body.size == 0) continue;
    if (ledger_.bodies().contains(body)) {
      bodies_.name(body, desk.now, effects_);
    } else {
      bodies_.unname(body.hash, desk.now);
    }
  }
}

// A job is owned here if the ledger says so of this very life; each epoch begins with a new machine.
void Gate::sync_job(GateDesk& desk, JobId id) {
  const GateLedgerJob* job = ledger_.job(id);
  if (job != nullptr && job->end && ended_.emplace(id, desk.now).second) {
    desk.note(Noted::kEnded, id, job->epoch);
  }
  touch(id);
  const bool mine = job != nullptr && !job->end && job->owner == self_;
  const auto at = machines_.find(id);
  if (at != machines_.end() && (!mine || at->second.epoch() != job->epoch)) {
    // The end follows at once: who is told of it knows the totals that belong to it.
    const bool over = job != nullptr && job->end && at->second.epoch() == job->epoch;
    if (over) followers_.push(desk, id, at->second.last_pushes(*job));
    followers_.stopped(id, at->second.stopped(), at->second.unconfirmed());
    at->second.drop(desk);
    machines_.erase(at);
  }
  if (mine) machines_.try_emplace(id, id, *job, options_, desk.now);
}

}  // namespace muster::cluster
