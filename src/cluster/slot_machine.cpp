#include "cluster/slot_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace muster::cluster {
namespace {

// Proposals repeat themselves; this only looks whether one was given up.
constexpr base::Duration kLookAgain = std::chrono::seconds(1);
constexpr std::uint32_t kUnknownAnswers = 3;
constexpr base::Duration kUnknownTime = std::chrono::seconds(3);
constexpr base::Duration kLongestRound = std::chrono::seconds(60);

// A job that names its datacenters runs at those; only one that asked to be rerouted goes elsewhere, after a loss.
bool allowed(const GateLedgerJob& job, std::uint32_t slot, const std::string& datacenter) {
  if (!job.exact || job.datacenters[slot] == datacenter) return true;
  return job.reroute && std::ranges::binary_search(job.abandoned, job.datacenters[slot]);
}

}  // namespace

SlotMachine::SlotMachine(JobId job, std::uint32_t slot, std::uint64_t epoch, base::Instant now)
    : job_(job), slot_(slot), epoch_(epoch), since_(now), next_(now), heard_at_(now), began_(now) {}

base::Instant SlotMachine::step(GateDesk& desk, const GateLedgerJob& job) {
  const GateSlot& slot = job.slots[slot_];
  if (slot.phase != phase_ || slot.offer != offer_) begin(slot, desk.now);
  // What a former owner offered may still be accepted, whatever is answered now.
  if (std::exchange(first_, false)) murky_ = slot.phase == SlotPhase::kOffered;
  switch (slot.phase) {
    case SlotPhase::kOpen:
      return open(desk, job);
    case SlotPhase::kOffered:
      return job.cancel ? withdraw(desk, job) : offered(desk, job);
    case SlotPhase::kAccepted:
      return accepted(desk, job);
    case SlotPhase::kEnded:
      break;
  }
  return base::kNever;
}

void SlotMachine::receive(GateDesk& desk, NodeId from, const SubmitAnswer& message) {
  if (phase_ != SlotPhase::kOffered) return;
  next_ = desk.now;
  attempts_ = 0;
  switch (message.answer) {
    case Answer::kAccepted:
    case Answer::kEnded:  // it has run the job, and may have forgotten it since: never run again
      accepted_ = true;
      manager_epoch_ = std::max(manager_epoch_, message.epoch);
      return;
    case Answer::kQuorumTimeout:
      murky_ = true;
      attempts_ = 1;
      next_ = desk.now + wait(desk.options);
      return;
    case Answer::kInvalid:
    case Answer::kConflict:
      waiting_.erase(from);
      never_ = fmt::format("datacenter '{}' refused it: {}{}{}", datacenter_, to_text(message.answer),
                           message.reason.empty() ? "" : ": ", message.reason);
      return;
    case Answer::kNotOwner:
      redirect_ = desk.datacenters.datacenter_of(message.leader) == datacenter_ ? message.leader : kNoNode;
      [[fallthrough]];
    case Answer::kQuorumUnavailable:
    case Answer::kQuorumCircuitOpen:
    case Answer::kDraining:
    case Answer::kBundleMissing:
      waiting_.erase(from);
      refused_by_manager(desk);
      return;
    case Answer::kCapacityExceeded:
    case Answer::kLimited:
    case Answer::kOverloaded:
    case Answer::kUnknownJob:
    case Answer::kNoDatacenter:
      waiting_.erase(from);
      refused(desk, message.retry_after);
      return;
  }
}

bool SlotMachine::receive(GateDesk& desk, NodeId, const StatusAnswer& message) {
  if (phase_ != SlotPhase::kAccepted) return false;
  if (message.answer == Answer::kNotOwner) {
    redirect_ = desk.datacenters.datacenter_of(message.leader) == datacenter_ ? message.leader : kNoNode;
    next_ = desk.now + wait(desk.options);
    return false;
  }
  const bool ended = message.answer == Answer::kEnded || terminal(message.state);
  if (message.answer == Answer::kUnknownJob) {
    unknown(desk.now);
  } else if (ended && message.workflows.empty()) {
    // How is told to those alone whom the datacenter knows for gates.
    forgotten_ = fmt::format("datacenter '{}' has ended the job{} and forgotten its results", datacenter_,
                             terminal(message.state) ? fmt::format(" ({})", to_text(message.state)) : "");
  } else if (message.answer == Answer::kAccepted || message.answer == Answer::kEnded) {
    attempts_ = 0;
    return heard(message.epoch, desk.now) && ended;
  }
  return false;
}

