#include "sim/swim_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
std::uint32_t transmit_limit(const cores::Swim& core, std::size_t peak) {
  return most_transmits(core.options().retransmit_multiplier, peak + 1);
}

// How long a suspicion which began in this event can last; the group may have changed in the midst of it.
SuspicionSpan span_now(const cores::Swim& core) {
  constexpr std::size_t kChanged = 3;
  const std::size_t size = core.group_size();
  return {.shortest = suspicion_span(core.options(), size - std::min(size - 1, kChanged)).shortest,
          .longest = suspicion_span(core.options(), size + kChanged).longest};
}

template <class Map>
void forget(Map& map, NodeId viewer) {
  const auto first = map.lower_bound({viewer, base::kNoNode});
  auto last = first;
  while (last != map.end() && last->first.first == viewer) ++last;
  map.erase(first, last);
}

}  // namespace

SuspicionSpan suspicion_span(const cores::SwimOptions& options, std::size_t members) {
  const double scale = std::max(1.0, std::log10(static_cast<double>(members)));
  const double shortest = options.suspicion_multiplier * scale * base::seconds(options.probe_interval);
  // With too few who could confirm, the shortest applies at once.
  const bool alone = members < options.suspicion_multiplier;
  return {.shortest = base::from_seconds(shortest),
          .longest = base::from_seconds(alone ? shortest : options.suspicion_max_multiplier * shortest)};
}

std::uint32_t most_transmits(std::uint32_t multiplier, std::size_t members) {
  return multiplier * static_cast<std::uint32_t>(std::ceil(std::log10(static_cast<double>(members + 1))));
}

base::Duration exchange_period(base::Duration base, std::size_t members) {
  if (members <= 32) return base;
  return base * (static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(members)) - 5)) + 1);
}

bool held_to_live(const cores::Member* member) {
  return member != nullptr && (member->status == MemberStatus::kAlive || member->status == MemberStatus::kSuspect);
}

std::string numbered_state(std::uint64_t number, std::string_view rest) {
  return fmt::format("{:0{}}{}", number, kStateDigits, rest);
}

void SwimOracle::observe(const cores::Swim& core) {
  std::uint64_t& truth = truth_[core.id()];
  Life& life = lives_[core.id()];
  if (life.peak == 0 && core.incarnation() < truth) kernel_->hit("life began behind an earlier one");
  truth = std::max(truth, core.incarnation());
  if (core.leaving()) leavers_.emplace(core.id(), core.incarnation());
  life.peak = std::max(life.peak, core.group_size());
  life.incarnation = core.incarnation();
  check_told(core, life);
  check_score(core, life);
  check_bounds(core, life);
  if (++looks_ % kLookEvery == 0 && !options_.garbled) check_view(core);
}

void SwimOracle::saw(const cores::Swim& core, const cores::SwimEvent& event) {
  Life& life = lives_[core.id()];
  if (event.kind != SwimEventKind::kStateChanged) life.latest = event;
  if (event.kind == SwimEventKind::kConflict) ++life.conflicts;
  if (event.kind == SwimEventKind::kRefuted) ++life.refutations;
  if (options_.garbled || event.node == core.id()) return;
  if (event.kind == SwimEventKind::kStateChanged) return check_state(core, event.node);
  check_incarnation(core.id(), event.node, event.incarnation);
  check_change(core, event);
}

void SwimOracle::sent(const cores::Swim& core, const cores::SwimSend& send) {
  if (send.channel == cores::SwimChannel::kStream) return check_exchange(core, send);
  if (send.bytes.size() + cores::kEnvelopeAllowance > cores::kMaxSwimDatagram) {
    kernel_->violate("25", fmt::format("node {} sent a datagram of {} bytes without its envelope", number(core.id()),
                                       send.bytes.size()));
  }
  if (!options_.garbled) check_gossip(core, send);
}

// Whoever hears that it is suspected or dead rises above that at once, also if an earlier life of it was meant, and
// counts it against its own health.
void SwimOracle::received(const cores::Swim& core, std::string_view bytes) {
  if (options_.garbled || core.leaving()) return;
  const auto packet = cores::decode_swim(bytes);
  if (!packet || packet->group != core.options().group) return;
  const auto* exchange = std::get_if<cores::Exchange>(&packet->message.body);
  for (const cores::Claim& claim : exchange != nullptr ? exchange->view : packet->message.claims) {
    if (claim.node != core.id() || importance(claim.status) == 0) continue;
    Life& life = lives_[core.id()];
    life.owes_answer = true;
    const bool fresh = life.incarnation > 0 && claim.incarnation >= life.incarnation;
    if (claim.incarnation >= core.incarnation()) {
      kernel_->violate("life-order",
                       fmt::format("node {} hears that it is suspected or dead at incarnation {} and stays at {}",
                                   number(core.id()), claim.incarnation, core.incarnation()));
    } else if (fresh && core.counters().refutations == life.counters.refutations) {
      kernel_->violate("23", fmt::format("node {} is accused and does not count it against itself", number(core.id())));
    }
  }
}

