#include "cluster/layer_barrier.h"

#include <algorithm>

#include "cluster/job_status.h"
#include "model/result_codec.h"

namespace muster::cluster {
namespace {

bool closes(const LedgerJob& job) {
  const bool over = std::ranges::all_of(job.workflows, [&](const LedgerWorkflow& workflow) {
    return workflow.layer > job.open_layer || terminal(workflow.state);
  });
  return over && !job.cancel && !all_ended(job);
}

}  // namespace

base::Instant LayerBarrier::step(Desk& desk, JobId id, const LedgerJob& job) {
  if (!closes(job)) {
    abandon(desk);
    return base::kNever;
  }
  if (layer_ != job.open_layer) {
    abandon(desk);
    layer_ = job.open_layer;
    since_ = desk.now;
  }
  const base::Instant limit = since_ + desk.options.barrier_timeout;
  if (desk.now >= limit) {
    desk.propose(gives_up(id, job.epoch, given_up::kContextNotKept, JobState::kFailed));
    return desk.now + desk.options.quorum_timeout;
  }
  if (!pinned_) {
    if (!gather(desk, job)) return limit;
    std::string bytes;
    encode(values_, bytes);
    if (bytes.size() > kMaxBodyBytes) {
      desk.propose(gives_up(id, job.epoch, given_up::kProvidesTooMuch, JobState::kFailed));
      return limit;
    }
    pinned_ = BodyRef{desk.hash(bytes), bytes.size()};
    desk.bodies.pin(*pinned_, std::move(bytes), desk.now, desk.effects);
  }
  if (desk.bodies.on_majority(*pinned_)) {
    desk.propose(LayerContext{id, job.epoch, job.open_layer, job.context_version + 1, *pinned_});
    return std::min(limit, desk.now + desk.options.quorum_timeout);
  }
  return limit;
}

void LayerBarrier::abandon(Desk& desk) {
  if (pinned_) desk.bodies.unpin(*pinned_, desk.now);
  *this = LayerBarrier();
}

bool LayerBarrier::gather(Desk& desk, const LedgerJob& job) {
  if (!had_context_ && job.context.size > 0) {
    const auto bytes = desk.bodies.bytes(job.context, desk.effects);
    if (bytes == nullptr) return false;
    if (auto earlier = decode_context(*bytes)) values_ = std::move(*earlier);
  }
  had_context_ = true;
  std::size_t position = 0;
  for (std::uint32_t i = 0; i < job.workflows.size(); ++i) {
    if (job.workflows[i].layer != job.open_layer) continue;
    for (const LedgerPart& part : job.workflows[i].parts) {
      if (part.result.size == 0 || position++ < gathered_) continue;
      const auto bytes = desk.bodies.bytes(part.result, desk.effects);
      if (bytes == nullptr) return false;
      take(i, *bytes);
      ++gathered_;
    }
  }
  return true;
}

// A result that cannot be read provides nothing; its workflow's dependents then lack what they use, and say so.
void LayerBarrier::take(std::uint32_t workflow, const std::string& bytes) {
  if (const auto result = model::decode_workflow_result(bytes)) values_.add(workflow, result->provided);
}

}  // namespace muster::cluster
