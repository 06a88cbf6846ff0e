#include "sim/swim_oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "cores/swim_codec.h"

namespace muster::sim {
namespace {

using base::NodeId;
using cores::MemberStatus;
using cores::SwimEventKind;

// Whole views are compared with the truth after so many events.
constexpr std::uint64_t kLookEvery = 64;
constexpr std::size_t kStateDigits = 8;

// In which order claims leave. Joins, which look like any alive, go before departures and news of the living after
// them, so that these cannot be told apart here.
int importance(MemberStatus status) {
  switch (status) {
    case MemberStatus::kSuspect:
      return 1;
    case MemberStatus::kDead:
      return 2;
    default:
      return 0;
  }
}

// The group may have been larger by one in the midst of an event.
std::uint32_t most_transmits(const cores::Swim& core, std::size_t peak) {
  return cores::retransmit_limit(core.options().retransmit_multiplier, peak + 1);
}

// The least that a suspicion which began in this event can last; the group may have grown in the midst of it.
base::Duration shortest_suspicion(const cores::Swim& core) {
  constexpr std::size_t kGrown = 3;
  return cores::suspicion_terms(core.options(), core.group_size() - std::min(core.group_size() - 1, kGrown)).shortest;
}

template <class Map>
void forget(Map& map, NodeId viewer) {
  const auto first = map.lower_bound({viewer, base::kNoNode});
  auto last = first;
  while (last != map.end() && last->first.first == viewer) ++last;
  map.erase(first, last);
}

}  // namespace

std::string numbered_state(std::uint64_t number, std::string_view rest) {
  return fmt::format("{:0{}}{}", number, kStateDigits, rest);
}

void SwimOracle::observe(const cores::Swim& core) {
  std::uint64_t& truth = truth_[core.id()];
  truth = std::max(truth, core.incarnation());
  if (core.leaving()) leavers_.emplace(core.id(), core.incarnation());
  Life& life = lives_[core.id()];
  life.peak = std::max(life.peak, core.group_size());
  check_score(core, life);
  check_bounds(core, life);
  if (++looks_ % kLookEvery == 0 && !options_.garbled) check_view(core);
}

void SwimOracle::saw(const cores::Swim& core, const cores::SwimEvent& event) {
  if (event.kind != SwimEventKind::kStateChanged) lives_[core.id()].latest = event;
  if (options_.garbled || event.node == core.id()) return;
  if (event.kind == SwimEventKind::kStateChanged) return check_state(core, event.node);
  check_incarnation(core.id(), event.node, event.incarnation);
  check_change(core, event);
}

void SwimOracle::sent(const cores::Swim& core, const cores::SwimSend& send) {
  if (send.channel != cores::SwimChannel::kDatagram) return;
  if (send.bytes.size() + cores::kEnvelopeAllowance > cores::kMaxSwimDatagram) {
    kernel_->violate("25", fmt::format("node {} sent a datagram of {} bytes without its envelope", number(core.id()),
                                       send.bytes.size()));
  }
  if (!options_.garbled) check_gossip(core, send);
}

void SwimOracle::went_down(NodeId node) {
  lives_.erase(node);
  forget(held_, node);
  forget(told_, node);
}

void SwimOracle::check_bounds(const cores::Swim& core, const Life& life) {
  const std::uint32_t limit = most_transmits(core, life.peak);
  if (core.gossip().most_sent() > limit) {
    kernel_->violate("25", fmt::format("node {} sent an update {} times, the limit is {}", number(core.id()),
                                       core.gossip().most_sent(), limit));
  }
  if (core.gossip().size() > core.options().max_queued_updates || core.members().size() > cores::kMaxMembers) {
    kernel_->violate("27", fmt::format("node {} holds {} updates and {} members", number(core.id()),
                                       core.gossip().size(), core.members().size()));
  }
  const auto& audit = core.audit();
  const bool told = !life.latest || (!audit.empty() && audit.back().event.kind == life.latest->kind &&
                                     audit.back().event.node == life.latest->node &&
                                     audit.back().event.incarnation == life.latest->incarnation);
  if (audit.size() > core.options().audit_entries || !told) {
    kernel_->violate("audit", fmt::format("the audit log of node {} has {} entries and lacks the latest event",
                                          number(core.id()), audit.size()));
  }
}

// The score follows the evidence: what speaks against the node raises it, success lowers it.
void SwimOracle::check_score(const cores::Swim& core, Life& life) {
  const cores::SwimCounters& now = core.counters();
  const std::uint64_t blame = (now.nacks_missing - life.counters.nacks_missing) +
                              (now.refutations - life.counters.refutations) + (now.stalls - life.counters.stalls);
  const std::uint64_t relief =
      (now.probes_acked - life.counters.probes_acked) + (now.probes_skipped - life.counters.probes_skipped);
  const bool raised = core.score() > life.score || core.score() == cores::LocalHealth::kMaxScore;
  const bool lowered = core.score() < life.score || core.score() == 0;
  if (core.score() > cores::LocalHealth::kMaxScore) {
    kernel_->violate("23", fmt::format("node {} has the score {}", number(core.id()), core.score()));
  } else if (blame > 0 && relief == 0 && !raised) {
    kernel_->violate("23", fmt::format("node {} has reason to doubt itself and its score stays at {}",
                                       number(core.id()), core.score()));
  } else if (blame == 0 && now.probes_acked > life.counters.probes_acked && !lowered) {
    kernel_->violate("23",
                     fmt::format("node {} got an answer and its score stays at {}", number(core.id()), core.score()));
  }
  life.score = core.score();
  life.counters = now;
}

void SwimOracle::check_incarnation(NodeId viewer, NodeId node, std::uint64_t incarnation) {
  if (number(node) > options_.nodes || incarnation <= truth_[node]) return;
  kernel_->violate("19", fmt::format("node {} holds node {} at incarnation {}, which itself went no further than {}",
                                     number(viewer), number(node), incarnation, truth_[node]));
}

void SwimOracle::check_view(const cores::Swim& core) {
  core.members().each([&](cores::MemberTable::Slot, const cores::Member& member) {
    check_incarnation(core.id(), member.id, member.incarnation);
    if (number(member.id) <= options_.nodes) return;
    kernel_->violate("20",
                     fmt::format("node {} knows node {}, which does not exist", number(core.id()), number(member.id)));
  });
}

void SwimOracle::check_state(const cores::Swim& core, NodeId node) {
  const cores::Member* member = core.members().get(node);
  // Lives that forgot their incarnation cannot be told apart until they have heard of one another.
  if (member == nullptr || !member->state || !options_.ordered_lives) return;
  const std::string state = member->state->bytes.substr(0, kStateDigits);
  std::string& seen = held_[{core.id(), node}].state;
  if (state < seen) {
    kernel_->violate("state-order", fmt::format("node {} knew state {} of node {} and now holds {}", number(core.id()),
                                                seen, number(node), state));
  }
  seen = state;
}

// Alive needs a strictly higher incarnation, suspect and dead at least the same.
void SwimOracle::check_change(const cores::Swim& core, const cores::SwimEvent& event) {
  const auto found = held_.find({core.id(), event.node});
  const bool known = found != held_.end() && found->second.incarnation > 0;
  Held& held = held_[{core.id(), event.node}];
  MemberStatus status = held.status;
  switch (event.kind) {
    case SwimEventKind::kJoined:
    case SwimEventKind::kCleared:
      status = MemberStatus::kAlive;
      break;
    case SwimEventKind::kSuspected:
      status = MemberStatus::kSuspect;
      held.not_dead_before = kernel_->now() + shortest_suspicion(core);
      break;
    case SwimEventKind::kDead:
      status = MemberStatus::kDead;
      break;
    case SwimEventKind::kLeft:
      status = MemberStatus::kLeft;
      break;
    case SwimEventKind::kRemoved:
      held_.erase({core.id(), event.node});
      told_.erase({core.id(), event.node});
      return;
    default:
      return;
  }
  const bool revived = known && status == MemberStatus::kAlive && held.status != MemberStatus::kAlive;
  if (known && (event.incarnation < held.incarnation || (revived && event.incarnation == held.incarnation))) {
    kernel_->violate("life-order",
                     fmt::format("node {} held node {} at incarnation {} and changed its mind by {}", number(core.id()),
                                 number(event.node), held.incarnation, event.incarnation));
  }
  check_departure(core, event, held);
  held.status = status;
  held.incarnation = event.incarnation;
}

// Nobody is dead but by a suspicion that ran its time somewhere, and nobody left who did not say so.
void SwimOracle::check_departure(const cores::Swim& core, const cores::SwimEvent& event, const Held& held) {
  const std::tuple verdict(event.by, event.node, event.incarnation);
  if (event.kind == SwimEventKind::kDead && event.by == core.id()) {
    verdicts_.insert(verdict);
    if (options_.true_clocks && kernel_->now() < held.not_dead_before) {
      kernel_->violate("suspicion",
                       fmt::format("node {} held node {} dead {:.3f} s before its time", number(core.id()),
                                   number(event.node), base::seconds(held.not_dead_before - kernel_->now())));
    }
  } else if (event.kind == SwimEventKind::kDead && !verdicts_.contains(verdict)) {
    kernel_->violate("suspicion", fmt::format("node {} holds node {} dead on the word of node {}, which never said so",
                                              number(core.id()), number(event.node), number(event.by)));
  }
  if (event.kind == SwimEventKind::kLeft && !leavers_.contains({event.node, event.incarnation})) {
    kernel_->violate("life-order", fmt::format("node {} believes that node {} left, which it did not",
                                               number(core.id()), number(event.node)));
  }
}

void SwimOracle::check_gossip(const cores::Swim& core, const cores::SwimSend& send) {
  const auto packet = cores::decode_swim(send.bytes);
  if (!packet) {
    kernel_->violate("25", fmt::format("node {} sent what nobody can read", number(core.id())));
    return;
  }
  const std::uint32_t limit = most_transmits(core, std::max(lives_[core.id()].peak, core.group_size()));
  const bool answers = std::holds_alternative<cores::Ack>(packet->message.body) ||
                       std::holds_alternative<cores::Nack>(packet->message.body);
  int last = 0;
  bool first = true;
  for (const cores::Claim& claim : packet->message.claims) {
    // What the receiver is told of itself comes first and is not gossip.
    const cores::Member* member = std::exchange(first, false) ? core.members().get(claim.node) : nullptr;
    if (member != nullptr && (answers || member->address == send.to) && importance(claim.status) > 0) continue;
    if (importance(claim.status) < last) {
      kernel_->violate("25",
                       fmt::format("node {} sent less important news before more important ones", number(core.id())));
    }
    last = importance(claim.status);
    if (claim.node == core.id()) continue;  // may have to be said again
    Told& told = told_[{core.id(), claim.node}];
    const std::tuple same(claim.status, claim.incarnation, claim.by);
    told.times = told.claim == same ? told.times + 1 : 1;
    told.claim = same;
    if (told.times > limit) {
      kernel_->violate("25", fmt::format("node {} told {} times of node {}, the limit is {}", number(core.id()),
                                         told.times, number(claim.node), limit));
    }
  }
}

}  // namespace muster::sim
