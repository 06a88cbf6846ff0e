#include "cluster/worker_table.h"

#include <algorithm>

#include "base/random.h"

namespace muster::cluster {

bool WorkerTable::heard(const Process& worker, WorkerState state, std::uint64_t version, base::Instant now) {
  Seen* const known = row(worker.node);
  if (known == nullptr) return true;
  Seen& seen = *known;
  if (worker.life < seen.life || (worker.life == seen.life && version <= seen.version)) return false;
  if (seen.life < worker.life) {
    begin(seen, worker.life);
    seen.swim = Liveness::kAlive;
  }
  seen.state = state;
  seen.told_at = now;
  seen.version = version;
  return true;
}

void WorkerTable::drains(const Process& worker, base::Instant now) {
  Seen* const seen = row(worker.node);
  if (seen == nullptr || worker.life < seen->life) return;
  begin(*seen, worker.life);
  seen->state = WorkerState::kDraining;
  seen->told_at = now;
}

void WorkerTable::swim(NodeId worker, Liveness liveness, std::optional<WorkerState> told) {
  Seen* const seen = row(worker);
  if (seen == nullptr) return;
  seen->swim = liveness;
  seen->gossiped = told.value_or(seen->gossiped);
}

bool WorkerTable::may_call(NodeId worker, base::Instant now) {
  const auto at = seen_.find(worker);
  return at == seen_.end() || at->second.circuit.allow(now);
}

void WorkerTable::answered(NodeId worker, base::Instant now) {
  const auto at = seen_.find(worker);
  if (at == seen_.end()) return;
  at->second.silent_since = base::kNever;
  at->second.circuit.succeeded(now);
}

void WorkerTable::declined(NodeId worker, base::Instant now) {
  if (const auto at = seen_.find(worker); at != seen_.end()) at->second.circuit.failed(now);
}

void WorkerTable::unanswered(NodeId worker, base::Instant now) {
  Seen* const seen = row(worker);
  if (seen == nullptr) return;
  // Whoever is silent lets one call after the other pass; a single one that was lost long ago says nothing.
  const bool in_a_row = seen->silent_since != base::kNever && now - seen->failed_at <= 2 * options_.stop_repeat_cap;
  if (!in_a_row) seen->silent_since = now;
  seen->failed_at = now;
  seen->circuit.failed(now);
}

void WorkerTable::sync(const Ledger& ledger, base::Instant now) {
  in_ledger_.clear();
  for (const auto& [node, worker] : ledger.workers()) in_ledger_.emplace_hint(in_ledger_.end(), node, worker.life);
  std::erase_if(
      seen_, [&](const auto& each) { return each.second.swim == Liveness::kDead && !in_ledger_.contains(each.first); });
  std::map<Process, base::Instant> evicted;
  for (const auto& [node, worker] : ledger.workers()) {
    if (const auto at = seen_.find(node); at != seen_.end()) begin(at->second, worker.life);
    if (!worker.evicted) continue;
    const Process process{node, worker.life};
    const auto known = evicted_at_.find(process);
    evicted.emplace(process, known == evicted_at_.end() ? now : known->second);
    // When it comes back, what it did not answer before counts no more. But who is dead and alive by turns in SWIM's
    // eyes comes back at once each time, and must be found not to answer all the same: until its time is over once,
    // nobody can tell what it still runs.
    const auto at = seen_.find(node);
    if (known != evicted_at_.end() || at == seen_.end()) continue;
    if (worker.reason == Eviction::kUnreachable) at->second.silent_since = base::kNever;
    at->second.unreachable = false;
    at->second.pace = cores::PaceWatch();
    at->second.health = cores::Health();
    at->second.paced_at = base::kNever;
  }
  evicted_at_ = std::move(evicted);
}

void WorkerTable::restored(const Ledger& ledger, base::Instant now) {
  evicted_at_.clear();
  sync(ledger, now);
}

base::Instant WorkerTable::over_at(const Ledger& ledger, const Process& worker) const {
  const auto at = ledger.workers().find(worker.node);
  // A worker that the ledger has dropped had no parts; whoever asks is told the same as for a life that is over.
  if (at == ledger.workers().end() || at->second.life > worker.life) return base::Instant::min();
  if (!at->second.evicted) return base::kNever;
  const auto evicted = evicted_at_.find(worker);
  if (evicted == evicted_at_.end()) return base::kNever;
  return evicted->second + options_.contact_limit + options_.contact_margin;
}

bool WorkerTable::may_return(const Ledger& ledger, const Process& worker, base::Instant now) const {
  const auto at = ledger.workers().find(worker.node);
  if (at == ledger.workers().end() || at->second.life < worker.life) return true;
  if (at->second.life > worker.life) return false;
  if (!at->second.evicted || now >= over_at(ledger, worker)) return true;
  const auto seen = seen_.find(worker.node);
  const bool dead = seen != seen_.end() && seen->second.swim == Liveness::kDead;
  return at->second.reason == Eviction::kDead && !dead;
}

bool WorkerTable::may_ask(NodeId worker, base::Instant now) {
  Seen* const seen = row(worker);
  if (seen == nullptr) return true;
  if (seen->asked_at != base::kNever && now - seen->asked_at < options_.admission_pause) return false;
  seen->asked_at = now;
  return true;
}

std::vector<Candidate> WorkerTable::candidates(const Ledger& ledger, base::Instant now) const {
  std::vector<Candidate> found;
  for (const auto& [node, worker] : ledger.workers()) {
    if (!cores::worker_ready(!draining(node, now), worker.free())) continue;
    const auto at = seen_.find(node);
    const bool known = at != seen_.end();
    if (known && (at->second.swim == Liveness::kDead || !at->second.circuit.would_allow(now))) continue;
    if (known && (lately(at->second.waiting_at, now) || stuck(at->second, now))) continue;
    const bool on_trial = known && at->second.circuit.state(now) == resilience::CircuitState::kHalfOpen;
    const bool slow = known && treatment(at->second, now) == cores::Treatment::kInvestigate;
    found.push_back({{node, worker.life}, worker.free(), slow || (known && degraded(at->second, now)), on_trial});
  }
  return found;
}

std::vector<std::uint32_t> WorkerTable::pool(const Ledger& ledger, base::Instant now) const {
  std::vector<std::uint32_t> cores;
  for (const auto& [node, worker] : ledger.workers()) {
    if (!worker.evicted && !draining(node, now)) cores.push_back(worker.cores);
  }
  return cores;
}

Census WorkerTable::census(const Ledger& ledger, base::Instant now) const {
  Census census;
  for (const auto& [node, worker] : ledger.workers()) {
    // One that is evicted and has no parts is only a memory.
    if (worker.evicted && worker.used == 0) continue;
    ++census.workers;
    if (worker.evicted || draining(node, now)) continue;
    const auto at = seen_.find(node);
    const bool seen = at != seen_.end();
    if (seen && (at->second.swim == Liveness::kDead || stuck(at->second, now) || degraded(at->second, now))) continue;
    ++census.healthy;
    census.free_cores += worker.free();
    census.cores += worker.cores;
  }
  return census;
}

void WorkerTable::probed(NodeId worker, bool alive) {
  if (Seen* const seen = row(worker)) seen->unreachable = !alive;
}

void WorkerTable::kept_waiting(NodeId worker, bool waiting, base::Instant now) {
  if (Seen* const seen = row(worker)) seen->waiting_at = waiting ? now : base::kNever;
}

void WorkerTable::paced(const Process& worker, std::span<const PartReport> parts, base::Instant now) {
  const auto at = seen_.find(worker.node);
  if (at == seen_.end() || at->second.life != worker.life) return;
  Seen& seen = at->second;
  std::uint64_t running = 0;
  std::uint64_t beats = 0;
  std::uint64_t digest = 0;
  for (const PartReport& each : parts) {
    if (each.finished) continue;
    ++running;
    beats += each.beat;
    for (const std::uint64_t word : {number(each.part.job), std::uint64_t{each.part.workflow} << 32 | each.part.part,
                                     each.fence.epoch, each.fence.attempt})
      digest = base::mix(digest ^ word);
  }
  // In the mean, so that it says the same of a worker with many parts and of one with few. That one began or ended is
  // progress, too.
  if (digest != seen.parts) {
    seen.moved += 1000;
  } else if (running > 0 && beats > seen.beats) {
    seen.moved += 1000 * (beats - seen.beats) / running;
  }
  seen.parts = digest;
  seen.beats = beats;
  seen.pace.told(running > 0, seen.moved, now);
  seen.treatment = seen.health.judge({.pace = seen.pace.pace()}, now);
  seen.paced_at = now;
}

// It reports to few managers, and to those only while they lead something that it runs.
cores::Treatment WorkerTable::treatment(const Seen& seen, base::Instant now) const {
  return lately(seen.paced_at, now) ? seen.treatment : cores::Treatment::kRoute;
}

std::vector<WorkerTable::Evict> WorkerTable::evictions(const Ledger& ledger, bool leads, base::Instant now) {
  std::vector<Evict> found;
  std::size_t admitted = 0;
  for (const auto& [node, worker] : ledger.workers()) {
    if (worker.evicted) continue;
    ++admitted;
    const auto at = seen_.find(node);
    if (at == seen_.end()) continue;
    const Seen& seen = at->second;
    const Process process{node, worker.life};
    const bool silent =
        seen.silent_since != base::kNever && seen.failed_at - seen.silent_since >= options_.unreachable_after;
    if (silent || (seen.swim != Liveness::kDead && treatment(seen, now) == cores::Treatment::kEvict)) {
      found.push_back({process, Eviction::kUnreachable});
    } else if (leads && (seen.swim == Liveness::kDead || seen.unreachable)) {
      found.push_back({process, seen.swim == Liveness::kDead ? Eviction::kDead : Eviction::kUnreachable});
    }
  }
  if (!guard_.allows(found.size(), admitted, now)) found.clear();
  return found;
}

bool WorkerTable::suspect(NodeId worker) const {
  const auto at = seen_.find(worker);
  return at != seen_.end() && at->second.swim != Liveness::kAlive;
}

const resilience::Circuit* WorkerTable::circuit(NodeId worker) const {
  const auto at = seen_.find(worker);
  return at == seen_.end() ? nullptr : &at->second.circuit;
}

std::optional<std::uint64_t> WorkerTable::version(const Process& worker) const {
  const auto at = seen_.find(worker.node);
  if (at == seen_.end() || at->second.life != worker.life) return std::nullopt;
  return at->second.version;
}

WorkerTable::Seen* WorkerTable::row(NodeId worker) {
  const auto at = seen_.find(worker);
  if (at != seen_.end()) return &at->second;
  const auto known = in_ledger_.find(worker);
  if (seen_.size() >= 2 * kMaxWorkers && known == in_ledger_.end()) return nullptr;
  Seen& made = seen_[worker];
  // Calls go to the life that the ledger has.
  if (known != in_ledger_.end()) begin(made, known->second);
  return &made;
}

void WorkerTable::begin(Seen& seen, Life life) {
  if (seen.life >= life) return;
  seen = Seen{.life = life,
              .gossiped = seen.gossiped,
              .swim = seen.swim,
              .pace = cores::PaceWatch(),
              .health = cores::Health(),
              .asked_at = seen.asked_at,
              .circuit = resilience::Circuit()};
}

bool WorkerTable::draining(NodeId worker, base::Instant now) const {
  const auto at = seen_.find(worker);
  if (at == seen_.end()) return false;
  const WorkerState told = state(at->second, now);
  return told == WorkerState::kDraining || told == WorkerState::kOffline;
}

bool WorkerTable::degraded(const Seen& seen, base::Instant now) const {
  return state(seen, now) == WorkerState::kDegraded || seen.swim == Liveness::kSuspect ||
         seen.silent_since != base::kNever || seen.unreachable;
}

WorkerState WorkerTable::state(const Seen& seen, base::Instant now) const {
  return lately(seen.told_at, now) ? seen.state : seen.gossiped;
}

}  // namespace muster::cluster
