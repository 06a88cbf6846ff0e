#include "cluster/gate_job.h"

#include <algorithm>

namespace muster::cluster {

GateJob::GateJob(JobId id, const GateLedgerJob& job, const GateOptions& options, base::Instant now)
    : id_(id),
      epoch_(job.epoch),
      since_(now),
      totals_every_(options.totals_push),
      totals_due_(now),
      results_(job.slots.size()),
      statistics_(options.window_close) {
  for (std::uint32_t i = 0; i < job.slots.size(); ++i) slots_.emplace_back(id, i, epoch_, now);
}

base::Instant GateJob::step(GateDesk& desk) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr || !desk.leases.holds(id_, epoch_, desk.now)) return base::kNever;
  base::Instant due = base::kNever;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    due = std::min(due, slots_[i].step(desk, *found));
    if (found->slots[i].phase == SlotPhase::kEnded) {
      results_[i].drop(desk);
    } else {
      results_[i].step(desk, *found, fence(*found, static_cast<int>(i)));
    }
  }
  note_losses(*found);
  due = std::min({due, cancel_given_up(desk, *found), statistics_.deadline()});
  return statistics_.changed() ? std::min(due, totals_due_) : due;
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId from, const SubmitAnswer& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot < 0) return;
  slots_[static_cast<std::size_t>(slot)].receive(desk, from, message);
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId from, const StatusAnswer& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot < 0) return;
  const auto at = static_cast<std::size_t>(slot);
  if (!slots_[at].receive(desk, from, message)) return;
  // It does not say how old the job was: as old as it is here by now, if nothing else is known.
  const base::Duration elapsed = results_[at].ended() ? base::Duration::zero() : desk.now - since_;
  results_[at].end(desk, *found, fence(*found, slot), from, message.state, message.reason, elapsed, message.workflows);
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId, const CancelAnswer& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot >= 0) return slots_[static_cast<std::size_t>(slot)].receive(desk, message);
  const auto at = given_up_.find(datacenter);
  if (at == given_up_.end()) return;
  at->second.confirmed = message.answer == Answer::kUnknownJob || message.answer == Answer::kEnded ||
                         (message.answer == Answer::kAccepted && message.done);
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId from, const WorkflowEnded& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot < 0) return refuse(desk, from, false);
  const auto at = static_cast<std::size_t>(slot);
  if (!slots_[at].heard(message.epoch, desk.now)) return;
  results_[at].add(desk, *found, fence(*found, slot), from, message.status);
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId from, const JobEnd& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot < 0) return refuse(desk, from, true);
  const auto at = static_cast<std::size_t>(slot);
  if (found->slots[at].phase == SlotPhase::kEnded) return desk.send(from, EndAck{id_});
  if (!slots_[at].heard(message.epoch, desk.now)) return;
  // The datacenter's is at least so much, or nothing if it does not know. Where it alone had the job, that is as old
  // there as it is here.
  const bool alone =
      !results_[at].ended() && (found->slots[at].offer <= 1 || message.elapsed == base::Duration::zero());
  const base::Duration elapsed = alone ? std::max(message.elapsed, desk.now - since_) : message.elapsed;
  results_[at].end(desk, *found, fence(*found, slot), from, message.state, message.reason, elapsed, message.workflows);
}

void GateJob::receive(GateDesk& desk, const std::string& datacenter, NodeId from, const WindowPush& message) {
  const GateLedgerJob* found = job(desk);
  if (found == nullptr) return;
  const int slot = slot_of(*found, datacenter);
  if (slot < 0) return refuse(desk, from, false);
  if (!slots_[static_cast<std::size_t>(slot)].heard(message.epoch, desk.now)) return;
  statistics_.take(datacenter, from, message, desk.now);
}

void GateJob::unheard(std::uint32_t slot) {
  if (slot < slots_.size()) slots_[slot].unheard();
}

std::uint64_t GateJob::take_heard() {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].take_heard()) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

std::vector<WindowPush> GateJob::pushes(base::Instant now) {
  const bool totals = statistics_.changed() && now >= totals_due_;
  if (totals) totals_due_ = now + totals_every_;
  return statistics_.due(id_, epoch_, totals, now);
}

std::vector<WindowPush> GateJob::last_pushes(const GateLedgerJob& job) {
  note_losses(job);
  return statistics_.due(id_, epoch_, true, base::kNever);
}

void GateJob::note_losses(const GateLedgerJob& job) {
  for (const GateSlot& slot : job.slots) {
    if (slot.lost) statistics_.lose(slot.datacenter);
  }
  for (const std::string& name : job.abandoned) statistics_.lose(name);
}

std::uint32_t GateJob::stopped() const {
  std::uint32_t sum = 0;
  for (const SlotMachine& slot : slots_) sum += slot.stopped();
  return sum;
}

std::uint32_t GateJob::unconfirmed() const {
  std::uint32_t sum = 0;
  for (const SlotMachine& slot : slots_) sum += slot.unconfirmed();
  return sum;
}

void GateJob::drop(GateDesk& desk) {
  for (SlotResults& results : results_) results.drop(desk);
}

// Null once the ledger says that it is over, or another's.
const GateLedgerJob* GateJob::job(const GateDesk& desk) const {
  const GateLedgerJob* found = desk.ledger.job(id_);
  if (found == nullptr || found->end || found->epoch != epoch_ || found->owner != desk.self) return nullptr;
  return found;
}

int GateJob::slot_of(const GateLedgerJob& job, const std::string& datacenter) const {
  if (std::ranges::binary_search(job.abandoned, datacenter)) return -1;
  for (std::size_t i = 0; i < job.slots.size(); ++i) {
    const GateSlot& slot = job.slots[i];
    if (slot.phase != SlotPhase::kOpen && slot.datacenter == datacenter) return static_cast<int>(i);
  }
  return -1;
}

SlotFence GateJob::fence(const GateLedgerJob& job, int slot) const {
  const auto at = static_cast<std::size_t>(slot);
  return {id_, epoch_, static_cast<std::uint32_t>(slot), job.slots[at].offer};
}

// Nobody will ever want what it has: it may forget its end, and should stop what runs.
void GateJob::refuse(GateDesk& desk, NodeId from, bool end) {
  if (!desk.leases.holds(id_, epoch_, desk.now)) return;
  desk.note(Noted::kResultRefused, id_, epoch_, from);
  if (end) {
    desk.send(from, EndAck{id_});
  } else {
    desk.send(from, Cancel{id_, job(desk)->client, epoch_, "gate", "its run at this datacenter was given up"});
  }
}

base::Instant GateJob::cancel_given_up(GateDesk& desk, const GateLedgerJob& job) {
  base::Instant due = base::kNever;
  for (const std::string& name : job.abandoned) {
    Given& given = given_up_[name];
    if (given.confirmed) continue;
    if (desk.now >= given.next) {
      if (const NodeId manager = desk.datacenters.manager_for(name, given.attempts); manager != kNoNode) {
        desk.send(manager, Cancel{id_, job.client, epoch_, "gate", "its run at this datacenter was given up"});
      }
      ++given.attempts;
      given.next = desk.now + desk.options.call_cap;
    }
    due = std::min(due, given.next);
  }
  return due;
}

}  // namespace muster::cluster
