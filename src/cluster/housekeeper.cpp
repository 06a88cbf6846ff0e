#include "cluster/housekeeper.h"

#include <algorithm>
#include <set>

namespace muster::cluster {

base::Instant Housekeeper::step(Desk& desk, bool leads, bool draining, Peers& peers) {
  if (leads && !led_) peers.watch_from(desk.now);
  if (leads != led_) probing_.clear();
  led_ = leads;
  if (desk.now < due_) return due_;
  due_ = desk.now + desk.options.probe_timeout;
  if (leads) lead(desk, draining, peers);
  if (desk.now >= scan_due_) {
    if (scan_due_ != base::Instant::min()) scan_for_orphans(desk);
    scan_due_ = desk.now + desk.options.orphan_scan;
  }
  return due_;
}

void Housekeeper::answered(Desk& desk, NodeId worker, std::uint64_t number) {
  const auto at = probing_.find(worker);
  if (at == probing_.end() || at->second.number != number) return;
  at->second.open = false;
  desk.workers.answered(worker, desk.now);
}

void Housekeeper::lead(Desk& desk, bool draining, Peers& peers) {
  probe_all(desk);
  for (const WorkerTable::Evict& evict : desk.workers.evictions(desk.ledger, desk.now)) {
    desk.propose(WorkerEvicted{evict.worker, evict.reason});
  }
  hand_over(desk, draining, peers);
}

// A manager that drains gives its jobs away while it still can; one that is gone has lost them.
void Housekeeper::hand_over(Desk& desk, bool draining, Peers& peers) {
  for (const auto& [accepted, id] : desk.ledger.open_jobs()) {
    const LedgerJob& job = *desk.ledger.job(id);
    const bool leaving = job.owner == desk.self ? draining : peers.draining(job.owner);
    if (!leaving && !peers.gone(job.owner, desk.now)) continue;
    std::vector<Process> heirs = peers.available(draining, desk.now);
    std::erase(heirs, job.owner);
    if (heirs.empty()) continue;
    desk.propose(JobOwner{id, heirs[desk.random.below(heirs.size())], job.epoch + 1});
  }
}

void Housekeeper::probe_all(Desk& desk) {
  std::erase_if(probing_, [&](const auto& each) { return !desk.ledger.workers().contains(each.first); });
  for (const auto& [node, worker] : desk.ledger.workers()) {
    if (worker.evicted) continue;
    Probing& probing = probing_[node];
    if (probing.open && desk.now >= probing.due - desk.options.probe_interval + desk.options.probe_timeout) {
      probing.open = false;
      desk.workers.unanswered(node, desk.now);
    }
    if (desk.now < probing.due) continue;
    probing = {++last_number_, desk.now + desk.options.probe_interval, true};
    desk.send(node, Probe{probing.number});
  }
}

// The answers are reconciled like every other report; no answer proves nothing.
void Housekeeper::scan_for_orphans(Desk& desk) {
  std::set<NodeId> scanned;
  for (const auto& [accepted, id] : desk.ledger.open_jobs()) {
    const LedgerJob& job = *desk.ledger.job(id);
    if (job.owner != desk.self) continue;
    for (const LedgerWorkflow& workflow : job.workflows) {
      for (const LedgerPart& part : workflow.parts) {
        if (part.phase == PartPhase::kAssigned) scanned.insert(part.worker.node);
      }
    }
  }
  for (const NodeId node : scanned) desk.send(node, Probe{++last_number_});
}

}  // namespace muster::cluster