void SwimOracle::went_down(NodeId node) {
  lives_.erase(node);
  forget(held_, node);
  forget(told_, node);
  forget(probed_, node);
}

void SwimOracle::check_bounds(const cores::Swim& core, const Life& life) {
  const std::uint32_t limit = transmit_limit(core, life.peak);
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

// What is counted is told, and what was asked for is done by the end of the event.
void SwimOracle::check_told(const cores::Swim& core, Life& life) {
  const cores::SwimCounters& now = core.counters();
  if (now.conflicts != life.conflicts || now.refutations != life.refutations) {
    kernel_->violate(
        "audit", fmt::format("node {} counts {} conflicts and {} refutations and told of {} and {}", number(core.id()),
                             now.conflicts, now.refutations, life.conflicts, life.refutations));
  }
  const std::uint64_t open = now.probes - now.probes_acked - now.probes_failed;
  if (open > (core.leaving() ? 2 : 1)) {
    kernel_->violate("audit", fmt::format("of {} probes of node {} {} were answered and {} were not", now.probes,
                                          number(core.id()), now.probes_acked, now.probes_failed));
  }
  // Somebody may have missed the answer to an old accusation, and only this node can give it. Where more waits to be
  // told than may wait, news of the living are dropped first.
  const bool owes = std::exchange(life.owes_answer, false) && !options_.garbled && !core.leaving();
  if (owes && now.overflowed == life.counters.overflowed && core.gossip().size() == 0 &&
      life.spoke_of_itself != kernel_->now()) {
    kernel_->violate("24", fmt::format("node {} is accused and says nothing to it", number(core.id())));
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
      held.not_dead_before = kernel_->now() + span_now(core).shortest;
      held.dead_by = kernel_->now() + span_now(core).longest;
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
    } else if (options_.true_clocks && kernel_->now() > held.dead_by) {
      kernel_->violate("suspicion", fmt::format("node {} held node {} dead {:.3f} s after its time", number(core.id()),
                                                number(event.node), base::seconds(kernel_->now() - held.dead_by)));
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
  if (const auto* ping = std::get_if<cores::Ping>(&packet->message.body)) check_rounds(core, ping->target);
  const std::uint32_t limit = transmit_limit(core, std::max(lives_[core.id()].peak, core.group_size()));
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
    if (claim.node == core.id()) {  // may have to be said again
      lives_[core.id()].spoke_of_itself = kernel_->now();
      continue;
    }
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

// A view is exchanged with one living member at a time: whole views are by far the largest messages.
void SwimOracle::check_exchange(const cores::Swim& core, const cores::SwimSend& send) {
  if (options_.garbled) return;
  const auto packet = cores::decode_swim(send.bytes);
  if (!packet) return;
  Life& life = lives_[core.id()];
  for (const cores::Claim& claim : packet->message.claims) {
    if (claim.node == core.id()) life.spoke_of_itself = kernel_->now();
  }
  const auto* exchange = std::get_if<cores::Exchange>(&packet->message.body);
  if (exchange == nullptr || exchange->reply || !core.joined()) return;
  bool alive = false;
  core.members().each([&](cores::MemberTable::Slot, const cores::Member& member) {
    alive = alive || (member.status == MemberStatus::kAlive && member.address == send.to);
  });
  if (!alive) return;
  if (life.asked_at == kernel_->now() && life.asked != send.to) {
    kernel_->violate("25", fmt::format("node {} asks two living members for their views at once", number(core.id())));
  }
  life.asked_at = kernel_->now();
  life.asked = send.to;
}

// Members are probed in rounds, each once: two turns of one are less than two rounds apart, and probes of suspects out
// of turn are at most every other. Pings on behalf of others count for the member, too, which only makes this milder.
void SwimOracle::check_rounds(const cores::Swim& core, NodeId target) {
  constexpr std::uint64_t kLookAfter = 8;
  const std::uint64_t probes = core.counters().probes;
  const cores::Member* probed = core.members().get(target);
  // A node that is as bad as can be probes nobody but suspects.
  if (probes > lives_[core.id()].counters.probes && core.score() == cores::LocalHealth::kMaxScore &&
      probed != nullptr && probed->status == MemberStatus::kAlive && core.options().lifeguard.health_aware_probe) {
    kernel_->violate(
        "23", fmt::format("node {} probes node {} with the worst score of all", number(core.id()), number(target)));
  }
  if (!options_.true_clocks || core.counters().probes_skipped > 0) return;
  probed_[{core.id(), target}] = probes;
  if (probes % kLookAfter != 0) return;
  core.members().each([&](cores::MemberTable::Slot, const cores::Member& member) {
    if (member.status != MemberStatus::kAlive) return;
    const auto [last, fresh] = probed_.try_emplace({core.id(), member.id}, probes);
    if (fresh || probes - last->second <= 4 * core.members().slots() + kLookAfter) return;
    kernel_->violate("22", fmt::format("node {} has probed others {} times since it probed node {}", number(core.id()),
                                       probes - last->second, number(member.id)));
  });
}

}  // namespace muster::sim
