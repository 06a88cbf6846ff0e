// Exchanges of full views over streams: at joining, from time to time, and with the dead, who may only be cut off.
#include <algorithm>

#include "cores/swim.h"
#include "cores/swim_codec.h"

namespace muster::cores {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kFirstJoinWait = milliseconds(500);
constexpr base::Duration kLongestJoinWait = seconds(15);
constexpr std::size_t kSeedsAtOnce = 3;
// When a node that joined looks again, on average.
constexpr base::Duration kAfterJoining = seconds(3);
// An exchange out of turn, because gossip overflowed, waits so long at least after the one before.
constexpr base::Duration kLeastBetweenExchanges = seconds(5);

base::Duration jittered(base::Duration whole, double least, double range, base::Random& random) {
  return base::from_seconds(base::seconds(whole) * (least + range * random.unit()));
}

}  // namespace

void Swim::on(const Exchange& exchange, const Origin& origin, base::Instant now) {
  exchange_rumours_ = 0;
  if (exchange.reply && !joined_ && table_.size() == 0) newcomer_ = true;
  Origin second_hand = origin;
  second_hand.by_exchange = true;
  for (const Claim& entry : exchange.view) merge(entry, second_hand, now);
  if (exchange.reply) {
    if (exchange.last) {
      newcomer_ = false;
      // Gossip about others that joined at the same time may have passed this node by.
      if (!joined_) exchange_at_ = std::min(exchange_at_, now + jittered(kAfterJoining, 0.5, 1, random_));
      joined_ = true;
      join_at_ = base::kNever;
    }
    return;
  }
  if (!exchange.last) return;
  if (std::find(waiting_exchanges_.begin(), waiting_exchanges_.end(), origin.from) != waiting_exchanges_.end()) return;
  if (waiting_exchanges_.size() >= kMaxWaitingExchanges) {
    ++counters_.dropped_requests;
    return;
  }
  waiting_exchanges_.push_back(origin.from);
  answer_exchanges_at_ = std::min(answer_exchanges_at_, now + options_.exchange_batch);
}

// Entries of a view are second-hand. Who is dead in it may have refuted since, so that counts as a suspicion; and a
// suspicion that is known here already is not confirmed by it, for the sender may have heard of it from the same
// accuser. Whoever is unknown here is taken in only if it is said to live.
void Swim::merge(const Claim& entry, const Origin& origin, base::Instant now) {
  if (entry.node == self_.id || entry.status == MemberStatus::kAlive || entry.status == MemberStatus::kLeft) {
    return apply(entry, origin, now);
  }
  if (entry.status == MemberStatus::kSuspect) {
    Claim alive = entry;
    alive.status = MemberStatus::kAlive;
    apply_alive(alive, origin, now);
  }
  const Member* known = table_.get(entry.node);
  if (known == nullptr || known->status != MemberStatus::kAlive) return;
  const std::uint64_t before = counters_.suspicions;
  Claim suspicion = entry;
  suspicion.status = MemberStatus::kSuspect;
  suspicion.by = origin.sender;
  apply_suspect(suspicion, origin, now);
  if (entry.status == MemberStatus::kDead) counters_.dead_by_exchange += counters_.suspicions - before;
}

void Swim::exchange_next(base::Instant now) {
  exchange_at_ = now + jittered(push_pull_period(options_.push_pull_interval, group_size()), 0.75, 0.5, random_);
  last_exchange_ = now;
  std::vector<Endpoint> peers;
  for (const Slot slot : choose(1, base::kNoNode, Choice::kAlive, now)) peers.push_back(table_.at(slot).address);
  // One of the dead: two halves of a group that were cut apart find back by it.
  for (const Slot slot : choose(1, base::kNoNode, Choice::kDead, now)) peers.push_back(table_.at(slot).address);
  // And a seed that no living member is: after a long separation it is all that is remembered.
  if (joined_ && !seeds_.empty()) {
    const Endpoint& seed = seeds_[random_.below(seeds_.size())];
    bool lives = false;
    table_.each([&](Slot, const Member& member) {
      lives = lives || (member.status == MemberStatus::kAlive && member.address == seed);
    });
    if (!lives) peers.push_back(seed);
  }
  if (peers.empty()) return;
  const std::vector<std::string> frames = view_frames(false);
  for (const Endpoint& peer : peers) {
    ++counters_.exchanges;
    for (const std::string& frame : frames) transmit(peer, SwimChannel::kStream, frame);
  }
}

void Swim::hasten_exchange(base::Instant now) {
  const base::Instant earliest = std::max(now, last_exchange_ + kLeastBetweenExchanges);
  exchange_at_ = std::min(exchange_at_, earliest + jittered(seconds(1), 0, 1, random_));
}

void Swim::ask_seeds(base::Instant now) {
  join_wait_ = std::clamp(2 * join_wait_, kFirstJoinWait, kLongestJoinWait);
  join_at_ = now + jittered(join_wait_, 1, 0.25, random_);
  const std::vector<std::string> frames = view_frames(false);
  const std::size_t first = random_.below(seeds_.size());
  for (std::size_t step = 0; step < std::min(seeds_.size(), kSeedsAtOnce); ++step) {
    ++counters_.exchanges;
    const Endpoint& seed = seeds_[(first + step) % seeds_.size()];
    for (const std::string& frame : frames) transmit(seed, SwimChannel::kStream, frame);
  }
}

void Swim::answer_exchanges(base::Instant /*now*/) {
  answer_exchanges_at_ = base::kNever;
  const std::vector<std::string> frames = view_frames(true);
  for (const Endpoint& asker : waiting_exchanges_) {
    ++counters_.exchange_replies;
    for (const std::string& frame : frames) transmit(asker, SwimChannel::kStream, frame);
  }
  waiting_exchanges_.clear();
}

std::vector<std::string> Swim::view_frames(bool reply) const {
  constexpr std::size_t kHeader = 32;  // more than version, group, kind and flags take
  std::vector<std::string> parts(1);
  std::string entry;
  const auto append = [&](const Claim& claim) {
    entry.clear();
    append_view_entry(entry, claim);
    if (parts.back().size() + entry.size() > kMaxExchangeBytes - kHeader) parts.emplace_back();
    parts.back() += entry;
  };
  append(own_claim());
  table_.each([&](Slot, const Member& member) {
    Claim claim;
    claim.status = member.status;
    claim.node = member.id;
    claim.incarnation = member.incarnation;
    claim.address = member.address;
    // A state that came with an ack may be ahead of the claim that raised the incarnation; it follows later then.
    if (member.state && member.state->incarnation <= claim.incarnation) {
      claim.state = {member.state->incarnation, member.state->version, member.state->bytes};
    }
    // At the last incarnation nobody can be accused to others.
    if (claim.incarnation >= kMaxIncarnation && claim.status != MemberStatus::kLeft)
      claim.status = MemberStatus::kAlive;
    append(claim);
  });
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool last = part + 1 == parts.size();
    parts[part].insert(0, encode_swim_body(options_.group, Exchange{.reply = reply, .last = last, .view = {}}));
  }
  return parts;
}

}  // namespace muster::cores
