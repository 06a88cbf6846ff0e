#include "cluster/workflow_machine.h"

#include <algorithm>

#include "cluster/context.h"

namespace muster::cluster {

base::Instant WorkflowMachine::step(Desk& desk, JobId id, const LedgerJob& job, std::uint32_t workflow) {
  const LedgerWorkflow& state = job.workflows[workflow];
  if (state.parts.empty() || terminal(state.state)) {
    time_offers(desk, false, false);
    return base::kNever;
  }
  watches_.resize(state.parts.size());
  const WorkflowOutline& outline = job.outline.workflows[workflow];
  const bool prepared = prepare(desk, job, workflow);
  Dispatch offer;
  offer.epoch = job.epoch;
  offer.bundle = job.bundle;
  offer.workflow = outline.name;
  offer.run_limit = outline.run_limit.value_or(base::Duration::zero());
  offer.context_version = job.context_version;
  if (prepared) offer.context = *context_;
  PartWatch::Orders orders{job.epoch, job.cancel.has_value(), offer.run_limit, prepared ? &offer : nullptr};
  base::Instant due = base::kNever;
  bool offering = false;
  bool waiting = false;
  for (std::uint32_t i = 0; i < state.parts.size(); ++i) {
    const LedgerPart& part = state.parts[i];
    if (part.phase == PartPhase::kEnded) continue;
    if (part.phase == PartPhase::kWaiting) {
      waiting = true;
      continue;
    }
    offer.part = {id, workflow, i};
    offer.fence = part.fence;
    offer.worker_life = part.worker.life;
    offer.slice = part.slice;
    const auto worker = desk.ledger.workers().find(part.worker.node);
    offer.admission = worker == desk.ledger.workers().end() ? 0 : worker->second.admission;
    due = std::min(due, watches_[i].step(desk, offer.part, part, orders));
    offering = offering || !watches_[i].accepted();
  }
  time_offers(desk, offering, waiting);
  return std::min(due, dispatch_over_at(desk));
}

base::Instant WorkflowMachine::dispatch_over_at(const Desk& desk) const {
  if (offering_since_ == base::kNever) return base::kNever;
  return std::max(offering_since_, desk.current_since) + desk.options.dispatch_timeout - offered_before_;
}

void WorkflowMachine::time_offers(const Desk& desk, bool offering, bool waiting) {
  if (offering) {
    offering_since_ = std::min(offering_since_, desk.now);
    return;
  }
  if (!waiting) {
    offered_before_ = {};
  } else if (offering_since_ != base::kNever) {
    offered_before_ += desk.now - std::max(offering_since_, desk.current_since);
  }
  offering_since_ = base::kNever;
}

bool WorkflowMachine::prepare(Desk& desk, const LedgerJob& job, std::uint32_t workflow) {
  if (context_) return true;
  const auto& depends = job.outline.workflows[workflow].depends;
  if (depends.empty() || job.context.size == 0) {
    context_.emplace();
    return true;
  }
  const auto bytes = desk.bodies.bytes(job.context, desk.effects);
  if (bytes == nullptr) return false;
  std::string filtered;
  if (const auto values = decode_context(*bytes)) encode(values->of(depends), filtered);
  too_large_ = filtered.size() > kMaxContext;
  if (too_large_) return false;
  context_ = std::move(filtered);
  return true;
}

}  // namespace muster::cluster
