// Elections: pre-vote, votes, and the moment when leadership begins (dissertation, 3.4, 4.2.3 and 9.6).
#include <utility>

#include "cores/raft.h"

namespace muster::cores {

// Only who may lead asks for votes; others merely give up their idea of who leads.
void Raft::reset_election_due() {
  const base::Duration timeout = options_.election_timeout;
  if (may_lead()) {
    const auto extra = random_.below(static_cast<std::uint64_t>(timeout.count()));
    election_due_ = now_ + timeout + base::Duration(static_cast<base::Duration::rep>(extra));
  } else {
    election_due_ = leader_ == base::kNoNode ? base::kNever : now_ + 2 * timeout;
  }
}

void Raft::election_due() {
  if (may_lead()) return ask_before_election();
  leader_ = base::kNoNode;
  role_ = RaftRole::kFollower;
  reset_election_due();
  note_standing();
}

// Pre-vote: nobody's term changes until a majority says that it would vote. A member that cannot win disturbs no one.
void Raft::ask_before_election() {
  role_ = RaftRole::kPreCandidate;
  leader_ = base::kNoNode;
  ++fruitless_;
  votes_ = {self_};
  reset_election_due();
  note_standing();
  request_votes({.pre = true,
                 .transfer = false,
                 .asked = hard_.term + 1,
                 .last_index = log_.last(),
                 .last_term = log_.last_term(),
                 .commit = commit_,
                 .members_index = log_.members_index()});
  count_votes();
}

void Raft::begin_election(bool transfer) {
  role_ = RaftRole::kCandidate;
  leader_ = base::kNoNode;
  votes_.clear();
  write_hard(hard_.term + 1, self_);
  reset_election_due();
  note_standing();
  request_votes({.pre = false,
                 .transfer = transfer,
                 .asked = hard_.term,
                 .last_index = log_.last(),
                 .last_term = log_.last_term(),
                 .commit = commit_,
                 .members_index = log_.members_index()});
}

void Raft::request_votes(const RaftVoteRequest& request) {
  for (const base::NodeId voter : members().voters) {
    if (voter != self_) send(voter, request);
  }
}

// The own vote counts like any other: once it is durable.
void Raft::count_votes() {
  if (role_ == RaftRole::kCandidate && hard_ticket_ <= durable_ticket_) votes_.insert(self_);
  std::size_t granted = 0;
  for (const base::NodeId voter : members().voters) granted += votes_.contains(voter) ? 1 : 0;
  if (granted < members().majority()) return;
  if (role_ == RaftRole::kPreCandidate) {
    begin_election(false);
  } else if (votes_.contains(self_)) {
    become_leader();
  }
}

void Raft::become_leader() {
  role_ = RaftRole::kLeader;
  leader_ = self_;
  votes_.clear();
  fruitless_ = 0;
  incoming_.reset();
  leader_since_ = now_;
  heartbeat_due_ = now_ + options_.heartbeat;
  progress_.clear();
  follow_members();
  // Entries of earlier terms are committed only together with one of this term (dissertation, 3.6.2). The first entry
  // of all names the founders, so that who reads the log from its beginning knows them.
  const bool first = log_.last() == 0;
  log_.append({.index = log_.last() + 1,
               .term = hard_.term,
               .kind = first ? RaftEntryKind::kMembers : RaftEntryKind::kNoop,
               .command = {},
               .members = first ? members() : RaftMembers{}});
  opening_ = log_.last();
  note_standing();
}

bool Raft::up_to_date(RaftIndex index, RaftTerm term) const {
  return term > log_.last_term() || (term == log_.last_term() && index >= log_.last());
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftVoteRequest& request) {
  const bool plausible = request.asked == (request.pre ? term + 1 : term);
  if (!plausible || outsider(from, term, request.members_index)) return;
  const bool behind = !up_to_date(request.last_index, request.last_term);
  const bool invited = request.transfer && !request.pre && member(from);
  // A term is not changed by whom one would not elect anyway, unless it is a member, who would else be left behind.
  if (behind && !member(from)) return;
  const RaftVoteReply refusal{.pre = request.pre, .granted = false, .asked = request.asked};
  if (request.asked < hard_.term || (hears_leader() && !invited)) return send(from, refusal);
  if (request.pre) {
    const bool granted = request.asked > hard_.term && !behind;
    send(from, RaftVoteReply{.pre = true, .granted = granted, .asked = request.asked});
    if (behind) lend(from, request);
    return;
  }
  if (request.asked > hard_.term) become_follower(request.asked, base::kNoNode);
  const bool free = hard_.vote == base::kNoNode || hard_.vote == from;
  if (behind || !free) return send(from, refusal);
  if (hard_.vote != from) write_hard(hard_.term, from);
  reset_election_due();
  send(from, RaftVoteReply{.pre = false, .granted = true, .asked = request.asked});
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftVoteReply& reply) {
  if (overtaken(from, term) || !reply.granted) return;
  const bool pre = role_ == RaftRole::kPreCandidate && reply.pre && reply.asked == hard_.term + 1;
  const bool real = role_ == RaftRole::kCandidate && !reply.pre && reply.asked == hard_.term;
  if (!pre && !real) return;
  votes_.insert(from);
  count_votes();
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftTimeoutNow&) {
  const bool invited = role_ == RaftRole::kFollower && term == hard_.term && from == leader_ && may_lead();
  if (invited) begin_election(true);
}

}  // namespace muster::cores
