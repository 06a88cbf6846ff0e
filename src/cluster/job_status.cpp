#include "cluster/job_status.h"

#include <algorithm>

namespace muster::cluster {

JobState state_of(const LedgerJob& job) {
  if (job.end) return job.end->state;
  if (job.cancel) return JobState::kCancelling;
  if (all_ended(job)) return JobState::kCompleting;
  if (!job.started) return JobState::kQueued;
  const bool waiting = std::ranges::any_of(job.workflows, [](const LedgerWorkflow& workflow) {
    return std::ranges::any_of(workflow.parts,
                               [](const LedgerPart& part) { return part.phase == PartPhase::kWaiting; });
  });
  return waiting ? JobState::kProvisioning : JobState::kRunning;
}

WorkflowStatus status_of(const LedgerJob& job, std::uint32_t index) {
  const LedgerWorkflow& workflow = job.workflows[index];
  WorkflowStatus status;
  status.workflow = index;
  status.state = workflow.state;
  status.parts = static_cast<std::uint32_t>(workflow.parts.size());
  for (const LedgerPart& part : workflow.parts) {
    if (part.phase != PartPhase::kEnded) continue;
    ++status.parts_ended;
    status.counts.add(part.counts);
    if (part.result.size > 0) status.results.push_back(part.result);
    if (status.reason.empty() && part.outcome != PartOutcome::kCompleted) status.reason = part.reason;
  }
  return status;
}

std::vector<WorkflowStatus> status_of(const LedgerJob& job) {
  std::vector<WorkflowStatus> list;
  for (std::uint32_t i = 0; i < job.workflows.size(); ++i) list.push_back(status_of(job, i));
  return list;
}

bool all_ended(const LedgerJob& job) {
  return std::ranges::all_of(job.workflows, [](const LedgerWorkflow& workflow) { return terminal(workflow.state); });
}

SubmitAnswer answer_of(const Ledger& ledger, JobId id, const LedgerJob& job) {
  SubmitAnswer answer;
  answer.job = id;
  answer.answer = job.end ? Answer::kEnded : Answer::kAccepted;
  answer.state = state_of(job);
  answer.leader = job.owner.node;
  answer.epoch = job.epoch;
  if (answer.state == JobState::kQueued) answer.position = static_cast<std::uint32_t>(ledger.queue_position(job) + 1);
  if (job.end) answer.reason = job.end->reason;
  return answer;
}

CancelAnswer cancelled(JobId id, const LedgerJob& job) {
  CancelAnswer answer;
  answer.job = id;
  answer.done = true;
  for (const LedgerWorkflow& workflow : job.workflows) {
    for (const LedgerPart& part : workflow.parts) {
      if (part.phase != PartPhase::kEnded || part.outcome != PartOutcome::kCancelled) continue;
      ++(part.reason == kLostWithWorker ? answer.unconfirmed : answer.stopped);
    }
  }
  return answer;
}

}  // namespace muster::cluster
