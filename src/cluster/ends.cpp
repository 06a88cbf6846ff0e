#include "cluster/ends.h"

#include <algorithm>

#include "cluster/job_status.h"

namespace muster::cluster {
namespace {

// So many pushes without an acknowledgement, and the gates are asked whose job it is.
constexpr std::uint32_t kPushesBeforeAsking = 5;

}  // namespace

void Ends::ended(JobId job, base::Duration elapsed, base::Instant now) {
  const auto [at, added] = ended_.try_emplace(job);
  if (!added) return;
  at->second.since = now;
  at->second.elapsed = elapsed;
  at->second.due = now;
  due_.emplace(now, job);
}

void Ends::forgotten(JobId job) {
  const auto at = ended_.find(job);
  if (at == ended_.end()) return;
  due_.erase({at->second.due, job});
  ended_.erase(at);
}

void Ends::announce(JobId job, NodeId gate, std::uint64_t origin_epoch, base::Instant now) {
  const auto at = ended_.find(job);
  if (at == ended_.end() || origin_epoch < at->second.origin_epoch) return;
  at->second.origin = gate;
  at->second.origin_epoch = origin_epoch;
  at->second.pushed = 0;
  if (!at->second.acknowledged) schedule(job, at->second, now);
}

void Ends::acknowledged(Desk& desk, JobId job, NodeId from) {
  const auto at = ended_.find(job);
  const LedgerJob* known = desk.ledger.job(job);
  if (at == ended_.end() || known == nullptr || at->second.acknowledged) return;
  if (from != known->origin && from != at->second.origin) return;
  at->second.acknowledged = true;
  schedule(job, at->second, desk.now);
}

void Ends::schedule(JobId job, Ended& ended, base::Instant due) {
  due_.erase({ended.due, job});
  ended.due = due;
  due_.emplace(due, job);
}

base::Instant Ends::tell(Desk& desk, JobId job, const LedgerJob& known, const std::vector<NodeId>& gates) {
  Ended& ended = ended_.at(job);
  const bool completed = known.end->state == JobState::kCompleted;
  const base::Duration keep = !ended.acknowledged ? desk.options.keep_unacknowledged
                              : completed         ? desk.options.keep_completed
                                                  : desk.options.keep_failed;
  const base::Instant over = ended.since + keep;
  if (desk.now >= over) {
    desk.propose(JobForgotten{job});
    return desk.now + desk.options.quorum_timeout;
  }
  if (ended.acknowledged) return over;
  const NodeId origin = ended.origin != kNoNode ? ended.origin : known.origin;
  desk.send(origin, JobEnd{job, known.epoch, known.end->state, known.end->reason, status_of(known), ended.elapsed});
  if (++ended.pushed > kPushesBeforeAsking && !gates.empty()) {
    desk.send(gates[desk.random.below(gates.size())], OwnerAsk{job});
  }
  return std::min(over, desk.now + desk.options.end_repeat * std::min(ended.pushed, 15u));
}

}  // namespace muster::cluster
