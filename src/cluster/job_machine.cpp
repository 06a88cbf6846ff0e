#include "cluster/job_machine.h"

#include <algorithm>

#include "cluster/job_status.h"
#include "cluster/provisioner.h"

namespace muster::cluster {
namespace {

// Bytes of histograms in one push, so that it fits into a message; beyond it rows carry counts alone. Wide histograms
// of hundreds of workflows are needed to get there.
constexpr std::size_t kMaxPushedHistograms = kMaxMessageBytes / 2;
// Most bytes of a used bucket.
constexpr std::size_t kBucketBytes = 8;

void fit(WindowPush& push) {
  std::size_t bytes = 0;
  const auto take = [&](metrics::CoarseHistogram& latency) {
    bytes += latency.buckets().size() * kBucketBytes;
    if (bytes > kMaxPushedHistograms) latency.clear();
  };
  for (TotalRow& row : push.totals) take(row.latency);
  for (WindowRow& row : push.windows) take(row.latency);
}

// For cores, though no worker that is there may ever take the part.
bool waits_in_vain(const Ledger& ledger, const LedgerJob& job) {
  return std::ranges::any_of(job.workflows, [&](const LedgerWorkflow& workflow) {
    return std::ranges::any_of(workflow.parts, [&](const LedgerPart& part) {
      return part.phase == PartPhase::kWaiting && !placeable(ledger, part);
    });
  });
}

}  // namespace

JobMachine::JobMachine(JobId id, const LedgerJob& job, base::Instant since)
    : id_(id),
      epoch_(job.epoch),
      origin_(job.origin),
      origin_epoch_(job.origin_epoch),
      since_(since),
      workflows_(job.workflows.size()),
      told_(job.workflows.size(), false) {}

base::Instant JobMachine::step(Desk& desk) {
  const LedgerJob* job = desk.ledger.job(id_);
  if (job == nullptr || job->epoch != epoch_) return base::kNever;
  results_.step(desk);
  windows_.sync(*job, desk.now);
  tell_ends(desk, *job);
  if (job->end) {
    barrier_.abandon(desk);
    push_windows(desk);
    return base::kNever;
  }
  if (all_ended(*job)) {
    const JobState state = job->cancel ? job->cancel->end_as : end_of(*job);
    desk.propose(JobEnded{id_, epoch_, state, job->cancel ? job->cancel->reason : std::string()});
    return desk.now + desk.options.quorum_timeout;
  }
  base::Instant due = barrier_.step(desk, id_, *job);
  for (std::uint32_t i = 0; i < workflows_.size(); ++i) {
    due = std::min(due, workflows_[i].step(desk, id_, *job, i));
  }
  due = std::min(due, check_limits(desk, *job));
  push_windows(desk);
  if (windows_.changed() || windows_.deadline() != base::kNever) due = std::min(due, push_due_);
  // What is overdue was proposed, and is looked at again.
  return std::max(due, desk.now + desk.options.call_timeout / 10);
}

void JobMachine::receive(Desk& desk, const DispatchAnswer& message) {
  const LedgerPart* part = assigned(desk, message.part);
  if (PartWatch* found = watch(message.part); found != nullptr && part != nullptr) {
    found->answered(desk, *part, message);
  }
}

void JobMachine::receive(Desk& desk, const PartStopped& message) {
  const LedgerPart* part = assigned(desk, message.part);
  if (PartWatch* found = watch(message.part); found != nullptr && part != nullptr) {
    found->stopped(desk, *part, message);
  }
}

void JobMachine::receive(Desk& desk, NodeId from, const ExtensionAsk& message) {
  const LedgerPart* part = assigned(desk, message.part);
  PartWatch* found = watch(message.part);
  if (found == nullptr || part == nullptr || part->worker.node != from) return;
  desk.send(from, found->extend(desk, *part, message));
}

void JobMachine::progress(Desk& desk, const PartProgress& message, base::Duration clock_offset) {
  const LedgerPart* part = assigned(desk, message.part);
  PartWatch* found = watch(message.part);
  if (found == nullptr || part == nullptr || part->fence != message.fence) return;
  found->seen(desk, message.fence, message.beat, base::Duration::zero(), false);
  windows_.add(message, clock_offset, desk.now);
}

void JobMachine::reported(Desk& desk, const PartReport& report) {
  const LedgerPart* const part = assigned(desk, report.part);
  PartWatch* const found = watch(report.part);
  if (found == nullptr || part == nullptr) return;
  found->seen(desk, report.fence, report.beat, report.elapsed, report.finished);
  const bool news = report.fence == part->fence && report.cores_done > part->given_back;
  if (news) desk.propose(CoresDone{report.part, report.fence, epoch_, report.cores_done});
}

void JobMachine::missing(Desk& desk, const PartId& part, const Fence& fence) {
  if (PartWatch* found = watch(part)) {
    desk.note(Noted::kOrphanFound, part, fence);
    found->missing(desk, fence);
  }
}

bool JobMachine::offering() const {
  return std::ranges::any_of(workflows_, &WorkflowMachine::offering);
}

std::optional<Tracked> JobMachine::tracked(const PartId& part, const Fence& fence) const {
  const PartWatch* found = part.workflow < workflows_.size() ? workflows_[part.workflow].watch(part.part) : nullptr;
  if (found == nullptr || found->fence() != fence || !found->running()) return std::nullopt;
  return Tracked{part, fence, found->accepted_version()};
}

void JobMachine::announce(NodeId gate, std::uint64_t origin_epoch) {
  if (origin_epoch < origin_epoch_) return;
  origin_ = gate;
  origin_epoch_ = origin_epoch;
  std::fill(told_.begin(), told_.end(), false);
}

void JobMachine::push_windows(Desk& desk) {
  const LedgerJob* job = desk.ledger.job(id_);
  if (job == nullptr || (desk.now < push_due_ && !job->end)) return;
  push_due_ = desk.now + desk.options.window_push;
  std::vector<WindowRow> rows = windows_.closed(*job, kMaxWindowRows, desk.now);
  if (rows.empty() && !windows_.changed()) return;
  windows_.pushed();
  WindowPush push{id_, epoch_, std::move(rows), windows_.totals()};
  fit(push);
  desk.send(origin_, std::move(push));
}

void JobMachine::push_last(Desk& desk) {
  const LedgerJob* job = desk.ledger.job(id_);
  if (job == nullptr || !job->end) return;
  windows_.sync(*job, desk.now);
  push_windows(desk);
}

void JobMachine::abandon(Desk& desk) {
  results_.abandon(desk);
  barrier_.abandon(desk);
}

const LedgerPart* JobMachine::assigned(Desk& desk, const PartId& part) const {
  const LedgerPart* found = desk.ledger.part(part);
  return found != nullptr && found->phase == PartPhase::kAssigned ? found : nullptr;
}

PartWatch* JobMachine::watch(const PartId& part) {
  return part.workflow < workflows_.size() ? workflows_[part.workflow].watch(part.part) : nullptr;
}

void JobMachine::tell_ends(Desk& desk, const LedgerJob& job) {
  for (std::uint32_t i = 0; i < told_.size(); ++i) {
    if (told_[i] || !terminal(job.workflows[i].state)) continue;
    told_[i] = true;
    desk.send(origin_, WorkflowEnded{id_, epoch_, status_of(job, i)});
  }
}

base::Instant JobMachine::check_limits(Desk& desk, const LedgerJob& job) {
  if (job.cancel) return base::kNever;
  base::Instant due = base::kNever;
  if (job.outline.time_limit) {
    due = since_ + *job.outline.time_limit;
    if (desk.now >= due) give_up(desk, given_up::kTimeLimit, JobState::kTimeout);
  }
  for (const WorkflowMachine& workflow : workflows_) {
    if (workflow.context_too_large()) give_up(desk, given_up::kContextTooLarge, JobState::kFailed);
    if (desk.now >= workflow.dispatch_over_at(desk)) give_up(desk, given_up::kNotDispatched, JobState::kFailed);
  }
  const bool none_left =
      std::ranges::all_of(desk.ledger.workers(), [](const auto& each) { return each.second.evicted; });
  const bool no_worker = none_left || waits_in_vain(desk.ledger, job);
  no_worker_since_ = no_worker ? std::min(no_worker_since_, desk.now) : base::kNever;
  if (no_worker) {
    const base::Instant limit = std::max(no_worker_since_, desk.current_since) + desk.options.no_worker_limit;
    if (desk.now >= limit) {
      give_up(desk, none_left ? given_up::kNoWorker : given_up::kNobodyMayTake, JobState::kFailed);
    }
    due = std::min(due, limit);
  }
  return due <= desk.now ? desk.now + desk.options.quorum_timeout : due;
}

void JobMachine::give_up(Desk& desk, std::string_view reason, JobState end_as) {
  desk.propose(gives_up(id_, epoch_, reason, end_as));
}

}  // namespace muster::cluster
