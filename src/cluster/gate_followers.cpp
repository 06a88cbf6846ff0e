#include "cluster/gate_followers.h"

#include <algorithm>

#include "cluster/gate_status.h"

namespace muster::cluster {
namespace {

// Results told to one follower in one go; each may take some tens of kilobytes.
constexpr std::uint32_t kResultsAtOnce = 32;
constexpr base::Duration kResultPause = std::chrono::milliseconds(20);

}  // namespace

void GateFollowers::follow(JobId job, NodeId node, std::uint32_t seen, base::Instant now) {
  Follower& follower = find_or_add(job, node, now);
  follower.follows = true;
  follower.told = seen;
  follower.end_due = now;
}

void GateFollowers::cancels(JobId job, NodeId node, base::Instant now) {
  find_or_add(job, node, now).cancels = true;
}

void GateFollowers::left(NodeId node) {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    std::erase_if(at->second.followers, [&](const Follower& follower) { return follower.node == node; });
    at = at->second.followers.empty() ? jobs_.erase(at) : std::next(at);
  }
}

bool GateFollowers::acknowledged(JobId job, NodeId node) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return false;
  const auto gone =
      std::erase_if(at->second.followers, [&](const Follower& follower) { return follower.node == node; });
  if (at->second.followers.empty()) jobs_.erase(at);
  return gone > 0;
}

void GateFollowers::forgotten(JobId job) {
  jobs_.erase(job);
}

base::Instant GateFollowers::step(GateDesk& desk, JobId id) {
  const auto at = jobs_.find(id);
  const GateLedgerJob* job = desk.ledger.job(id);
  if (at == jobs_.end() || job == nullptr) return base::kNever;
  base::Instant due = base::kNever;
  const auto results = static_cast<std::uint32_t>(job->results.size());
  for (Follower& follower : at->second.followers) {
    if (job->end && follower.cancels) {
      follower.cancels = false;
      CancelAnswer answer;
      answer.job = id;
      answer.done = true;
      answer.stopped = at->second.stopped;
      answer.unconfirmed = at->second.unconfirmed;
      desk.send(follower.node, answer);
    }
    if (!follower.follows) continue;
    const std::uint32_t last = std::min(results, follower.told + std::min(results, kResultsAtOnce));
    for (; follower.told < last; ++follower.told) desk.send(follower.node, result_of(id, *job, follower.told));
    if (follower.told < results) {
      due = std::min(due, desk.now + kResultPause);
    } else if (job->end) {
      if (desk.now >= follower.end_due) {
        desk.send(follower.node, end_message(id, *job));
        follower.end_due = desk.now + desk.options.end_repeat;
      }
      due = std::min(due, follower.end_due);
    }
  }
  std::erase_if(at->second.followers, [](const Follower& follower) { return !follower.follows && !follower.cancels; });
  if (at->second.followers.empty()) jobs_.erase(at);
  return due;
}

void GateFollowers::stopped(JobId job, std::uint32_t stopped, std::uint32_t unconfirmed) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  at->second.stopped = stopped;
  at->second.unconfirmed = unconfirmed;
}

void GateFollowers::push(GateDesk& desk, JobId job, const std::vector<WindowPush>& messages) const {
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  for (const Follower& follower : at->second.followers) {
    if (!follower.follows) continue;
    for (const WindowPush& message : messages) desk.send(follower.node, message);
  }
}

void GateFollowers::tell_all(GateDesk& desk, const Message& message) const {
  std::set<NodeId> nodes;
  for (const auto& [id, followed] : jobs_) {
    for (const Follower& follower : followed.followers) nodes.insert(follower.node);
  }
  for (const NodeId node : nodes) desk.send(node, message);
}

GateFollowers::Follower& GateFollowers::find_or_add(JobId job, NodeId node, base::Instant now) {
  std::vector<Follower>& followers = jobs_[job].followers;
  const auto at = std::ranges::find(followers, node, &Follower::node);
  if (at != followers.end()) return *at;
  if (followers.size() >= kMaxFollowers) followers.erase(followers.begin());
  Follower made;
  made.node = node;
  made.end_due = now;
  followers.push_back(made);
  return followers.back();
}

}  // namespace muster::cluster
