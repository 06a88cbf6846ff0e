#include "cluster/part_watch.h"

#include <algorithm>

#include "resilience/retry.h"

namespace muster::cluster {
namespace {

// So many times the grace for a result is waited for at most.
constexpr int kMaxGraces = 10;

}  // namespace

base::Instant PartWatch::step(Desk& desk, const PartId& id, const LedgerPart& part, const Orders& orders) {
  if (fence_ != part.fence) begin(part.fence);
  if (state_ == State::kLost) {
    propose_loss(desk, id, orders.epoch, loss_);
    return desk.now + desk.options.quorum_timeout;
  }
  base::Instant over_at = desk.workers.over_at(desk.ledger, part.worker);
  if (desk.now >= over_at) {
    propose_loss(desk, id, orders.epoch, Loss::kWorkerDied);
    return desk.now + desk.options.quorum_timeout;
  }
  // It runs no more, and what it left cannot be had: its worker's disk may have refused it, or lost it. Nobody may wait
  // for that for ever.
  if (finished_at_ != base::kNever) {
    // Where many results come at once, each waits for its turn as long as any gets on.
    const base::Duration grace = desk.options.result_grace;
    const base::Instant since = std::max(finished_at_, desk.current_since);
    const base::Instant patience =
        std::min(std::max(since, desk.bodies.gained_at()) + grace, since + kMaxGraces * grace);
    if (desk.now >= patience) {
      if (state_ != State::kStopping) loss_ = Loss::kNotRunning;
      state_ = State::kLost;
      propose_loss(desk, id, orders.epoch, loss_);
      return desk.now + desk.options.quorum_timeout;
    }
    over_at = std::min(over_at, patience);
  }
  if (orders.cancel && state_ != State::kStopping) stop(desk, StopReason::kCancelled, Loss::kCancelled);
  // An evicted worker gets no offers; its time runs out.
  const bool admitted = desk.ledger.admitted(part.worker);
  if (state_ == State::kToOffer && (!admitted || orders.offer == nullptr)) return over_at;
  if (state_ == State::kRunning) {
    const base::Instant due = watch_running(desk, id, orders);
    if (state_ == State::kRunning) return std::min(due, over_at);
  }
  return std::min(keep_sending(desk, id, part, orders), over_at);
}

void PartWatch::answered(Desk& desk, const LedgerPart& part, const DispatchAnswer& answer) {
  if (answer.fence != fence_ || answer.fence != part.fence) return;
  if (state_ != State::kOffered && state_ != State::kToOffer) return;
  if (cluster::accepted(answer.reply)) {
    state_ = State::kRunning;
    version_ = answer.version;
    began_ = desk.now;
    beat_at_ = desk.now;
    return;
  }
  // Somebody with a newer epoch leads the job, and may run the part: nothing to conclude from it. Another life of the
  // worker answered: it will be admitted, and then the part is known to be dead; until then the ledger would only give
  // it to the same dead life again.
  if (answer.reply == DispatchReply::kStaleFence || answer.reply == DispatchReply::kStaleLife) {
    return desk.note(Noted::kFenceRefused, answer.part, answer.fence, part.worker.node);
  }
  desk.note(Noted::kRefused, answer.part, answer.fence, part.worker.node);
  switch (answer.reply) {
    case DispatchReply::kAlone:
      loss_ = Loss::kAlone;
      // Not to be asked again at once.
      desk.workers.declined(part.worker.node, desk.now);
      break;
    case DispatchReply::kDraining:
      loss_ = Loss::kDraining;
      desk.workers.drains(part.worker, desk.now);
      break;
    case DispatchReply::kStopped:
      loss_ = Loss::kNotRunning;
      break;
    case DispatchReply::kTooMany:
      // It could not promise to refuse a late copy of the offer: it must confirm that it does not run it.
      return stop(desk, StopReason::kRevoked, Loss::kRefused);
    default:
      loss_ = Loss::kRefused;
      break;
  }
  state_ = State::kLost;
}

void PartWatch::stopped(Desk& desk, const LedgerPart& part, const PartStopped& message) {
  if (message.fence != fence_ || message.fence != part.fence || message.life != part.worker.life) return;
  if (state_ == State::kLost) return;
  if (message.finished) {
    mark_finished(desk);
    due_ = desk.now + desk.options.stop_repeat_cap;
    return;
  }
  if (message.alone) {
    loss_ = Loss::kAlone;
    desk.note(Noted::kStoppedAlone, message.part, message.fence, part.worker.node);
  } else if (state_ != State::kStopping) {
    loss_ = Loss::kNotRunning;
  }
  state_ = State::kLost;
}

void PartWatch::seen(Desk& desk, const Fence& fence, std::uint64_t beat, base::Duration elapsed, bool finished) {
  if (fence != fence_ || state_ == State::kLost) return;
  if (finished) mark_finished(desk);
  // A report is as good as the answer that was lost on the way.
  if (state_ == State::kOffered || state_ == State::kToOffer) {
    state_ = State::kRunning;
    version_ = 0;
    began_ = desk.now;
    beat_at_ = desk.now;
  }
  if (elapsed > base::Duration::zero()) began_ = std::min(began_, desk.now - elapsed);
  if (beat <= beat_) return;
  beat_ = beat;
  beat_at_ = desk.now;
  extensions_.reset();
}

void PartWatch::missing(Desk& desk, const Fence& fence) {
  if (fence == fence_ && state_ == State::kRunning && finished_at_ == base::kNever)
    stop(desk, StopReason::kRevoked, Loss::kNotRunning);
}

ExtensionAnswer PartWatch::extend(Desk& desk, const LedgerPart& part, const ExtensionAsk& ask) {
  ExtensionAnswer answer{.part = ask.part, .fence = ask.fence, .reason = {}};
  if (ask.fence != fence_ || state_ != State::kRunning) {
    answer.reason = "this attempt is not watched here";
    return answer;
  }
  const resilience::ExtensionRequest request{static_cast<resilience::ExtensionReason>(ask.reason), ask.progress,
                                             ask.estimated_end, ask.active};
  const auto judged = extensions_.ask(request, silent_at(desk), desk.workers.suspect(part.worker.node), desk.now);
  answer.granted = judged.granted();
  answer.extended = judged.extension;
  answer.deadline = judged.deadline - desk.now;
  answer.left = judged.left;
  answer.warning = judged.warning;
  answer.grace = judged.grace_left;
  if (!answer.granted) answer.reason = "no progress, no extensions left, or under suspicion";
  if (answer.granted) desk.note(Noted::kExtended, ask.part, ask.fence, part.worker.node);
  return answer;
}

base::Instant PartWatch::silent_at(const Desk& desk) const {
  return std::max(beat_at_, desk.current_since) + desk.options.part_silence;
}

void PartWatch::begin(const Fence& fence) {
  *this = PartWatch();
  fence_ = fence;
}

void PartWatch::stop(Desk& desk, StopReason reason, Loss loss) {
  state_ = State::kStopping;
  stop_reason_ = reason;
  loss_ = loss;
  sent_ = 0;
  due_ = desk.now;
}

base::Instant PartWatch::watch_running(Desk& desk, const PartId& id, const Orders& orders) {
  base::Instant due = base::kNever;
  if (orders.run_limit > base::Duration::zero()) {
    due = std::max(began_ + orders.run_limit, desk.current_since) + desk.options.result_grace;
    if (desk.now >= due) {
      desk.note(Noted::kPartOverdue, id, fence_);
      stop(desk, StopReason::kOverdue, Loss::kOverdue);
      return desk.now;
    }
  }
  if (finished_at_ != base::kNever) return due;
  const base::Instant silent = extensions_.evict_at(silent_at(desk));
  if (desk.now >= silent) {
    desk.note(Noted::kPartStuck, id, fence_);
    stop(desk, StopReason::kStuck, Loss::kStuck);
    return desk.now;
  }
  return std::min(due, silent);
}

// Offers are given up after some tries, for then the part must go elsewhere; stops never, for until one is confirmed
// the part may run.
base::Instant PartWatch::keep_sending(Desk& desk, const PartId& id, const LedgerPart& part, const Orders& orders) {
  const bool offering = state_ != State::kStopping;
  if (state_ != State::kToOffer && desk.now < due_) return due_;
  if (offering && orders.offer == nullptr) return base::kNever;
  if (sent_ > 0) desk.workers.unanswered(part.worker.node, desk.now);
  if (offering && sent_ >= desk.options.call_attempts) {
    stop(desk, StopReason::kRevoked, Loss::kRefused);
    return keep_sending(desk, id, part, orders);
  }
  if (offering) {
    // Repetitions belong to the call that was let through.
    if (sent_ == 0 && !desk.workers.may_call(part.worker.node, desk.now)) return desk.now + desk.options.call_timeout;
    state_ = State::kOffered;
    if (sent_ == 0) desk.note(Noted::kDispatched, id, fence_, part.worker.node);
    desk.send(part.worker.node, *orders.offer);
  } else {
    desk.send(part.worker.node, StopPart{id, fence_, orders.epoch, stop_reason_});
  }
  const base::Duration wait = desk.options.call_timeout * (1u << std::min(sent_, 10u));
  ++sent_;
  due_ = desk.now + resilience::spread(std::min(wait, desk.options.stop_repeat_cap), desk.options.jitter, desk.random);
  return due_;
}

void PartWatch::propose_loss(Desk& desk, const PartId& id, std::uint64_t epoch, Loss loss) {
  const PartLost command{id, fence_, epoch, loss};
  if (desk.proposals.under_way(subject_of(command))) return;
  desk.note(Noted::kLost, id, fence_);
  desk.propose(command);
}

}  // namespace muster::cluster
