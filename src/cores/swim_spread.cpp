// How packets leave and claims spread: gossip rides on every packet, and has packets of its own while there is any.
#include <algorithm>
#include <bit>

#include "cores/swim.h"
#include "cores/swim_codec.h"

namespace muster::cores {

void Swim::on(const Rumours& /*rumours*/, const Origin& /*origin*/, base::Instant /*now*/) {}

void Swim::pass_on(GossipClass importance, const Claim& claim, const Origin& origin, base::Instant now) {
  // What a node that knew nobody is told, the others know; and of mass joins each exchange passes on a few.
  if (origin.by_exchange && (newcomer_ || ++exchange_rumours_ > kMaxRumoursPerExchange)) return;
  spread(importance, claim, now);
}

void Swim::spread(GossipClass importance, const Claim& claim, base::Instant now) {
  const bool accusation = claim.status == MemberStatus::kSuspect || claim.status == MemberStatus::kDead;
  if (accusation && claim.incarnation >= kMaxIncarnation) return;
  std::string encoded;
  append_rumour(encoded, claim);
  if (!gossip_.add(claim.node, importance, std::move(encoded))) {
    // Told at 1, 2, 4, 8 …: a flood of events would not help against a flood of updates.
    if (std::has_single_bit(++counters_.overflowed)) {
      tell({.kind = SwimEventKind::kOverflow, .node = self_.id, .count = counters_.overflowed}, now);
    }
    hasten_exchange(now);
  }
  if (gossip_at_ == base::kNever) gossip_at_ = std::max(now, last_gossip_ + options_.gossip_interval);
}

void Swim::gossip_next(base::Instant now) {
  gossip_at_ = base::kNever;
  if (gossip_.empty()) return;
  const std::vector<Slot> chosen = choose(options_.gossip_fanout, base::kNoNode, Choice::kAliveOrRecentlyDead, now);
  for (const Slot slot : chosen) {
    if (gossip_.empty()) break;
    const Member& member = table_.at(slot);
    ++counters_.gossip_datagrams;
    send(member.address, member.id, SwimChannel::kDatagram, Rumours{}, now);
  }
  // With nobody to tell, the next that joins wakes the gossip again.
  if (gossip_.empty() || chosen.empty()) return;
  last_gossip_ = now;
  gossip_at_ =
      now + base::from_seconds(base::seconds(options_.gossip_interval) * LocalHealth::factor(health_.level(now)));
}

void Swim::send(const Endpoint& to, base::NodeId node, SwimChannel channel, const SwimBody& body, base::Instant now) {
  std::string bytes = encode_swim_body(options_.group, body);
  if (options_.lifeguard.buddy) {
    const Member* member = table_.get(node);
    const bool accused = member != nullptr && member->incarnation < kMaxIncarnation &&
                         (member->status == MemberStatus::kSuspect || member->status == MemberStatus::kDead);
    if (accused) {
      ++counters_.buddies;
      Claim claim;
      claim.status = member->status;
      claim.node = node;
      claim.incarnation = member->incarnation;
      claim.by = self_.id;
      append_rumour(bytes, claim);
    }
  }
  const double room = static_cast<double>(kMaxSwimPayload - bytes.size()) * LocalHealth::piggyback(health_.level(now));
  gossip_.fill(bytes, static_cast<std::size_t>(room), transmit_limit());
  transmit(to, channel, std::move(bytes));
}

void Swim::transmit(const Endpoint& to, SwimChannel channel, std::string bytes) {
  ++(channel == SwimChannel::kDatagram ? counters_.datagrams : counters_.frames);
  (channel == SwimChannel::kDatagram ? counters_.datagram_bytes : counters_.frame_bytes) += bytes.size();
  effects_.sends.push_back({to, channel, std::move(bytes)});
}

bool Swim::eligible(const Member& member, Choice choice, base::Instant now) const {
  if (member.id == base::kNoNode) return false;
  switch (choice) {
    case Choice::kAlive:
      return member.status == MemberStatus::kAlive;
    case Choice::kAliveOrRecentlyDead:
      if (member.status == MemberStatus::kAlive || member.status == MemberStatus::kSuspect) return true;
      return gone_since_.find(member.id)->second + options_.gossip_to_dead > now;
    case Choice::kDead:
      return member.status == MemberStatus::kDead;
  }
  return false;
}

std::vector<MemberTable::Slot> Swim::choose(std::size_t count, base::NodeId except, Choice choice, base::Instant now) {
  std::vector<Slot> chosen;
  const Slot slots = table_.slots();
  if (slots == 0) return chosen;
  chosen.reserve(std::min<std::size_t>(count, slots));
  const auto consider = [&](Slot slot) {
    const Member& member = table_.at(slot);
    if (member.id == except || !eligible(member, choice, now)) return;
    if (std::find(chosen.begin(), chosen.end(), slot) == chosen.end()) chosen.push_back(slot);
  };
  for (std::size_t tries = 4 * count; tries > 0 && chosen.size() < count; --tries) {
    consider(static_cast<Slot>(random_.below(slots)));
  }
  // Few are eligible: from a random place on, each is looked at once.
  const auto first = static_cast<Slot>(random_.below(slots));
  for (Slot step = 0; step < slots && chosen.size() < count; ++step) consider((first + step) % slots);
  return chosen;
}

Claim Swim::own_claim() const {
  Claim claim;
  claim.status = leaving_ ? MemberStatus::kLeft : MemberStatus::kAlive;
  claim.node = self_.id;
  claim.incarnation = self_.incarnation;
  claim.address = self_.address;
  claim.state = {own_state_->incarnation, own_state_->version, own_state_->bytes};
  return claim;
}

}  // namespace muster::cores
