#include "cluster/manager.h"

#include <algorithm>
#include <utility>

#include "cluster/ledger_codec.h"
#include "cluster/queue.h"
#include "resilience/retry.h"

namespace muster::cluster {

Manager::Manager(const ManagerSettings& settings, const std::vector<BodyRef>& on_disk, base::Instant now)
    : self_(settings.self),
      cluster_(settings.cluster),
      environment_(settings.environment),
      options_(settings.options),
      hash_(settings.hash),
      random_(settings.seed),
      proposals_(settings.self, settings.options),
      bodies_(settings.self, settings.hash, settings.options.bodies, on_disk, now),
      workers_(settings.options),
      peers_(settings.self, settings.options, now) {}

void Manager::standing(const LogStanding& standing, base::Instant now) {
  if (standing == standing_) return;
  const bool was_current = current();
  const bool other_voters = standing.voters != standing_.voters;
  standing_ = standing;
  if (other_voters) bodies_.voters(standing.voters);
  proposals_.standing(standing, bodies_, now, effects_);
  if (other_voters) {
    peers_.members(standing.voters);
    for (const auto& [id, led] : machines_) touch(id);
  }
  if (current() && !was_current) {
    current_since_ = now;
    for (const auto& [id, led] : machines_) touch(id);
    hungry_ = true;
  }
  settle(now);
}

void Manager::receive(NodeId from, const Message& message, base::Instant now) {
  Desk at = desk(now);
  const bool heard = of_worker(message) || !ledger_.workers().contains(from);
  if (heard && !shed(at, from, message)) std::visit([&](const auto& each) { on(at, from, each); }, message);
  settle(now);
}

void Manager::member(NodeId node, NodeRole role, Liveness liveness, std::optional<WorkerState> told,
                     base::Instant now) {
  switch (role) {
    case NodeRole::kManager:
      peers_.swim(node, liveness);
      break;
    case NodeRole::kWorker:
      workers_.swim(node, liveness, told);
      hungry_ = true;
      break;
    case NodeRole::kGate:
      if (liveness == Liveness::kDead) {
        gates_.erase(node);
      } else if (gates_.size() < kMaxGates) {
        gates_.insert(node);
      }
      break;
  }
  settle(now);
}

void Manager::body_stored(const BodyHash& hash, bool ok, base::Instant now) {
  bodies_.stored(hash, ok, now, effects_);
  settle(now);
}

void Manager::body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now) {
  bodies_.read(hash, std::move(bytes), now, effects_);
  settle(now);
}

void Manager::drain(base::Instant now) {
  draining_ = true;
  settle(now);
}

void Manager::wake(base::Instant now) {
  settle(now);
}

base::Instant Manager::deadline() const {
  base::Instant due = std::min({proposals_.deadline(), bodies_.deadline(), state_due_});
  if (!current()) return due;
  due = std::min({due, others_due_, feed_due_});
  return due_.empty() ? due : std::min(due, due_.begin()->first);
}

Effects Manager::take() {
  return std::exchange(effects_, {});
}

std::string Manager::snapshot() const {
  std::string bytes;
  encode(ledger_, bytes);
  return bytes;
}

bool Manager::drained() const {
  return draining_ && std::ranges::none_of(machines_, [&](const auto& each) { return !ledger_.job(each.first)->end; });
}

Desk Manager::desk(base::Instant now) {
  return {self_, options_, hash_, ledger_, proposals_, bodies_, workers_, random_, effects_, now, current_since_};
}

// Everything that is due, once per call: what a manager does for jobs and clients it does only while its ledger is
// current.
void Manager::settle(base::Instant now) {
  Desk at = desk(now);
  for (const Proposals::TimedOut& proposal : proposals_.wake(bodies_, now, effects_)) timed_out(at, proposal);
  bodies_.wake(now, effects_, current());
  if (now >= state_due_) say_state(at);
  if (!current()) return housekeeper_.rest();
  if (!bodies_.news().empty()) {
    for (const auto& [id, led] : machines_) touch(id);
    others_due_ = now;
  }
  step_jobs(at);
  if (now >= others_due_ || submissions_.fresh()) {
    others_due_ = submissions_.step(at);
    const std::vector<NodeId> gates(gates_.begin(), gates_.end());
    const auto responsible = [&](const LedgerJob& job) {
      return job.owner == self_ || (leads_log() && peers_.gone(job.owner, now));
    };
    others_due_ = std::min(others_due_, ends_.step(at, gates, responsible));
    const auto origin = [&](JobId id, const LedgerJob& job) { return origin_of(id, job).node; };
    others_due_ = std::min(others_due_, owners_.step(at, gates, origin));
    others_due_ = std::min(others_due_, housekeeper_.step(at, leads_log(), draining_, peers_, accepted_));
  }
  if (hungry_ || now >= feed_due_) feed_queue(at);
}

void Manager::step_jobs(Desk& desk) {
  while (!due_.empty() && due_.begin()->first <= desk.now) {
    touch(due_.begin()->second);
    due_.erase(due_.begin());
  }
  for (const JobId job : std::exchange(touched_, {})) step_job(desk, job);
}

void Manager::step_job(Desk& desk, JobId job) {
  const auto at = machines_.find(job);
  if (at == machines_.end()) return;
  due_.erase({at->second.due, job});
  at->second.due = at->second.machine.step(desk);
  if (at->second.due != base::kNever) due_.emplace(at->second.due, job);
}

void Manager::feed_queue(Desk& desk) {
  hungry_ = false;
  feed_due_ = desk.now + options_.manager_state;
  if (machines_.empty()) return;
  const auto candidates = workers_.candidates(ledger_, desk.now);
  if (candidates.empty()) return;
  const auto pool = workers_.pool(ledger_, desk.now);
  for (Provision& provision : feed(ledger_, self_, candidates, pool, proposals_.all<Provision>(), random_)) {
    desk.propose(std::move(provision));
  }
}

// Machines ask again by themselves; only those who wait for an answer are told.
void Manager::timed_out(Desk& desk, const Proposals::TimedOut& proposal) {
  desk.note(Noted::kQuorumTimeout, {});
  if (const auto* accepted = std::get_if<JobAccepted>(&proposal.command)) {
    submissions_.timed_out(desk, accepted->job);
  } else if (const auto* cancel = std::get_if<CancelRequested>(&proposal.command)) {
    tell_cancellers(desk, cancel->job, {.job = cancel->job, .answer = Answer::kQuorumTimeout}, true);
  }
  for (const auto& [id, led] : machines_) touch(id);
  hungry_ = true;
}

void Manager::say_state(Desk& desk) {
  state_due_ = desk.now + resilience::spread(options_.manager_state, options_.jitter, desk.random);
  const bool offering = std::ranges::any_of(machines_, [](const auto& each) { return each.second.machine.offering(); });
  pace_.told(current() && (offering || !proposals_.all<Provision>().empty()), handed_out_, desk.now);
  for (const NodeId voter : standing_.voters) {
    if (voter == self_.node) continue;
    desk.send(voter,
              ManagerState{self_.life, ledger_.index(), static_cast<std::uint32_t>(machines_.size()), draining_});
  }
}

JobMachine* Manager::led(JobId job) {
  const auto at = machines_.find(job);
  return at == machines_.end() ? nullptr : &at->second.machine;
}

}  // namespace muster::cluster
