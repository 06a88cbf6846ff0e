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
  // Others get all of their time, also when this node was late to ask.
  probe_at_ = std::max(probe_at_, now + health_.stretched(options_.probe_interval - options_.probe_timeout, now));
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
  apply_suspect(claim, {.sender = self_.id, .from = self_.address}, now);
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

void Swim::on(const Ping& ping, const Origin& origin, base::Instant now) {
  if (ping.target != self_.id) return;
  send(origin.from, origin.sender, origin.channel, Ack{ping.sequence, self_.id, own_claim().state}, now);
}

void Swim::on(const Ack& ack, const Origin& origin, base::Instant now) {
  if (probe_ && ack.sequence == probe_->sequence && ack.node == probe_->target) {
    ++counters_.probes_acked;
    if (origin.channel == SwimChannel::kStream) {
      ++counters_.stream_rescues;
    } else if (origin.sender != ack.node) {
      ++counters_.indirect_rescues;
    }
    health_.lower();
    probe_.reset();
    if (const std::optional<Slot> slot = table_.find(ack.node)) apply_state(*slot, ack.state, now);
    return;
  }
  const std::optional<Relay> relay = relays_.answer(ack.sequence, ack.node);
  if (!relay) return;
  ++counters_.relayed_acks;
  send(relay->asked_by, relay->asker, SwimChannel::kDatagram, Ack{relay->asked_as, ack.node, ack.state}, now);
}

void Swim::on(const PingRequest& request, const Origin& origin, base::Instant now) {
  if (request.target == self_.id) {
    send(origin.from, origin.sender, SwimChannel::kDatagram, Ack{request.sequence, self_.id, own_claim().state}, now);
    return;
  }
  // The nack must reach the asker before its interval ends, which leaves it what the direct answer did not take.
  const base::Duration rest = options_.probe_interval - options_.probe_timeout;
  const base::Duration wait = rest > base::Duration{} ? std::min(options_.probe_timeout, rest) : options_.probe_timeout;
  const std::uint64_t sequence = next_sequence_++;
  const bool room = relays_.add({.sequence = sequence,
                                 .asked_as = request.sequence,
                                 .asked_by = origin.from,
                                 .asker = origin.sender,
                                 .target = request.target,
                                 .nack_at = now + wait * 4 / 5});
  if (!room) ++counters_.dropped_requests;
  const Member* known = table_.get(request.target);
  const Endpoint& where = known != nullptr ? known->address : request.address;
  send(where, request.target, SwimChannel::kDatagram, Ping{sequence, request.target}, now);
}

void Swim::on(const Nack& nack, const Origin& origin, base::Instant /*now*/) {
  if (!probe_ || nack.sequence != probe_->sequence) return;
  if (std::erase(probe_->silent, origin.sender) > 0) ++counters_.nacks_received;
}

void Swim::tend_relays(base::Instant now) {
  // An answer after the nack is still passed on: the asker may be waiting longer than this node would.
  for (const Relay& relay : relays_.due(now, options_.probe_interval)) {
    ++counters_.nacks_sent;
    send(relay.asked_by, relay.asker, SwimChannel::kDatagram, Nack{relay.asked_as}, now);
  }
}

}  // namespace muster::cores
