#include "cluster/worker.h"

#include <algorithm>
#include <utility>

namespace muster::cluster {

Worker::Worker(const WorkerSettings& settings, base::Instant now)
    : self_(settings.self),
      cluster_(settings.cluster),
      environment_(settings.environment),
      options_(settings.options),
      random_(settings.seed),
      hash_(settings.hash),
      managers_(settings.managers),
      cores_(std::min(settings.cores, kMaxCores)),
      bodies_(settings.self, settings.hash, settings.options.bodies, {}, now, Bodies::Copies::kHere),
      fences_(settings.options.fences),
      epochs_(settings.options.fences),
      heartbeat_due_(now),
      poll_due_(now + settings.options.cancel_poll) {
  if (managers_.size() > kMaxManagers) managers_.resize(kMaxManagers);
  bodies_.voters(managers_);
}

// A process that was paused must first see how late it is: what it was told may have been decided without it.
void Worker::receive(NodeId from, const Message& message, base::Instant now) {
  settle(now);
  std::visit([&](const auto& each) { on(from, each, now); }, message);
  settle(now);
}

void Worker::executor_progress(const PartProgress& progress, base::Instant now) {
  const auto at = parts_.find(progress.part);
  if (at == parts_.end() || at->second.order.fence != progress.fence || at->second.phase == Phase::kFinished) return;
  Part& part = at->second;
  const std::uint64_t sequence = part.latest.sequence + 1;
  part.latest = progress;
  part.latest.sequence = sequence;
  part.latest.collected = now.time_since_epoch();
  part.news = true;
  if (flush_due_ == base::kNever) flush_due_ = now + resilience::flush_interval(pressure_);
  settle(now);
}

void Worker::executor_leaves(const PartId& id, const Fence& fence, std::span<const std::uint32_t> cores,
                             base::Instant now) {
  const auto at = parts_.find(id);
  if (at == parts_.end() || at->second.order.fence != fence || at->second.phase != Phase::kRunning) return;
  std::vector<std::uint32_t>& left = at->second.cores;
  for (const std::uint32_t core : cores) {
    if (left.size() > 1 && std::erase(left, core) > 0) cores_.release(id, core);
  }
  settle(now);
}

void Worker::executor_ended(ExecutorEnd end, base::Instant now) {
  const auto at = parts_.find(end.part);
  if (at == parts_.end() || at->second.order.fence != end.fence || at->second.phase == Phase::kFinished) return;
  Part& part = at->second;
  cores_.release(end.part);
  if (part.overdue && end.outcome.value_or(PartOutcome::kCancelled) == PartOutcome::kCancelled) {
    end.outcome = PartOutcome::kTimeout;
    end.reason = "its run-time limit";
  }
  // One that was told to stop and did so has no result; one that had ended by itself has.
  const bool obeyed =
      part.phase == Phase::kStopping && !part.overdue && (!end.outcome || *end.outcome == PartOutcome::kCancelled);
  if (obeyed || !end.outcome) {
    gone(at, part.alone ? DispatchReply::kAlone : DispatchReply::kStopped, now);
  } else {
    finish(at, std::move(end), now);
  }
  settle(now);
}

void Worker::executor_asks(const ExtensionAsk& ask, base::Instant now) {
  const auto at = parts_.find(ask.part);
  const auto job = jobs_.find(ask.part.job);
  if (at == parts_.end() || at->second.order.fence != ask.fence || job == jobs_.end()) return;
  ExtensionAsk sent = ask;
  sent.active = static_cast<std::uint32_t>(parts_.size());
  send(job->second.manager, sent);
  settle(now);
}

void Worker::body_stored(const BodyHash& hash, bool ok, base::Instant now) {
  if (disk_failed_ == ok) heartbeat_due_ = now;
  disk_failed_ = !ok;
  bodies_.stored(hash, ok, now, effects_);
  settle(now);
}

void Worker::body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now) {
  bodies_.read(hash, std::move(bytes), now, effects_);
  settle(now);
}

void Worker::health(double cpu, double memory, std::uint32_t score, base::Instant now) {
  degraded_ = cpu >= options_.degraded_cpu || memory >= options_.degraded_memory || score >= options_.degraded_score;
  const bool critical = score >= options_.critical_score;
  if (critical_ != critical) heartbeat_due_ = now;
  critical_ = critical;
  settle(now);
}

