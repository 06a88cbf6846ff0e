// How a worker keeps in touch: heartbeats, progress, results, polls.
#include <algorithm>
#include <utility>

#include "cluster/worker.h"
#include "resilience/retry.h"

namespace muster::cluster {
namespace {

// Parts in one message of progress: with large histograms it stays within a message.
constexpr std::size_t kMaxProgressParts = 64;

}  // namespace

void Worker::on(NodeId, const HeartbeatAnswer& message, base::Instant now) {
  if (message.life != self_.life) return;
  awaiting_ = false;
  if (!message.managers.empty()) {
    const NodeId asked = managers_.empty() ? kNoNode : managers_[manager_ % managers_.size()];
    managers_ = message.managers;
    const auto at = std::ranges::find(managers_, asked);
    if (at != managers_.end()) manager_ = static_cast<std::size_t>(at - managers_.begin());
    bodies_.voters(managers_);
  }
  switch (message.contact) {
    case Contact::kAdmitted:
    case Contact::kPending: {
      // Counted from when the question was sent: by the answer's time the managers may have decided otherwise.
      const base::Instant sent{base::Duration(message.sent)};
      if (sent <= now && (!contact_ || sent > *contact_)) {
        if (contact_ && sent - *contact_ >= options_.contact_limit) away_ += sent - *contact_;
        contact_ = sent;
      }
      pressure_ = message.pressure;
      admission_ = std::max(admission_, message.admission);
      break;
    }
    case Contact::kNoQuorum:
      ++manager_;
      break;
    case Contact::kStaleLife:
      superseded_ = true;
      break;
    case Contact::kEvicted:
    case Contact::kMismatch:
      break;
  }
  for (const Leader& leader : message.leaders) {
    const auto at = jobs_.find(leader.job);
    if (at == jobs_.end() || leader.epoch < at->second.epoch) continue;
    at->second.epoch = leader.epoch;
    at->second.manager = leader.manager;
  }
  for (const JobId job : message.over) forget(job, now);
}

void Worker::on(NodeId, const ResultAck& message, base::Instant now) {
  const auto at = parts_.find(message.part);
  if (at == parts_.end() || at->second.order.fence != message.fence || at->second.phase != Phase::kFinished) return;
  bodies_.unpin(at->second.result.body, now);
  if (const auto job = jobs_.find(message.part.job); job != jobs_.end()) job->second.used = now;
  parts_.erase(at);
}

void Worker::on(NodeId from, const Probe& message, base::Instant now) {
  send(from, ProbeAnswer{message.number, self_.life, ++version_, state(), cores_.free(), reports(now)});
}

void Worker::on(NodeId, const ExtensionAnswer& message, base::Instant) {
  const auto at = parts_.find(message.part);
  if (at != parts_.end() && at->second.order.fence == message.fence) effects_.push_back(TellExecutor{message});
}

void Worker::on(NodeId, const Drain& message, base::Instant now) {
  drain(message.on, now);
}

// To one manager, and to those who lead its jobs: they must hear what runs, and any of them is contact.
void Worker::say_heartbeat(base::Instant now) {
  if (awaiting_) ++manager_;
  awaiting_ = true;
  const base::Duration period = contact_ && in_contact(now) ? options_.heartbeat : options_.heartbeat_timeout;
  heartbeat_due_ = now + resilience::spread(period, options_.jitter, random_);
  if (managers_.empty()) return;
  Heartbeat beat;
  beat.life = self_.life;
  beat.cluster = cluster_;
  beat.environment = environment_;
  beat.version = ++version_;
  beat.sent = now.time_since_epoch().count();
  beat.state = state();
  beat.cores = cores_.size();
  beat.free_cores = cores_.free();
  beat.parts = reports(now);
  beat.idle = idle_jobs(now);
  std::set<NodeId> told = leaders(now);
  told.insert(managers_[manager_ % managers_.size()]);
  for (const NodeId manager : told) send(manager, beat);
}

void Worker::flush_progress(base::Instant now) {
  flush_due_ = base::kNever;
  std::map<NodeId, Progress> by_leader;
  for (auto& [id, part] : parts_) {
    const auto job = jobs_.find(id.job);
    if (!part.news || job == jobs_.end()) continue;
    part.news = false;
    Progress& progress = by_leader[job->second.manager];
    progress.life = self_.life;
    progress.sent = now.time_since_epoch();
    progress.parts.push_back(part.latest);
    if (progress.parts.size() < kMaxProgressParts) continue;
    send(job->second.manager, std::exchange(progress, {}));
  }
  for (auto& [leader, progress] : by_leader) {
    if (!progress.parts.empty()) send(leader, std::move(progress));
  }
}

void Worker::poll_cancellations(base::Instant now) {
  poll_due_ = now + resilience::spread(options_.cancel_poll, options_.jitter, random_);
  if (parts_.empty() || managers_.empty()) return;
  std::set<NodeId> asked = leaders(now);
  asked.insert(managers_[manager_ % managers_.size()]);
  for (const NodeId manager : asked) send(manager, CancelPoll{self_.life, reports(now)});
}

// To the leader; after the first time to whoever is asked now, too, who knows the leader if it has changed.
void Worker::send_result(const PartId& id, Part& part, base::Instant now) {
  const auto job = jobs_.find(id.job);
  const bool here = part.result.body.size == 0 || bodies_.here(part.result.body);
  if (here) {
    if (job != jobs_.end()) send(job->second.manager, part.result);
    if (part.wait > options_.result_repeat && !managers_.empty()) {
      send(managers_[manager_ % managers_.size()], part.result);
    }
    part.due = now + part.wait;
    part.wait = std::min(part.wait * 2, options_.result_repeat_cap);
    return;
  }
  part.due = now + options_.result_repeat / 10;
}

std::vector<PartReport> Worker::reports(base::Instant now) const {
  std::vector<PartReport> list;
  for (const auto& [id, part] : parts_) {
    const base::Duration elapsed = part.running() ? now - part.began : base::Duration::zero();
    list.push_back(
        {id, part.order.fence, part.phase == Phase::kFinished, elapsed, part.latest.beat, part.cores_done()});
  }
  return list;
}

// Of jobs that it has parts of, or lately had.
std::set<NodeId> Worker::leaders(base::Instant now) {
  for (const auto& [id, part] : parts_) jobs_.at(id.job).used = now;
  std::set<NodeId> found;
  for (const auto& [id, job] : jobs_) {
    if (job.manager != kNoNode && !idle(job, now)) found.insert(job.manager);
  }
  return found;
}

// In turn, where there are more than one heartbeat holds.
std::vector<JobId> Worker::idle_jobs(base::Instant now) {
  std::vector<JobId> found;
  auto at = jobs_.upper_bound(asked_);
  for (std::size_t i = 0; i < jobs_.size() && found.size() < kMaxIdleJobs; ++i, ++at) {
    if (at == jobs_.end()) at = jobs_.begin();
    if (idle(at->second, now)) found.push_back(at->first);
  }
  if (!found.empty()) asked_ = found.back();
  return found;
}

// What it promised is kept for as long as a message of before the end may be under way.
void Worker::forget(JobId id, base::Instant now) {
  const auto job = jobs_.find(id);
  // Since it asked, something of it may have come.
  if (job == jobs_.end() || !idle(job->second, now)) return;
  for (const PartId& part : job->second.fenced) fences_.release(part, time_in_contact(now));
  epochs_.release(id, time_in_contact(now));
  jobs_.erase(job);
}

}  // namespace muster::cluster
