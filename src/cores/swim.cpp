#include "cores/swim.h"

#include <algorithm>

#include "cores/swim_codec.h"

namespace muster::cores {
namespace {

base::Duration share_of(base::Duration whole, double share) {
  return base::from_seconds(base::seconds(whole) * share);
}

}  // namespace

Swim::Swim(SwimSelf self, const SwimOptions& options, std::uint64_t seed, base::Instant now,
           std::shared_ptr<const Roster> known)
    : self_(std::move(self)),
      options_(options),
      random_(seed),
      health_(options),
      table_(std::move(known)),
      gossip_(options.max_queued_updates),
      next_sequence_(random_.next() >> 16),
      last_call_(now) {
  self_.incarnation = std::clamp<std::uint64_t>(self_.incarnation, 1, kMaxIncarnation);
  if (self_.state.size() > kMaxMemberState) self_.state.clear();
  own_state_ = std::make_shared<const MemberState>(MemberState{self_.incarnation, 0, self_.state});
  if (const std::optional<Slot> own = table_.find(self_.id)) table_.remove(*own);
  joined_ = table_.size() > 0;
  if (table_.count(MemberStatus::kAlive) < table_.size()) adopt_statuses(now);
  // Nodes that start together do not stay in step.
  probe_at_ = now + share_of(options_.probe_interval, random_.unit());
  exchange_at_ = now + share_of(push_pull_period(options_.push_pull_interval, group_size()), random_.unit());
}

void Swim::join(std::span<const Endpoint> seeds, base::Instant now) {
  const std::vector<Endpoint> before = std::exchange(seeds_, {});
  for (const Endpoint& seed : seeds) {
    const bool known = std::find(seeds_.begin(), seeds_.end(), seed) != seeds_.end();
    if (seed != self_.address && !known && seeds_.size() < kMaxSeeds) seeds_.push_back(seed);
  }
  if (joined_ || leaving_) return;
  joined_ = seeds_.empty();
  if (joined_) {
    join_at_ = base::kNever;
  } else if (join_at_ == base::kNever || seeds_ != before) {
    // New addresses are tried at once; those that were tried before keep their turn.
    join_wait_ = {};
    join_at_ = now;
  }
}

void Swim::leave(base::Instant now) {
  if (leaving_) return;
  leaving_ = true;
  probe_.reset();
  join_at_ = base::kNever;
  Claim claim;
  claim.status = MemberStatus::kLeft;
  claim.node = self_.id;
  claim.incarnation = self_.incarnation;
  spread(GossipClass::kLeave, claim, now);
  // Twice the time that the gossip takes undisturbed; without anybody to tell there is nothing to wait for.
  leave_by_ = group_size() > 1 ? now + 2 * options_.gossip_interval * (transmit_limit() + 1) : now;
}

void Swim::receive(base::NodeId sender, const Endpoint& from, SwimChannel channel, std::string_view bytes,
                   base::Instant now) {
  notice_stall(now);
  const base::Expected<SwimPacket> packet = decode_swim(bytes);
  const bool misplaced =
      packet && channel == SwimChannel::kDatagram && std::holds_alternative<Exchange>(packet->message.body);
  if (!packet || misplaced || sender == base::kNoNode) {
    ++counters_.malformed;
    return;
  }
  if (packet->group != options_.group) {
    ++counters_.other_group;
    return;
  }
  if (sender == self_.id) return;
  // Claims first: an accusation that a ping carries is refuted in its ack.
  const Origin origin{.sender = sender, .from = from, .channel = channel};
  for (const Claim& claim : packet->message.claims) apply(claim, origin, now);
  std::visit([&](const auto& body) { on(body, origin, now); }, packet->message.body);
}

void Swim::wake(base::Instant now) {
  notice_stall(now);
  if (now >= answer_exchanges_at_) answer_exchanges(now);
  if (probe_ && now >= probe_->ask_others_at) ask_others(now);
  if (now >= probe_at_) probe_next(now);
  tend_relays(now);
  end_suspicions(now);
  if (now >= join_at_) ask_seeds(now);
  if (now >= exchange_at_) exchange_next(now);
  reap(now);
  if (now >= gossip_at_) gossip_next(now);
  if (leaving_ && !left_told_ && (now >= leave_by_ || !gossip_.waits(self_.id))) {
    left_told_ = true;
    tell({.kind = SwimEventKind::kLeft, .node = self_.id, .incarnation = self_.incarnation}, now);
  }
}

void Swim::lag(double ratio, base::Instant now) {
  const std::uint32_t before = health_.score();
  health_.lag(ratio, now);
  counters_.score_raised += health_.score() - before;
}

void Swim::set_state(std::string bytes, bool announce, base::Instant now) {
  if (bytes.size() > kMaxMemberState) return;
  MemberState next{own_state_->incarnation, own_state_->version + 1, std::move(bytes)};
  if (announce && !leaving_ && self_.incarnation < kMaxIncarnation) {
    next.incarnation = ++self_.incarnation;
    next.version = 0;
  }
  own_state_ = std::make_shared<const MemberState>(std::move(next));
  if (announce && !leaving_) spread(GossipClass::kAlive, own_claim(), now);
}

base::Instant Swim::deadline() const {
  base::Instant due =
      std::min({probe_at_, gossip_at_, join_at_, exchange_at_, answer_exchanges_at_, relays_.next_due()});
  if (probe_) due = std::min(due, probe_->ask_others_at);
  if (!suspicion_ends_.empty()) due = std::min(due, suspicion_ends_.begin()->first);
  if (!gone_order_.empty()) due = std::min(due, gone_order_.begin()->first + options_.reap_after);
  if (leaving_ && !left_told_) due = std::min(due, leave_by_);
  return due;
}

SwimEffects Swim::take() {
  return std::exchange(effects_, {});
}

std::size_t Swim::group_size() const {
  return table_.count(MemberStatus::kAlive) + table_.count(MemberStatus::kSuspect) + 1;
}

std::uint32_t Swim::transmit_limit() const {
  return retransmit_limit(options_.retransmit_multiplier, group_size());
}

void Swim::adopt_statuses(base::Instant now) {
  for (Slot slot = 0; slot < table_.slots(); ++slot) {
    const Member& member = table_.at(slot);
    if (member.id == base::kNoNode || member.status == MemberStatus::kAlive) continue;
    if (member.status == MemberStatus::kSuspect) {
      begin_suspicion(member.id, self_.id, now);
    } else {
      note_gone(member.id, now);
    }
  }
}

// The time since the core was due and nobody called it, if that is long enough to have made it wrong others.
void Swim::notice_stall(base::Instant now) {
  const base::Instant due = std::max(deadline(), last_call_);
  last_call_ = std::max(now, last_call_);
  if (!options_.lifeguard.stall_guard || now <= due || now - due < options_.probe_timeout) return;
  const base::Duration stalled = now - due;
  ++counters_.stalls;
  raise_score(stalled >= options_.probe_interval ? 2 : 1);
  if (probe_) {
    probe_at_ += stalled;
    if (probe_->ask_others_at != base::kNever) probe_->ask_others_at += stalled;
  }
  suspicion_ends_.clear();
  for (auto& [node, suspicion] : suspicions_) {
    suspicion.postpone(stalled);
    suspicion_ends_.emplace(suspicion.end(), node);
  }
}

void Swim::tell(SwimEvent event, base::Instant now) {
  effects_.events.push_back(event);
  if (event.kind == SwimEventKind::kStateChanged || options_.audit_entries == 0) return;
  if (audit_.size() >= options_.audit_entries) audit_.pop_front();
  audit_.push_back({now, event});
}

void Swim::raise_score(std::uint32_t points) {
  const std::uint32_t before = health_.score();
  health_.raise(points);
  counters_.score_raised += health_.score() - before;
}

}  // namespace muster::cores
