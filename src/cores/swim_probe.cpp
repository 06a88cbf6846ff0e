// Probing: one member per interval, in shuffled rounds; if it stays silent, others are asked, and a stream is tried.
#include <algorithm>

#include "cores/swim.h"

namespace muster::cores {

void Swim::probe_next(base::Instant now) {
  if (probe_) conclude_failed(now);
  probe_at_ = now + health_.stretched(options_.probe_interval, now);
  if (leaving_) return;
  // Out of turn at most every other time: many suspicions at once must not end the rounds.
  if (const Member* suspect = rechecked_ ? nullptr : next_recheck()) {
    rechecked_ = true;
    ++counters_.rechecks;
    start_probe(*suspect, now);
    return;
  }
  rechecked_ = false;
  const Member* target = next_target();
  if (target == nullptr) return;
  const double skipped = LocalHealth::skipped(health_.level(now));
  if (skipped > 0 && target->status != MemberStatus::kSuspect && random_.unit() < skipped) {
    ++counters_.probes_skipped;
    // Without probes there is no success to recover by: at the worst level an interval of rest counts as one.
    if (skipped >= 1) health_.lower();
    return;
  }
  start_probe(*target, now);
}

void Swim::start_probe(const Member& target, base::Instant now) {
  ++counters_.probes;
  probe_ = Probe{.target = target.id,
                 .sequence = next_sequence_++,
                 .incarnation = target.incarnation,
                 .ask_others_at = now + health_.stretched(options_.probe_timeout, now),
                 .silent = {}};
  send(target.address, target.id, SwimChannel::kDatagram, Ping{probe_->sequence, target.id}, now);
}

void Swim::ask_others(base::Instant now) {
  probe_->ask_others_at = base::kNever;
  const Member* target = table_.get(probe_->target);
  if (target == nullptr) return;
  const PingRequest request{probe_->sequence, target->id, target->address};
  for (const Slot slot : choose(options_.indirect_probes, probe_->target, Choice::kAlive, now)) {
    const Member& other = table_.at(slot);
    ++counters_.indirect_requests;
    ++probe_->asked;
    probe_->silent.push_back(other.id);
    send(other.address, other.id, SwimChannel::kDatagram, request, now);
  }
  if (options_.stream_probe) {
    send(target->address, target->id, SwimChannel::kStream, Ping{probe_->sequence, target->id}, now);
  }
}

void Swim::conclude_failed(base::Instant now) {
  const Probe probe = std::move(*probe_);
  probe_.reset();
  ++counters_.probes_failed;
  // Others that got no answer either say so. Silence of all may well be this node's own (Lifeguard section IV-A).
  const auto missing = static_cast<std::uint32_t>(probe.silent.size());
  counters_.nacks_missing += missing;
  raise_score(probe.asked > 0 ? missing : 1);
  const std::optional<Slot> slot = table_.find(probe.target);
  if (!slot || leaving_) return;
  const Member& target = table_.at(*slot);
  if (target.incarnation > probe.incarnation) return;
  Claim claim;
  claim.status = MemberStatus::kSuspect;
  claim.node = probe.target;
  claim.incarnation = target.incarnation;
  claim.by = self_.id;
  apply_suspect(claim, {.sender = self_.id}, now);
}

const Member* Swim::next_target() {
  for (Slot tries = 2 * table_.slots(); tries > 0; --tries) {
    const Member& member = table_.at(order_.next(table_.slots(), random_));
    const bool there = member.status == MemberStatus::kAlive || member.status == MemberStatus::kSuspect;
    if (member.id != base::kNoNode && there) return &member;
  }
  return nullptr;
}

const Member* Swim::next_recheck() {
  while (!rechecks_.empty()) {
    const Member* member = table_.get(rechecks_.front());
    rechecks_.pop_front();
    if (member != nullptr && member->status == MemberStatus::kSuspect) return member;
  }
  return nullptr;
}

void Swim::on(const Ping& ping, base::NodeId sender, const Endpoint& from, SwimChannel channel, base::Instant now) {
  if (ping.target != self_.id) return;
  send(from, sender, channel, Ack{ping.sequence, self_.id, own_claim().state}, now);
}

void Swim::on(const Ack& ack, base::NodeId sender, const Endpoint& /*from*/, SwimChannel channel, base::Instant now) {
  if (probe_ && ack.sequence == probe_->sequence && ack.node == probe_->target) {
    ++counters_.probes_acked;
    if (channel == SwimChannel::kStream) {
      ++counters_.stream_rescues;
    } else if (sender != ack.node) {
      ++counters_.indirect_rescues;
    }
    health_.lower();
    probe_.reset();
    if (const std::optional<Slot> slot = table_.find(ack.node)) apply_state(*slot, ack.state, now);
    return;
  }
  const auto relay = std::lower_bound(relays_.begin(), relays_.end(), ack.sequence,
                                      [](const Relay& one, std::uint64_t wanted) { return one.sequence < wanted; });
  if (relay == relays_.end() || relay->sequence != ack.sequence || relay->target != ack.node || relay->answered) return;
  relay->answered = true;
  ++counters_.relayed_acks;
  const Relay answered = *relay;
  send(answered.asked_by, answered.asker, SwimChannel::kDatagram, Ack{answered.asked_as, ack.node, ack.state}, now);
}

void Swim::on(const PingRequest& request, base::NodeId sender, const Endpoint& from, SwimChannel /*channel*/,
              base::Instant now) {
  if (request.target == self_.id) {
    send(from, sender, SwimChannel::kDatagram, Ack{request.sequence, self_.id, own_claim().state}, now);
    return;
  }
  if (relays_.size() >= kMaxRelays) {
    relays_.pop_front();
    nacked_ -= std::min<std::size_t>(nacked_, 1);
    ++counters_.dropped_requests;
  }
  // The nack must reach the asker before its interval ends, which leaves it what the direct answer did not take.
  const base::Duration rest = options_.probe_interval - options_.probe_timeout;
  const base::Duration wait = rest > base::Duration{} ? std::min(options_.probe_timeout, rest) : options_.probe_timeout;
  relays_.push_back({.sequence = next_sequence_++,
                     .asked_as = request.sequence,
                     .asked_by = from,
                     .asker = sender,
                     .target = request.target,
                     .nack_at = now + wait * 4 / 5});
  const Member* known = table_.get(request.target);
  const Endpoint& where = known != nullptr ? known->address : request.address;
  send(where, request.target, SwimChannel::kDatagram, Ping{relays_.back().sequence, request.target}, now);
}

void Swim::on(const Nack& nack, base::NodeId sender, const Endpoint& /*from*/, SwimChannel /*channel*/,
              base::Instant /*now*/) {
  if (!probe_ || nack.sequence != probe_->sequence) return;
  if (std::erase(probe_->silent, sender) > 0) ++counters_.nacks_received;
}

void Swim::tend_relays(base::Instant now) {
  for (; nacked_ < relays_.size() && relays_[nacked_].nack_at <= now; ++nacked_) {
    const Relay relay = relays_[nacked_];
    if (relay.answered) continue;
    ++counters_.nacks_sent;
    send(relay.asked_by, relay.asker, SwimChannel::kDatagram, Nack{relay.asked_as}, now);
  }
  // An answer after the nack is still passed on: the asker may be waiting longer than this node would.
  while (nacked_ > 0 && relays_.front().nack_at + options_.probe_interval <= now) {
    relays_.pop_front();
    --nacked_;
  }
}

}  // namespace muster::cores
