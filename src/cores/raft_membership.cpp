// Who belongs to the group: changes of one member at a time, and handing over leadership (dissertation, chapter 4 with
// the correction of 2015, and 3.10).
#include <algorithm>
#include <utility>

#include "cores/raft.h"

namespace muster::cores {
namespace {

void insert(std::vector<base::NodeId>& nodes, base::NodeId node) {
  nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
}

}  // namespace

RaftRequest Raft::change(const RaftChange& change, base::Instant now) {
  if (!enter(now)) return refuse(RaftRefusal::kStopped);
  if (!leads()) return refuse(RaftRefusal::kNotLeader);
  if (transfer_) return refuse(RaftRefusal::kTransferring);
  // Without an entry of the own term committed, an earlier leader's change might still be under way elsewhere.
  if (!members_committed() || commit_ < opening_) return refuse(RaftRefusal::kChangeUnderWay);
  RaftMembers next = members();
  const RaftRefusal refusal = changed(change, next);
  if (refusal != RaftRefusal::kNone) return refuse(refusal);
  log_.append({.index = log_.last() + 1,
               .term = hard_.term,
               .kind = RaftEntryKind::kMembers,
               .command = {},
               .members = std::move(next)});
  proposals_.push_back({++last_request_, log_.last()});
  const RaftRequest request = last_request_;
  follow_members();
  return request;
}

RaftRequest Raft::transfer(base::NodeId to, base::Instant now) {
  if (!enter(now)) return refuse(RaftRefusal::kStopped);
  if (!leads()) return refuse(RaftRefusal::kNotLeader);
  if (transfer_) return refuse(RaftRefusal::kTransferring);
  const auto found = progress_.find(to);
  if (found == progress_.end() || !members().is_voter(to)) return refuse(RaftRefusal::kNotMember);
  const bool recent = found->second.answered && now_ - found->second.acked < options_.election_timeout;
  if (!recent) return refuse(RaftRefusal::kUnreachable);
  transfer_ = Transfer{to, ++last_request_, now_ + options_.election_timeout};
  const RaftRequest request = last_request_;
  hand_over();
  return request;
}

RaftRefusal Raft::changed(const RaftChange& change, RaftMembers& members) const {
  const base::NodeId node = change.node;
  switch (change.kind) {
    case RaftChange::Kind::kAddLearner:
      if (node == base::kNoNode) return RaftRefusal::kNotMember;
      if (members.contains(node)) return RaftRefusal::kAlreadyMember;
      if (members.voters.size() + members.learners.size() >= kRaftMaxMembers) return RaftRefusal::kTooManyMembers;
      insert(members.learners, node);
      return RaftRefusal::kNone;
    case RaftChange::Kind::kPromote: {
      if (members.is_voter(node)) return RaftRefusal::kAlreadyMember;
      const auto found = progress_.find(node);
      if (!members.is_learner(node) || found == progress_.end()) return RaftRefusal::kNotMember;
      const RaftProgress& progress = found->second;
      const bool recent = progress.answered && now_ - progress.acked < options_.election_timeout;
      if (!recent || progress.match + options_.promotion_lag < log_.last()) return RaftRefusal::kNotCaughtUp;
      std::erase(members.learners, node);
      insert(members.voters, node);
      return RaftRefusal::kNone;
    }
    case RaftChange::Kind::kRemove:
      if (!members.contains(node)) return RaftRefusal::kNotMember;
      if (members.is_voter(node) && members.voters.size() == 1) return RaftRefusal::kLastVoter;
      std::erase(members.learners, node);
      std::erase(members.voters, node);
      return RaftRefusal::kNone;
  }
  return RaftRefusal::kNotMember;
}

// A configuration is in use as soon as it stands in the log: the leader sends to those in it, and to nobody else.
void Raft::follow_members() {
  quorum_acked_.reset();
  std::erase_if(progress_, [&](const auto& known) { return !members().contains(known.first); });
  const auto add = [&](base::NodeId node) {
    if (node == self_ || progress_.contains(node)) return;
    RaftProgress progress;
    progress.next = log_.last() + 1;
    progress.acked = now_;
    progress_.emplace(node, std::move(progress));
  };
  for (const base::NodeId node : members().voters) add(node);
  for (const base::NodeId node : members().learners) add(node);
  if (transfer_ && !members().is_voter(transfer_->to)) end_transfer(RaftRefusal::kNotMember);
}

// A leader that was removed leads until the removal is committed, without counting itself; then it tells the others,
// asks the one that has most to follow it, and goes.
void Raft::retire() {
  base::NodeId successor = base::kNoNode;
  RaftIndex most = 0;
  for (auto& [node, progress] : progress_) {
    heartbeat(node, progress);
    if (!members().is_voter(node) || progress.match < most) continue;
    successor = node;
    most = progress.match;
  }
  send(successor, RaftTimeoutNow{});
  become_follower(hard_.term, base::kNoNode);
}

// The receiver must hold everything: whoever votes for it needs no reason but its log.
void Raft::hand_over() {
  if (!transfer_) return;
  const RaftProgress& progress = progress_.at(transfer_->to);
  if (progress.match == log_.last()) send(transfer_->to, RaftTimeoutNow{});
}

void Raft::end_transfer(RaftRefusal refusal) {
  answer(transfer_->request, RaftOutcome::kRefused);
  effects_.answers.back().refusal = refusal;
  transfer_.reset();
}

}  // namespace muster::cores
