// How a worker takes parts on and lets them go.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/worker.h"

namespace muster::cluster {
namespace {

// A part that completed and whose result nobody can keep must not pass for one that did all that was asked for.
void refuse_result(ExecutorEnd& end) {
  if (end.outcome == PartOutcome::kCompleted) end.outcome = PartOutcome::kFailed;
  const std::string was = std::exchange(end.reason, {});
  end.reason = fmt::format("Its result of {} bytes is too large: a worker keeps at most {}.{}{}", end.result.size(),
                           kMaxBodyBytes, was.empty() ? "" : " ", was);
  end.result.clear();
}

}  // namespace

void Worker::on(NodeId from, const Dispatch& message, base::Instant now) {
  const DispatchReply reply = judge(from, message, now);
  if (reply == DispatchReply::kStaleFence) note(Noted::kFenceRefused, message.part, message.fence);
  send(from, DispatchAnswer{message.part, message.fence, reply, version_});
}

// What is refused once is refused for good: a late copy of the offer must not find room later, when its sender has
// given the part to another.
DispatchReply Worker::judge(NodeId from, const Dispatch& message, base::Instant now) {
  if (message.worker_life != self_.life) return DispatchReply::kStaleLife;
  if (message.major != kProtocolMajor) return DispatchReply::kOtherMajor;
  switch (epochs_.judge(message.part.job, {message.epoch, 0}, time_in_contact(now))) {
    case resilience::Fenced::kStale:
      return DispatchReply::kStaleFence;
    case resilience::Fenced::kFull:
      return DispatchReply::kTooMany;
    default:
      break;
  }
  Led& job = jobs_[message.part.job];
  if (message.epoch >= job.epoch) {
    job.manager = from;
    job.epoch = message.epoch;
  }
  job.used = now;
  switch (fences_.judge(message.part, message.fence, time_in_contact(now))) {
    case resilience::Fenced::kStale:
      return DispatchReply::kStaleFence;
    case resilience::Fenced::kFull:
      return DispatchReply::kTooMany;
    case resilience::Fenced::kRepeated: {
      const DispatchReply* first = fences_.answered(message.part);
      return first == nullptr ? DispatchReply::kBusy : *first;
    }
    case resilience::Fenced::kNew:
      break;
  }
  job.fenced.insert(message.part);
  const DispatchReply reply = take_on(from, message, now);
  fences_.answer(message.part, message.fence, reply);
  return reply;
}

DispatchReply Worker::take_on(NodeId from, const Dispatch& message, base::Instant now) {
  if (const auto old = parts_.find(message.part); old != parts_.end()) {
    if (old->second.phase != Phase::kFinished) {
      stop(old->first, old->second, options_.stop_grace, now);
      return DispatchReply::kNoCores;
    }
    // The log has given the part a new attempt: nobody wants the result of the old one.
    bodies_.unpin(old->second.result.body, now);
    parts_.erase(old);
  }
  if (state() == WorkerState::kDraining || state() == WorkerState::kOffline) return DispatchReply::kDraining;
  if (!in_contact(now)) return DispatchReply::kAlone;
  // Sent before it was evicted: while it was away the part may have been given to another.
  if (message.admission < admission_) return DispatchReply::kAlone;
  Led& job = jobs_.at(message.part.job);
  if (message.context_version < job.context_version) return DispatchReply::kOldContext;
  if (parts_.size() >= kMaxWorkerParts) return DispatchReply::kNoCores;
  std::vector<std::uint32_t> cores = cores_.allocate(message.part, message.slice.cores);
  if (cores.empty()) return DispatchReply::kNoCores;
  job.context_version = message.context_version;
  Part& part = parts_[message.part];
  part.order = message;
  part.cores = std::move(cores);
  part.began = now;
  part.due = now + options_.bundle_timeout;
  bodies_.pin(message.bundle, from, now, effects_);
  return DispatchReply::kAccepted;
}

void Worker::start(const PartId& id, Part& part, base::Instant now) {
  part.phase = Phase::kRunning;
  part.began = now;
  part.started = true;
  effects_.push_back(StartExecutor{id, part.order.fence, part.order.slice, part.cores, part.order.bundle,
                                   part.order.workflow, part.order.run_limit, part.order.context});
}

void Worker::on(NodeId from, const StopPart& message, base::Instant now) {
  switch (epochs_.judge(message.part.job, {message.epoch, 0}, time_in_contact(now))) {
    case resilience::Fenced::kStale:
      return note(Noted::kFenceRefused, message.part, message.fence);
    case resilience::Fenced::kFull:
      return;
    case resilience::Fenced::kNew:
    case resilience::Fenced::kRepeated:
      break;
  }
  Led& job = jobs_[message.part.job];
  job.used = now;
  PartStopped answer{message.part, message.fence, self_.life, false, false};
  const auto at = parts_.find(message.part);
  const bool known = at != parts_.end() && at->second.order.fence <= message.fence;
  const resilience::Fenced judged = fences_.judge(message.part, message.fence, time_in_contact(now));
  if (judged == resilience::Fenced::kFull) return;  // it could not keep the promise that the answer is
  if (judged == resilience::Fenced::kNew) {
    job.fenced.insert(message.part);
    fences_.answer(message.part, message.fence, DispatchReply::kStopped);
  }
  if (!known) {
    const DispatchReply* first = fences_.answered(message.part);
    answer.alone = judged == resilience::Fenced::kRepeated && first != nullptr && *first == DispatchReply::kAlone;
    return send(from, answer);
  }
  Part& part = at->second;
  if (part.phase == Phase::kFinished && part.order.fence == message.fence) {
    answer.finished = true;
    return send(from, answer);
  }
  part.stop_askers.insert(from);
  if (part.phase != Phase::kFinished) return stop(at->first, part, options_.stop_grace, now);
  gone(at, DispatchReply::kStopped, now);
}

void Worker::stop(const PartId& id, Part& part, base::Duration grace, base::Instant now) {
  if (part.phase == Phase::kFinished) return;
  const base::Instant killed = now + grace;
  if (part.phase == Phase::kStopping) {
    if (part.due != base::kNever) part.due = std::min(part.due, killed);
    return;
  }
  if (part.started) effects_.push_back(StopExecutor{id, part.order.fence, false});
  part.phase = Phase::kStopping;
  part.due = killed;
}

// Without a result: whoever asked is told, or else the leader, so that it need not find out by itself.
void Worker::gone(Parts::iterator at, DispatchReply reply, base::Instant now) {
  const PartId id = at->first;
  Part& part = at->second;
  const Fence fence = part.order.fence;
  if (part.phase != Phase::kFinished) bodies_.unpin(part.order.bundle, now);
  fences_.answer(id, fence, reply);
  const auto job = jobs_.find(id.job);
  if (part.stop_askers.empty() && job != jobs_.end()) part.stop_askers.insert(job->second.manager);
  for (const NodeId asker : part.stop_askers) {
    send(asker, PartStopped{id, fence, self_.life, false, part.alone});
  }
  if (job != jobs_.end()) job->second.used = now;
  if (part.result.body.size > 0) bodies_.unpin(part.result.body, now);
  parts_.erase(at);
}

void Worker::finish(Parts::iterator at, ExecutorEnd end, base::Instant now) {
  Part& part = at->second;
  part.phase = Phase::kFinished;
  part.wait = options_.result_repeat;
  part.due = now;
  bodies_.unpin(part.order.bundle, now);
  PartResult& result = part.result;
  result.worker = self_.node;
  result.life = self_.life;
  result.part = at->first;
  result.fence = part.order.fence;
  if (end.result.size() > kMaxBodyBytes) refuse_result(end);
  result.outcome = *end.outcome;
  result.counts = end.counts;
  result.reason = end.reason.substr(0, kMaxReason);
  if (!end.result.empty()) {
    result.body = {hash_(end.result), end.result.size()};
    bodies_.pin(result.body, std::move(end.result), now, effects_);
  }
  fences_.answer(at->first, part.order.fence, DispatchReply::kFinished);
  for (const NodeId asker : std::exchange(part.stop_askers, {})) {
    send(asker, PartStopped{at->first, part.order.fence, self_.life, true, false});
  }
}

}  // namespace muster::cluster
