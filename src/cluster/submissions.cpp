#include "cluster/submissions.h"

#include <algorithm>
#include <utility>

#include "cluster/job_status.h"

namespace muster::cluster {

bool Submissions::add(Desk& desk, NodeId from, const Submit& submit) {
  const auto known = pending_.find(submit.job);
  if (known != pending_.end()) {
    // A repetition, perhaps through another gate: that one is answered, and has the bundle, too. One that no longer
    // owns the job changes nothing.
    Submit& pending = known->second.submit;
    if (pending.client != submit.client || pending.origin_epoch > submit.origin_epoch) return true;
    pending.origin_epoch = submit.origin_epoch;
    if (std::exchange(known->second.from, from) == from) return true;
    // Pinned once per submission, however many have it.
    desk.bodies.pin(pending.bundle, from, desk.now, desk.effects);
    desk.bodies.unpin(pending.bundle, desk.now);
    return true;
  }
  if (pending_.size() >= kMaxPendingSubmits) return false;
  pending_.emplace(submit.job, Pending{from, submit, desk.now + desk.options.submit_timeout});
  desk.bodies.pin(submit.bundle, from, desk.now, desk.effects);
  fresh_ = true;
  return true;
}

base::Instant Submissions::step(Desk& desk) {
  fresh_ = false;
  base::Instant due = base::kNever;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const Pending& pending = at->second;
    const Submit& submit = pending.submit;
    if (desk.now >= pending.give_up) {
      const bool here = desk.bodies.here(submit.bundle);
      answer(desk, pending, here ? Answer::kQuorumTimeout : Answer::kBundleMissing,
             here ? "the bundle did not reach a majority of managers in time" : "the bundle did not arrive in time");
      at = remove(desk, at);
      continue;
    }
    if (desk.bodies.on_majority(submit.bundle)) {
      desk.propose(JobAccepted{submit.job, submit.client, pending.from, submit.origin_epoch, desk.self, submit.bundle,
                               submit.outline});
    }
    due = std::min(due, pending.give_up);
    ++at;
  }
  return due;
}

void Submissions::applied(Desk& desk, JobId job, Verdict verdict) {
  const auto at = pending_.find(job);
  if (at == pending_.end()) return;
  const LedgerJob* accepted = desk.ledger.job(job);
  if (took_effect(verdict) && accepted != nullptr) {
    desk.send(at->second.from, answer_of(desk.ledger, job, *accepted));
  } else {
    if (verdict == Verdict::kQueueFull) desk.note(Noted::kQueueFull, {job, 0, 0});
    answer(desk, at->second, answer_of(verdict), "");
  }
  remove(desk, at);
}

void Submissions::timed_out(Desk& desk, JobId job) {
  const auto at = pending_.find(job);
  if (at == pending_.end()) return;
  answer(desk, at->second, Answer::kQuorumTimeout,
         "not committed in time; it may still be: ask again with the same id");
  remove(desk, at);
}

void Submissions::answer(Desk& desk, const Pending& pending, Answer answer, const char* reason) {
  SubmitAnswer message;
  message.job = pending.submit.job;
  message.answer = answer;
  message.retry_after = desk.options.retry_after;
  message.reason = reason;
  desk.send(pending.from, message);
}

Submissions::Table::iterator Submissions::remove(Desk& desk, Table::iterator at) {
  desk.bodies.unpin(at->second.submit.bundle, desk.now);
  return pending_.erase(at);
}

Answer answer_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kApplied:
    case Verdict::kRepeated:
      return Answer::kAccepted;
    case Verdict::kQueueFull:
    case Verdict::kLedgerFull:
      return Answer::kCapacityExceeded;
    case Verdict::kJobEnded:
      return Answer::kEnded;
    case Verdict::kJobConflict:
      return Answer::kConflict;
    case Verdict::kUnknownJob:
      return Answer::kUnknownJob;
    default:
      return Answer::kInvalid;
  }
}

}  // namespace muster::cluster
