#include "cluster/owner_watch.h"

#include "base/hash.h"

namespace muster::cluster {
namespace {

// Until the next gate is asked: the one before may be gone, or know less than the others.
constexpr base::Duration kAskNext = std::chrono::seconds(5);

}  // namespace

base::Instant OwnerWatch::lead(Desk& desk, JobId job) {
  watched_.try_emplace(job);
  spoke(desk, job);
  return watched_.at(job).due;
}

void OwnerWatch::leave(JobId job) {
  const auto at = watched_.find(job);
  if (at == watched_.end()) return;
  due_.erase({at->second.due, job});
  watched_.erase(at);
}

void OwnerWatch::spoke(Desk& desk, JobId job) {
  const auto at = watched_.find(job);
  if (at == watched_.end()) return;
  at->second.asked = 0;
  // Who takes over many jobs at once does not ask for all of them at once.
  const base::Duration most = desk.options.gate_silence;
  const auto spread = static_cast<std::uint64_t>((most / 4).count());
  schedule(job, at->second, desk.now + most - base::Duration(base::mix(number(job)) % (spread + 1)));
}

void OwnerWatch::schedule(JobId job, Watched& watched, base::Instant due) {
  due_.erase({watched.due, job});
  watched.due = due;
  due_.emplace(due, job);
}

void OwnerWatch::ask(Desk& desk, JobId job, NodeId origin, const std::vector<NodeId>& gates) {
  Watched& watched = watched_.at(job);
  schedule(job, watched, desk.now + kAskNext);
  // The one that is known has its turn with the others: it may be back, and membership may know none of them.
  if (watched.asked++ % (gates.size() + 1) == 0) return desk.send(origin, OwnerAsk{job});
  // Not all jobs of a gate that is gone to the same one.
  desk.send(gates[(number(job) + watched.asked) % gates.size()], OwnerAsk{job});
}

}  // namespace muster::cluster
