#include "cluster/slot_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::cluster {

void SlotResults::add(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, NodeId from,
                      const WorkflowStatus& status) {
  if (fence.offer != offer_) {
    drop(desk);
    offer_ = fence.offer;
  }
  if (!terminal(status.state) || status.workflow >= job.outline.workflows.size()) return;
  if (received(job, fence.slot, fence.offer, status.workflow)) return;
  const auto [at, added] = pending_.try_emplace(status.workflow, Pending{status, {}, desk.now});
  Pending& pending = at->second;
  if (std::ranges::find(pending.sources, from) != pending.sources.end()) return;
  if (pending.sources.size() >= kMaxManagers) return;
  pending.sources.push_back(from);
  for (const BodyRef& body : pending.status.results) {
    if (body.size == 0) continue;
    desk.bodies.pin(body, from, desk.now, desk.effects);
    // Pinned once per result, however many have it.
    if (!added) desk.bodies.unpin(body, desk.now);
  }
}

void SlotResults::end(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, NodeId from, JobState state,
                      const std::string& reason, base::Duration elapsed, const std::vector<WorkflowStatus>& workflows) {
  if (!terminal(state)) return;
  if (fence.offer != offer_) {
    drop(desk);
    offer_ = fence.offer;
  }
  for (const WorkflowStatus& status : workflows) add(desk, job, fence, from, status);
  if (!end_) end_ = End{state, reason, elapsed};
  end_->elapsed = std::max(end_->elapsed, elapsed);
}

void SlotResults::step(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence) {
  if (fence.offer != offer_) return;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const WorkflowStatus& status = at->second.status;
    if (received(job, fence.slot, fence.offer, status.workflow)) {
      unpin(desk, status);
      at = pending_.erase(at);
      continue;
    }
    const bool safe = std::ranges::all_of(
        status.results, [&](const BodyRef& body) { return body.size == 0 || desk.bodies.on_majority(body); });
    const bool here = std::ranges::all_of(
        status.results, [&](const BodyRef& body) { return body.size == 0 || desk.bodies.here(body); });
    if (safe && desk.current()) {
      desk.propose(WorkflowReceived{fence, status});
    } else if (!here && desk.current() && desk.now >= at->second.since + desk.options.result_patience) {
      WorkflowStatus bare = status;
      bare.results.clear();
      bare.reason = "Its results could not be had from the datacenter. " + bare.reason;
      desk.propose(WorkflowReceived{fence, std::move(bare)});
    }
    ++at;
  }
  if (!end_ || !pending_.empty()) return;
  propose_end(desk, job, fence, *end_);
}

// A datacenter tells its end with all results. One that says that it completed and leaves some out is not believed:
// nobody could ever tell what is missing in such a job.
void SlotResults::propose_end(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, const End& end) const {
  const std::size_t expected = job.outline.workflows.size();
  const std::size_t told = results_of(job, fence.slot, fence.offer);
  if (end.state != JobState::kCompleted || told == expected) {
    desk.propose(SlotEnded{fence, end.state, end.reason, end.elapsed});
    return;
  }
  std::uint32_t missing = 0;
  while (received(job, fence.slot, fence.offer, missing)) ++missing;
  std::string reason = fmt::format(
      "Datacenter '{}' said that the job completed, but told the results of {} of its {} workflows; the first one "
      "without is '{}'. Look for it there.",
      job.slots[fence.slot].datacenter, told, expected, job.outline.workflows[missing].name);
  desk.propose(SlotEnded{fence, JobState::kFailed, std::move(reason), end.elapsed});
}

void SlotResults::drop(GateDesk& desk) {
  for (const auto& [workflow, pending] : pending_) unpin(desk, pending.status);
  pending_.clear();
  end_.reset();
}

void SlotResults::unpin(GateDesk& desk, const WorkflowStatus& status) {
  for (const BodyRef& body : status.results) {
    if (body.size != 0) desk.bodies.unpin(body, desk.now);
  }
}

}  // namespace muster::cluster
