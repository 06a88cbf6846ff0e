#include "cluster/housekeeper.h"

#include <algorithm>

namespace muster::cluster {
namespace {

// Workers in the ledger have long started: who has just become leader needs no more patience with them.
cores::LivenessOptions liveness_options() {
  cores::LivenessOptions options;
  options.start_up_misses = options.misses;
  return options;
}

}  // namespace

base::Instant Housekeeper::step(Desk& desk, bool leads, bool draining, Peers& peers,
                                const std::map<JobId, base::Instant>& accepted) {
  if (leads && !led_) peers.watch_from(desk.now);
  if (leads != led_) probed_.clear();
  led_ = leads;
  if (desk.now < due_) return due_;
  due_ = desk.now + desk.options.housekeeping;
  if (leads) {
    probe_all(desk);
    hand_over(desk, draining, peers, accepted);
  }
  for (const WorkerTable::Evict& evict : desk.workers.evictions(desk.ledger, leads, desk.now)) {
    desk.propose(WorkerEvicted{evict.worker, evict.reason});
  }
  if (scan_due_ == base::kNever) scan_due_ = desk.now + desk.options.orphan_scan;
  if (desk.now >= scan_due_) {
    scan_for_orphans(desk);
    scan_due_ = desk.now + desk.options.orphan_scan;
  }
  return due_;
}

void Housekeeper::rest() {
  led_ = false;
  probed_.clear();
}

void Housekeeper::answered(Desk& desk, NodeId worker) {
  if (const auto at = probed_.find(worker); at != probed_.end()) at->second.heard(desk.now);
}

// A manager that drains gives its jobs away while it still can; one that is gone has lost them.
void Housekeeper::hand_over(Desk& desk, bool draining, Peers& peers, const std::map<JobId, base::Instant>& accepted) {
  for (const auto& [index, id] : desk.ledger.open_jobs()) {
    const LedgerJob& job = *desk.ledger.job(id);
    const bool leaving = job.owner == desk.self ? draining : peers.draining(job.owner);
    if (!leaving && !peers.gone(job.owner, desk.now)) continue;
    std::vector<Process> heirs = peers.available(draining, desk.now);
    std::erase(heirs, job.owner);
    if (heirs.empty()) continue;
    const auto known = accepted.find(id);
    const base::Duration elapsed = known == accepted.end() ? job.elapsed : desk.now - known->second;
    desk.propose(JobOwner{id, heirs[desk.random.below(heirs.size())], job.epoch + 1, elapsed});
  }
}

void Housekeeper::probe_all(Desk& desk) {
  const auto there = [&](NodeId node) {
    const auto at = desk.ledger.workers().find(node);
    return at != desk.ledger.workers().end() && !at->second.evicted;
  };
  std::erase_if(probed_, [&](const auto& each) { return !there(each.first); });
  for (const auto& [node, worker] : desk.ledger.workers()) {
    if (worker.evicted) continue;
    cores::Liveness& liveness = probed_.try_emplace(node, liveness_options(), desk.now).first->second;
    if (liveness.wake(desk.now, desk.random)) desk.send(node, Probe{++last_number_});
    desk.workers.probed(node, liveness.alive(desk.now));
    desk.workers.kept_waiting(node, !liveness.answering(desk.now), desk.now);
  }
}

// The answers are reconciled like every other report; no answer proves nothing.
void Housekeeper::scan_for_orphans(Desk& desk) {
  for (const auto& [node, parts] : desk.ledger.assigned()) {
    const bool mine = std::ranges::any_of(parts, [&](const PartId& part) {
      const LedgerJob* job = desk.ledger.job(part.job);
      return job != nullptr && job->owner == desk.self;
    });
    if (mine) desk.send(node, Probe{++last_number_});
  }
}

}  // namespace muster::cluster