void SlotMachine::receive(GateDesk& desk, const CancelAnswer& message) {
  switch (message.answer) {
    case Answer::kAccepted:
      heard(manager_epoch_, desk.now);
      next_ = desk.now + desk.options.call_cap;
      if (message.done) {
        cancel_done_ = true;
        stopped_ = message.stopped;
        unconfirmed_ = message.unconfirmed;
      }
      return;
    case Answer::kEnded:
      heard(manager_epoch_, desk.now);
      cancel_done_ = true;
      since_ = desk.now;
      next_ = desk.now;
      return;
    case Answer::kUnknownJob:
      if (phase_ == SlotPhase::kOffered) never_ = "cancelled before a datacenter had accepted it";
      if (phase_ == SlotPhase::kAccepted) unknown(desk.now);
      return;
    case Answer::kLimited:
    case Answer::kOverloaded:
      next_ = desk.now + std::clamp(message.retry_after, desk.options.call_timeout, desk.options.call_cap);
      return;
    default:
      return;
  }
}

bool SlotMachine::heard(std::uint64_t epoch, base::Instant now) {
  if (epoch < manager_epoch_) return false;
  manager_epoch_ = epoch;
  heard_at_ = now;
  news_ = true;
  unheard_ = false;
  unknown_ = 0;
  attempts_ = 0;
  if (phase_ == SlotPhase::kOffered) accepted_ = true;
  return true;
}

void SlotMachine::begin(const GateSlot& slot, base::Instant now) {
  if (slot.phase == SlotPhase::kOpen) {
    began_ = now;
    none_since_ = base::kNever;
    tried_.clear();
  }
  if (slot.offer != offer_) manager_epoch_ = 0;
  news_ = slot.phase == SlotPhase::kAccepted && accepted_;
  offer_ = slot.offer;
  phase_ = slot.phase;
  datacenter_ = slot.datacenter;
  since_ = now;
  next_ = now;
  attempts_ = 0;
  redirect_ = kNoNode;
  waiting_.clear();
  murky_ = false;
  said_no_ = 0;
  refused_ = false;
  accepted_ = false;
  never_.clear();
  heard_at_ = now;
  unheard_ = false;
  unknown_ = 0;
  forgotten_.clear();
  cancel_since_ = base::kNever;
  cancel_done_ = false;
}

std::optional<std::string> SlotMachine::next_datacenter(GateDesk& desk, const GateLedgerJob& job) const {
  for (std::string& name : desk.datacenters.order(job.datacenters)) {
    if (!tried_.contains(name) && allowed(job, slot_, name) && may_offer(job, name)) return std::move(name);
  }
  return std::nullopt;
}

base::Instant SlotMachine::open(GateDesk& desk, const GateLedgerJob& job) {
  SlotFence next = fence();
  ++next.offer;
  if (auto name = next_datacenter(desk, job); name && next.offer <= kMaxOffers) {
    none_since_ = base::kNever;
    if (desk.propose(SlotOffered{next, *name, true})) desk.note(Noted::kOffered, job_, epoch_);
    return desk.now + kLookAgain;
  }
  none_since_ = std::min(none_since_, desk.now);
  const base::Instant patience = none_since_ + desk.options.no_datacenter_patience;
  if (desk.now < patience) return std::min(patience, desk.now + kLookAgain);
  if (!desk.current()) return desk.now + kLookAgain;
  const auto names =
      job.exact ? std::span<const std::string>(&job.datacenters[slot_], 1) : std::span<const std::string>();
  const bool others = !job.exact && !desk.datacenters.order({}).empty();
  desk.propose(SlotFailed{fence(), JobState::kFailed, true,
                          others ? "no datacenter is left to run it at" : desk.datacenters.why_none(names)});
  return desk.now + kLookAgain;
}

base::Instant SlotMachine::offered(GateDesk& desk, const GateLedgerJob& job) {
  if (accepted_) {
    desk.propose(SlotAccepted{fence()});
    return desk.now + kLookAgain;
  }
  const base::Instant last = began_ + desk.options.dispatch_timeout;
  // What would wait for a leader of the log might be decided on when it is right no more.
  if (!desk.current()) return desk.now + kLookAgain;
  if (!never_.empty() || desk.now >= last) {
    const std::string why = never_.empty()
                                ? fmt::format("no datacenter accepted it within {} s",
                                              static_cast<long>(base::seconds(desk.options.dispatch_timeout)))
                                : never_;
    desk.propose(SlotFailed{fence(), JobState::kFailed, certain(), why});
    return desk.now + kLookAgain;
  }
  const base::Instant patience = since_ + desk.options.offer_patience;
  if ((refused_ || desk.now >= patience) && fall_back(desk, job)) return desk.now + kLookAgain;
  if (refused_) {
    if (desk.now < round_until_) return std::min(round_until_, last);
    // A new round, which begins with the one that is asked already.
    tried_.clear();
    refused_ = false;
    said_no_ = 0;
    next_ = desk.now;
  }
  if (desk.now >= next_) {
    if (const NodeId manager = whom(desk, datacenter_); manager != kNoNode) {
      desk.send(manager, Submit{job_, job.client, epoch_, job.bundle, job.outline, {}, 0, false});
      if (!waiting_.insert(manager).second) murky_ = true;
    }
    ++attempts_;
    next_ = desk.now + wait(desk.options);
  }
  return std::min({next_, last, patience > desk.now ? patience : base::kNever});
}

