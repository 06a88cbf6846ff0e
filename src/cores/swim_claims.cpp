// What claims of others, and this node's own probes, do to the view: the life of a member from alive to forgotten.
#include <algorithm>

#include "cores/swim.h"

namespace muster::cores {

void Swim::apply(const Claim& claim, const Origin& origin, base::Instant now) {
  if (claim.node == self_.id) return apply_about_self(claim, now);
  switch (claim.status) {
    case MemberStatus::kAlive:
      return apply_alive(claim, origin, now);
    case MemberStatus::kSuspect:
      return apply_suspect(claim, origin, now);
    case MemberStatus::kDead:
    case MemberStatus::kLeft:
      return apply_gone(claim, origin, now);
  }
}

void Swim::apply_alive(const Claim& claim, const Origin& origin, base::Instant now) {
  const std::optional<Slot> slot = table_.find(claim.node);
  if (!slot) {
    if (table_.size() >= kMaxMembers) {
      ++counters_.refused_members;
      return;
    }
    Member member;
    member.id = claim.node;
    member.incarnation = claim.incarnation;
    member.address = claim.address;
    const Slot added = table_.add(std::move(member));
    tell({.kind = SwimEventKind::kJoined, .node = claim.node, .incarnation = claim.incarnation}, now);
    apply_state(added, claim.state, now);
    return pass_on(GossipClass::kJoin, claim, origin, now);
  }
  const Member& known = table_.at(*slot);
  const bool elsewhere = known.address != claim.address;
  if (claim.incarnation <= known.incarnation) {
    const bool there = known.status == MemberStatus::kAlive || known.status == MemberStatus::kSuspect;
    if (claim.incarnation == known.incarnation && elsewhere && there) {
      ++counters_.conflicts;
      tell({.kind = SwimEventKind::kConflict, .node = claim.node, .incarnation = claim.incarnation}, now);
    }
    if (claim.incarnation == known.incarnation && !elsewhere) apply_state(*slot, claim.state, now);
    return;
  }
  const MemberStatus before = known.status;
  end_suspicion(claim.node);
  forget_gone(claim.node);
  table_.set_status(*slot, MemberStatus::kAlive, claim.incarnation);
  const bool back = before == MemberStatus::kDead || before == MemberStatus::kLeft;
  if (elsewhere) {
    table_.set_address(*slot, claim.address);
    tell({.kind = SwimEventKind::kMoved, .node = claim.node, .incarnation = claim.incarnation}, now);
  }
  if (back) tell({.kind = SwimEventKind::kJoined, .node = claim.node, .incarnation = claim.incarnation}, now);
  if (before == MemberStatus::kSuspect) {
    tell({.kind = SwimEventKind::kCleared, .node = claim.node, .incarnation = claim.incarnation}, now);
  }
  apply_state(*slot, claim.state, now);
  pass_on(back ? GossipClass::kJoin : GossipClass::kAlive, claim, origin, now);
}

void Swim::apply_suspect(const Claim& claim, const Origin& origin, base::Instant now) {
  const std::optional<Slot> slot = table_.find(claim.node);
  if (!slot || leaving_) return;
  const Member& known = table_.at(*slot);
  if (claim.incarnation < known.incarnation) return;
  if (known.status == MemberStatus::kAlive) {
    table_.set_status(*slot, MemberStatus::kSuspect, claim.incarnation);
    ++counters_.suspicions;
    begin_suspicion(claim.node, claim.by, now);
    tell({.kind = SwimEventKind::kSuspected, .node = claim.node, .incarnation = claim.incarnation, .by = claim.by},
         now);
    // About so many of all that hear of it look for themselves; whoever accuses has looked already.
    const double share = static_cast<double>(options_.suspect_probers) / static_cast<double>(group_size());
    if (claim.by != self_.id && rechecks_.size() < kMaxRechecks && random_.unit() < share) {
      rechecks_.push_back(claim.node);
    }
    return pass_on(GossipClass::kSuspect, claim, origin, now);
  }
  if (known.status != MemberStatus::kSuspect) return;
  if (claim.incarnation > known.incarnation) table_.set_status(*slot, MemberStatus::kSuspect, claim.incarnation);
  Suspicion& suspicion = suspicions_.find(claim.node)->second;
  const base::Instant before = suspicion.end();
  if (!suspicion.confirm(claim.by)) return;
  ++counters_.confirmations;
  suspicion_ends_.erase({before, claim.node});
  suspicion_ends_.emplace(suspicion.end(), claim.node);
  pass_on(GossipClass::kSuspect, claim, origin, now);
}

void Swim::apply_gone(const Claim& claim, const Origin& origin, base::Instant now) {
  const std::optional<Slot> slot = table_.find(claim.node);
  if (!slot) return;
  const Member& known = table_.at(*slot);
  const bool there = known.status == MemberStatus::kAlive || known.status == MemberStatus::kSuspect;
  if (!there || claim.incarnation < known.incarnation) return;
  end_suspicion(claim.node);
  table_.set_status(*slot, claim.status, claim.incarnation);
  note_gone(claim.node, now);
  const bool left = claim.status == MemberStatus::kLeft;
  tell({.kind = left ? SwimEventKind::kLeft : SwimEventKind::kDead,
        .node = claim.node,
        .incarnation = claim.incarnation,
        .by = claim.by},
       now);
  pass_on(left ? GossipClass::kLeave : GossipClass::kDead, claim, origin, now);
}

void Swim::apply_about_self(const Claim& claim, base::Instant now) {
  if (leaving_) return;
  const bool accused = claim.status == MemberStatus::kSuspect || claim.status == MemberStatus::kDead;
  if (claim.incarnation >= self_.incarnation) {
    const bool same = claim.status == MemberStatus::kAlive && claim.incarnation == self_.incarnation &&
                      claim.address == self_.address && !of_earlier_life(claim.state);
    if (!same) refute(claim.incarnation, accused, now);
    return;
  }
  // Somebody missed the answer to an old accusation: say it again.
  if (accused && !gossip_.waits(self_.id)) spread(GossipClass::kAlive, own_claim(), now);
}

// A state that this life never told: a life before it forgot its incarnation and began with the same one.
bool Swim::of_earlier_life(const StateClaim& claim) const {
  const std::pair told(claim.incarnation, claim.version);
  const std::pair own(own_state_->incarnation, own_state_->version);
  return told > own || (told == own && claim.bytes != own_state_->bytes);
}

void Swim::apply_state(Slot slot, const StateClaim& claim, base::Instant now) {
  const Member& member = table_.at(slot);
  if (claim.incarnation == 0 && claim.version == 0 && claim.bytes.empty()) return;
  if (member.state &&
      std::pair(claim.incarnation, claim.version) <= std::pair(member.state->incarnation, member.state->version)) {
    return;
  }
  const bool changed = !member.state || member.state->bytes != claim.bytes;
  table_.set_state(slot, std::make_shared<const MemberState>(
                             MemberState{claim.incarnation, claim.version, std::string(claim.bytes)}));
  if (!changed) return;
  tell({.kind = SwimEventKind::kStateChanged, .node = member.id, .incarnation = claim.incarnation}, now);
}

void Swim::begin_suspicion(base::NodeId node, base::NodeId by, base::Instant now) {
  const Suspicion suspicion(suspicion_terms(options_, group_size()), by, now);
  suspicion_ends_.emplace(suspicion.end(), node);
  suspicions_.emplace(node, suspicion);
}

void Swim::end_suspicion(base::NodeId node) {
  const auto found = suspicions_.find(node);
  if (found == suspicions_.end()) return;
  suspicion_ends_.erase({found->second.end(), node});
  suspicions_.erase(found);
}

void Swim::end_suspicions(base::Instant now) {
  while (!suspicion_ends_.empty() && suspicion_ends_.begin()->first <= now) {
    const base::NodeId node = suspicion_ends_.begin()->second;
    if (leaving_) {
      end_suspicion(node);
      continue;
    }
    ++counters_.deaths;
    Claim claim;
    claim.status = MemberStatus::kDead;
    claim.node = node;
    claim.incarnation = table_.get(node)->incarnation;
    claim.by = self_.id;
    apply_gone(claim, {.sender = self_.id, .from = self_.address}, now);
  }
}

void Swim::note_gone(base::NodeId node, base::Instant now) {
  gone_since_.emplace(node, now);
  gone_order_.emplace(now, node);
}

void Swim::forget_gone(base::NodeId node) {
  const auto found = gone_since_.find(node);
  if (found == gone_since_.end()) return;
  gone_order_.erase({found->second, node});
  gone_since_.erase(found);
}

void Swim::reap(base::Instant now) {
  while (!gone_order_.empty() && gone_order_.begin()->first + options_.reap_after <= now) {
    const base::NodeId node = gone_order_.begin()->second;
    forget_gone(node);
    const Slot slot = *table_.find(node);
    const std::uint64_t incarnation = table_.at(slot).incarnation;
    table_.remove(slot);
    gossip_.drop(node);
    tell({.kind = SwimEventKind::kRemoved, .node = node, .incarnation = incarnation}, now);
  }
}

void Swim::refute(std::uint64_t accused, bool accusation, base::Instant now) {
  const bool earlier_life = accused > self_.incarnation || !accusation;
  self_.incarnation = std::min(std::max(self_.incarnation, accused), kMaxIncarnation - 1) + 1;
  // What an earlier life said of itself must not outrank what this one says.
  if (earlier_life) {
    own_state_ = std::make_shared<const MemberState>(MemberState{self_.incarnation, 0, own_state_->bytes});
  }
  if (accusation) {
    ++counters_.refutations;
    raise_score(1);
    tell({.kind = SwimEventKind::kRefuted, .node = self_.id, .incarnation = self_.incarnation}, now);
  }
  spread(GossipClass::kAlive, own_claim(), now);
}

}  // namespace muster::cores