void Worker::drain(bool on, base::Instant now) {
  if (drain_asked_ != on) heartbeat_due_ = now;
  drain_asked_ = on;
  settle(now);
}

void Worker::stop_cores(std::span<const std::uint32_t> cores, base::Instant now) {
  for (const PartId& id : cores_.on(cores)) stop(id, parts_.at(id), options_.stop_grace, now);
  settle(now);
}

void Worker::wake(base::Instant now) {
  settle(now);
}

base::Instant Worker::deadline() const {
  base::Instant due = std::min({bodies_.deadline(), heartbeat_due_, flush_due_, poll_due_});
  bool active = false;
  for (const auto& [id, part] : parts_) {
    due = std::min(due, due_of(part));
    active = active || part.phase == Phase::kPreparing || part.phase == Phase::kRunning;
  }
  if (active && contact_) due = std::min(due, *contact_ + options_.contact_limit);
  return due;
}

Effects Worker::take() {
  return std::exchange(effects_, {});
}

std::uint32_t Worker::cores_done() const {
  std::uint32_t sum = 0;
  for (const auto& [id, part] : parts_) sum += part.cores_done();
  return sum;
}

WorkerState Worker::state() const {
  if (superseded_ || drained()) return WorkerState::kOffline;
  if (drain_asked_ || critical_ || crowded()) return WorkerState::kDraining;
  if (!contact_) return WorkerState::kRegistering;
  return degraded_ || disk_failed_ ? WorkerState::kDegraded : WorkerState::kHealthy;
}

void Worker::settle(base::Instant now) {
  if (!in_contact(now) || superseded_) {
    for (auto& [id, part] : parts_) {
      if (part.phase != Phase::kPreparing && part.phase != Phase::kRunning) continue;
      part.alone = true;
      note(Noted::kStoppedAlone, id, part.order.fence);
      stop(id, part, options_.alone_grace, now);
    }
  }
  fences_.drop_expired(time_in_contact(now));
  epochs_.drop_expired(time_in_contact(now));
  bodies_.wake(now, effects_, true);
  static_cast<void>(bodies_.news());
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto each = at++;
    Part& part = each->second;
    const bool given_up = part.phase == Phase::kPreparing && now >= part.due;
    // Nothing was started that would have to be seen ending.
    if (given_up || (part.phase == Phase::kStopping && !part.started)) {
      cores_.release(each->first);
      gone(each, part.alone ? DispatchReply::kAlone : DispatchReply::kStopped, now);
      continue;
    }
    step(each->first, part, now);
  }
  if (now >= heartbeat_due_) say_heartbeat(now);
  if (now >= flush_due_) flush_progress(now);
  if (now >= poll_due_) poll_cancellations(now);
}

void Worker::step(const PartId& id, Part& part, base::Instant now) {
  switch (part.phase) {
    case Phase::kPreparing:
      if (bodies_.here(part.order.bundle)) start(id, part, now);
      return;
    case Phase::kRunning:
      if (now < due_of(part)) return;
      part.overdue = true;
      return stop(id, part, options_.stop_grace, now);
    case Phase::kStopping:
      if (now < part.due) return;
      part.due = base::kNever;
      effects_.push_back(StopExecutor{id, part.order.fence, true});
      return;
    case Phase::kFinished:
      if (now >= part.due) send_result(id, part, now);
      return;
  }
}

base::Instant Worker::due_of(const Part& part) const {
  if (part.phase != Phase::kRunning) return part.due;
  // The executor ends by itself at its limit; this is for one that does not.
  const bool limited = part.order.run_limit > base::Duration::zero();
  return limited ? part.began + part.order.run_limit + options_.stop_grace : base::kNever;
}

// Never having had contact, there is nothing to stop.
bool Worker::in_contact(base::Instant now) const {
  return contact_ && now - *contact_ < options_.contact_limit;
}

base::Instant Worker::time_in_contact(base::Instant now) const {
  return (in_contact(now) || !contact_ ? now : *contact_) - away_;
}

void Worker::note(Noted what, const PartId& part, const Fence& fence) {
  effects_.push_back(Note{what, part, fence, self_.node});
}

}  // namespace muster::cluster