// Cancelled before the datacenter's answer was known.
base::Instant SlotMachine::withdraw(GateDesk& desk, const GateLedgerJob& job) {
  if (accepted_) {
    desk.propose(SlotAccepted{fence()});
    return desk.now + kLookAgain;
  }
  if (cancel_since_ == base::kNever) {
    cancel_since_ = desk.now;
    next_ = desk.now;
    attempts_ = 0;
  }
  const base::Instant last = cancel_since_ + desk.options.lease;
  if ((!never_.empty() || desk.now >= last) && desk.current()) {
    const std::string why = never_.empty() ? "its cancellation was not confirmed" : never_;
    desk.propose(SlotFailed{fence(), JobState::kCancelled, false, why});
    return desk.now + kLookAgain;
  }
  cancel(desk, job);
  return std::min(next_, desk.now < last ? last : desk.now + kLookAgain);
}

base::Instant SlotMachine::accepted(GateDesk& desk, const GateLedgerJob& job) {
  const GateSlot& slot = job.slots[slot_];
  if (!forgotten_.empty() && desk.current()) {
    desk.propose(SlotLost{fence(), slot.heard, SlotLoss::kForgotten, forgotten_});
    return desk.now + kLookAgain;
  }
  // What was heard may not have been renewed for want of a quorum: that is not the datacenter's fault. And what nobody
  // decides on now may be heard of before somebody does.
  if (unheard_ && desk.now - heard_at_ >= desk.options.lease && desk.current()) {
    if (desk.propose(SlotLost{fence(), slot.heard, SlotLoss::kUnheard,
                              fmt::format("datacenter '{}' was not heard of for {} s", datacenter_,
                                          static_cast<long>(base::seconds(desk.options.lease)))})) {
      desk.note(job.reroute ? Noted::kRerouted : Noted::kDatacenterLost, job_, epoch_);
    }
    return desk.now + kLookAgain;
  }
  if (job.cancel && !cancel_done_) {
    cancel(desk, job);
    return next_;
  }
  ask(desk);
  return unheard_ ? std::min(next_, desk.now + kLookAgain) : next_;
}

bool SlotMachine::fall_back(GateDesk& desk, const GateLedgerJob& job) {
  SlotFence next = fence();
  ++next.offer;
  auto name = next_datacenter(desk, job);
  if (!name || next.offer > kMaxOffers) return false;
  if (desk.propose(SlotOffered{next, *name, refused_ && certain()})) desk.note(Noted::kFellBack, job_, epoch_);
  return true;
}

// Whoever takes over makes itself known with it; the datacenter's answer, like anything else it tells, is a sign of
// life.
void SlotMachine::ask(GateDesk& desk) {
  const base::Duration quiet = desk.options.lease / desk.options.renewals_per_lease / 2;
  if (attempts_ == 0 && since_ != desk.now) next_ = std::max(next_, heard_at_ + quiet);
  if (desk.now < next_) return;
  if (const NodeId manager = whom(desk, datacenter_); manager != kNoNode) {
    desk.send(manager, GateAnnounce{job_, epoch_});
    desk.send(manager, StatusAsk{job_});
  }
  ++attempts_;
  next_ = desk.now + wait(desk.options);
}

void SlotMachine::cancel(GateDesk& desk, const GateLedgerJob& job) {
  if (desk.now < next_) return;
  if (const NodeId manager = whom(desk, datacenter_); manager != kNoNode) {
    desk.send(manager, Cancel{job_, job.client, epoch_, job.cancel->requester, job.cancel->reason});
  }
  ++attempts_;
  next_ = desk.now + wait(desk.options);
}

// The one that was named, once; then the datacenter's managers in turn.
NodeId SlotMachine::whom(GateDesk& desk, const std::string& datacenter) {
  if (redirect_ != kNoNode) return std::exchange(redirect_, kNoNode);
  return desk.datacenters.manager_for(datacenter, attempts_ + said_no_);
}

base::Duration SlotMachine::wait(const GateOptions& options) const {
  base::Duration wait = options.call_timeout;
  for (std::uint32_t i = 1; i < attempts_ && wait < options.call_cap; ++i) wait *= 2;
  return std::min(wait, options.call_cap);
}

// A manager that lags may not know what another has just accepted: several must say so over a while.
void SlotMachine::unknown(base::Instant now) {
  if (unknown_++ == 0) unknown_since_ = now;
  if (unknown_ < kUnknownAnswers || now - unknown_since_ < kUnknownTime) return;
  forgotten_ = fmt::format("datacenter '{}' had accepted the job and does not know it any more", datacenter_);
}

void SlotMachine::refused_by_manager(GateDesk& desk) {
  ++said_no_;
  if (said_no_ > desk.datacenters.live_managers(datacenter_).size()) refused(desk, {});
}

void SlotMachine::refused(GateDesk& desk, base::Duration retry_after) {
  refused_ = true;
  tried_.insert(datacenter_);
  round_until_ = desk.now + std::clamp(retry_after, desk.options.offer_round, kLongestRound);
}

}  // namespace muster::cluster
