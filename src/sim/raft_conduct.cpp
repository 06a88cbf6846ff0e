#include "sim/raft_conduct.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace muster::sim {

using cores::RaftIndex;
using cores::RaftRole;

namespace {

// Time-outs are drawn to the nanosecond: two alike are rare, and so many never happen.
constexpr std::uint32_t kTooManyAlike = 5;

}  // namespace

void RaftConduct::before(const cores::Raft& raft, base::Instant now) {
  self_ = raft.self();
  now_ = now;
  before_ = standing(raft);
  received_ = nullptr;
  told_to_lead_ = false;
  greeted_.clear();
  from_stranger_ = false;
  matches_.clear();
  if (!raft.leads()) return;
  for (const base::NodeId node : raft.members().voters)
    if (const auto match = raft.match_of(node)) matches_.emplace(node, *match);
}

void RaftConduct::received(const cores::Raft& raft, base::NodeId from, const cores::RaftMessage& message) {
  received_ = &message;
  sender_ = from;
  // A leader that removed itself leads its term to the end, and hands over (dissertation, 4.2.2).
  const bool leads_here = from == before_.leader && message.term == before_.term;
  from_stranger_ = !leads_here && !oracle_->may_belong(from, before_.commit);
  if (from_stranger_) {
    kernel_->hit("message of a stranger");
    check_unmoved(raft, "raft-stranger", "a message of a stranger");
  }
  const auto* const vote = std::get_if<cores::RaftVoteRequest>(&message.body);
  if (vote != nullptr && vote->pre) check_unmoved(raft, "raft-pre-vote", "a pre-vote");
  // A rival of the same term has no more right to it.
  const bool rival = vote != nullptr && !vote->pre && vote->asked == before_.term;
  if (rival && before_.role == RaftRole::kCandidate && raft.role() == RaftRole::kFollower)
    violate("raft-standing", "gives up its candidature because another one asks for votes in the same term");
  // A leader of the term that is left counts on what the node acknowledged in it.
  const bool lent = std::holds_alternative<cores::RaftLoan>(message.body) &&
                    (raft.log().last() != before_.last || raft.log().last_term() != before_.last_term);
  if (lent && raft.term() <= std::max(before_.term, message.term))
    violate("log-kept", fmt::format("borrows entries and stays in term {}", raft.term()));
  if (lent && std::pair(raft.log().last_term(), raft.log().last()) < std::pair(before_.last_term, before_.last))
    violate("log-kept", "borrows entries and gives up more than it gets");
  const bool leads = std::holds_alternative<cores::RaftAppend>(message.body) ||
                     std::holds_alternative<cores::RaftSnapshotPart>(message.body);
  if (leads && raft.leader() == from && raft.term() == message.term) leader_heard_ = now_;
  if (const auto* reply = std::get_if<cores::RaftAppendReply>(&message.body)) {
    std::deque<RaftIndex>& flying = flying_[from];
    if (!reply->accepted) flying.clear();
    std::erase_if(flying, [reply](RaftIndex last) { return last <= reply->index; });
  } else if (std::holds_alternative<cores::RaftSnapshotReply>(message.body)) {
    flying_[from].clear();
  }
}

void RaftConduct::woken(const cores::Raft& raft) {
  const bool asks = raft.role() == RaftRole::kPreCandidate || raft.role() == RaftRole::kCandidate;
  if (before_.role == RaftRole::kFollower && asks && leader_heard_ && now_ - *leader_heard_ < options_.election_timeout)
    violate("raft-timing", fmt::format("asks for votes {:.0f} ms after it heard its leader",
                                       base::seconds(now_ - *leader_heard_) * 1000));
  if (transfer_ && raft.leads() && raft.term() == before_.term && now_ >= *transfer_ + options_.election_timeout)
    late_transfer_ = true;
}

void RaftConduct::proposed(const cores::Raft& raft) {
  if (raft.log().last() == before_.last) return;
  if (raft.log().last() - raft.commit() > options_.uncommitted_entries)
    violate("27", fmt::format("holds {} uncommitted entries and takes one more proposal; {} are allowed",
                              before_.last - raft.commit(), options_.uncommitted_entries));
  if (raft.log().bytes_behind(raft.commit()) > options_.uncommitted_bytes)
    violate("27", fmt::format("holds {} uncommitted bytes; {} are allowed", raft.log().bytes_behind(raft.commit()),
                              options_.uncommitted_bytes));
  if (transfer_) violate("raft-transfer", "takes a proposal while leadership is being handed over");
}

void RaftConduct::changed(const cores::Raft& raft, const cores::RaftChange& change) {
  if (raft.log().last() == before_.last) return;
  if (transfer_) violate("raft-transfer", "changes members while leadership is being handed over");
  // Until then an earlier leader's change may be under way that this one has not heard of.
  if (raft.log().term_at(before_.commit) != raft.term())
    violate("raft-members", fmt::format("changes members before an entry of its term {} is committed", raft.term()));
  const cores::RaftMembers& earlier = raft.log().members_at(raft.log().last() - 1);
  using Kind = cores::RaftChange::Kind;
  const bool possible = change.kind == Kind::kAddLearner ? !earlier.contains(change.node)
                        : change.kind == Kind::kPromote  ? earlier.is_learner(change.node)
                                                         : earlier.contains(change.node);
  const bool done = change.kind == Kind::kAddLearner ? raft.members().is_learner(change.node)
                    : change.kind == Kind::kPromote  ? raft.members().is_voter(change.node)
                                                     : !raft.members().contains(change.node);
  if (!possible || !done)
    violate("raft-members",
            fmt::format("takes a change of node {} that cannot be made or makes another", base::number(change.node)));
  if (change.kind != Kind::kPromote) return;
  const RaftIndex match = raft.match_of(change.node).value_or(0);
  if (match + options_.promotion_lag < before_.last)
    violate("raft-members", fmt::format("makes node {} a voter that has {} of {} entries", base::number(change.node),
                                        match, before_.last));
}

void RaftConduct::compacted(const cores::Raft& raft) {
  const RaftIndex kept = raft.log().snapshot().index - (raft.log().first() - 1);
  if (kept > options_.kept_entries)
    violate("27", fmt::format("keeps {} entries behind its snapshot; {} are allowed", kept, options_.kept_entries));
}

void RaftConduct::disk_failed(const cores::Raft& raft) {
  if (raft.role() != RaftRole::kStopped) violate("log-kept", "does not stop though a write failed");
  if (raft.leader() != base::kNoNode) violate("raft-standing", "names a leader though it has stopped");
}

void RaftConduct::takes(const cores::Raft& raft, const cores::RaftEffects& effects) {
  if (raft.role() == RaftRole::kStopped && !(effects.writes.empty() && effects.sends.empty()))
    violate("log-kept", "goes on after a write failed");
  if (!effects.standings.empty()) told_ = effects.standings.back();
  const bool asks = std::ranges::any_of(effects.sends, [](const cores::RaftSend& send) {
    return std::holds_alternative<cores::RaftVoteRequest>(send.message.body);
  });
  if (asks) check_candidate(raft);
  for (const cores::RaftSend& send : effects.sends) {
    if (!std::holds_alternative<cores::RaftTimeoutNow>(send.message.body)) continue;
    told_to_lead_ = true;
    if (before_.role == RaftRole::kLeader && !raft.leads()) check_successor(raft, send.to);
  }
  if (raft.leads() && before_.role != RaftRole::kLeader)
    for (const cores::RaftSend& send : effects.sends) greeted_.insert(send.to);
  if (received_ == nullptr) return;
  for (const cores::RaftSend& send : effects.sends) {
    if (from_stranger_ && send.to == sender_) violate("raft-stranger", "answers a stranger");
    const auto* const reply = std::get_if<cores::RaftAppendReply>(&send.message.body);
    const auto* const append = std::get_if<cores::RaftAppend>(&received_->body);
    // Overclaim: an acknowledgement speaks of the entries of its request, never of the follower's own tail.
    if (reply != nullptr && append != nullptr && reply->accepted && send.to == sender_ &&
        reply->index > append->prev_index + append->entries.size())
      violate("log-kept", fmt::format("acknowledges entry {} of an append that ends at {}", reply->index,
                                      append->prev_index + append->entries.size()));
    const auto* const vote = std::get_if<cores::RaftVoteReply>(&send.message.body);
    const auto* const request = std::get_if<cores::RaftVoteRequest>(&received_->body);
    if (vote != nullptr && request != nullptr && vote->granted && !request->transfer && heard_lately())
      violate("raft-timing", fmt::format("votes for node {} while it hears its leader, node {}", base::number(send.to),
                                         base::number(before_.leader)));
  }
}

void RaftConduct::leaves(const cores::Raft& raft, base::NodeId to, const cores::RaftMessage& message,
                         std::size_t bytes) {
  if (bytes > cores::kRaftMaxMessageBytes) violate("27", fmt::format("sends a message of {} bytes", bytes));
  // A member that was removed and added again starts anew.
  const std::pair leadership(raft.term(), raft.log().members_index());
  if (std::exchange(flying_in_, leadership) != leadership) flying_.clear();
  if (const auto* append = std::get_if<cores::RaftAppend>(&message.body)) {
    check_append(*append);
    if (append->entries.empty() || message.term != raft.term()) return;
    std::deque<RaftIndex>& flying = flying_[to];
    flying.push_back(append->entries.back().index);
    // One more than the window: a first message that was lost is given up by the core without a word.
    if (flying.size() > options_.window + 1)
      violate("27", fmt::format("has {} appends under way to node {}; {} are allowed", flying.size(), base::number(to),
                                options_.window));
  } else if (const auto* part = std::get_if<cores::RaftSnapshotPart>(&message.body)) {
    flying_[to].clear();
    if (part->data.size() > options_.snapshot_part_bytes)
      violate("27", fmt::format("sends {} bytes of a snapshot at once; {} are allowed", part->data.size(),
                                options_.snapshot_part_bytes));
  }
}

void RaftConduct::answered(cores::RaftRequest request) {
  if (request == transfer_request_) transfer_.reset();
}

// A refusal names its reason, and that must be so.
void RaftConduct::refused(const cores::Raft& raft, cores::RaftRefusal refusal, const cores::RaftChange* change) {
  using cores::RaftRefusal;
  if (refusal == RaftRefusal::kNotLeader && raft.leads()) violate("log-progress", "leads and denies it");
  if (change == nullptr) return;
  const cores::RaftMembers& members = raft.members();
  const bool promotes = change->kind == cores::RaftChange::Kind::kPromote;
  const bool opened = raft.log().term_at(raft.commit()) == raft.term();
  const bool untrue =
      (refusal == RaftRefusal::kAlreadyMember &&
       !(promotes ? members.is_voter(change->node) : members.contains(change->node))) ||
      (refusal == RaftRefusal::kNotMember &&
       (promotes ? members.is_learner(change->node) : members.contains(change->node))) ||
      (refusal == RaftRefusal::kLastVoter && members.voters.size() > 1) ||
      (refusal == RaftRefusal::kChangeUnderWay && opened && raft.log().members_index() <= raft.commit());
  if (untrue)
    violate("raft-members",
            fmt::format("refuses to change node {} for a reason that is none", base::number(change->node)));
}

void RaftConduct::reads_waiting(std::size_t count) {
  if (count > options_.pending_reads)
    violate("27", fmt::format("lets {} reads wait; {} are allowed", count, options_.pending_reads));
}

void RaftConduct::transfers(const cores::Raft& raft, base::NodeId to, cores::RaftRequest request) {
  transfer_ = now_;
  transfer_request_ = request;
  if (!raft.members().is_voter(to))
    violate("raft-transfer", fmt::format("hands leadership over to node {}, which is no voter", base::number(to)));
  if (raft.match_of(to) == raft.log().last() && !told_to_lead_)
    violate("raft-transfer", fmt::format("does not tell node {} to lead, which has every entry", base::number(to)));
  // Four times, for its clock may run at half speed and what it heard last may have been sent as late as the crash.
  if (oracle_->down_for(to) > 4 * options_.election_timeout)
    violate("raft-transfer", fmt::format("hands leadership over to node {}, which is long down", base::number(to)));
}

void RaftConduct::rests(const cores::Raft& raft, base::Instant now) {
  if (std::exchange(late_transfer_, false) && transfer_) violate("raft-timing", "has not given up a transfer after T");
  const cores::RaftStanding standing{raft.role(), raft.term(), raft.leader()};
  if (!told_) told_ = standing;
  if (*told_ != standing) violate("raft-standing", "has changed its role, term or leader without a word");
  if (raft.role() == RaftRole::kStopped) return;
  const bool voter = raft.members().is_voter(self_);
  const base::Duration longest = raft.leads() ? options_.heartbeat : 2 * options_.election_timeout;
  if ((raft.leads() || voter) && raft.deadline() > now + longest)
    violate("raft-timing", "has nothing to do for longer than its time-outs allow");
  if (!raft.leads() && voter) check_waiting(raft, now);
  if (raft.leads() && before_.role != RaftRole::kLeader) check_greetings(raft);
  if (raft.leads()) check_caught_up(raft, now);
}

// Of a leader that has heard a majority lately, as its next deadline tells, for it steps down when it has not.
void RaftConduct::check_caught_up(const cores::Raft& raft, base::Instant now) {
  const bool opened = raft.log().term_at(raft.commit()) == raft.term();
  if (raft.caught_up(now) && !opened)
    violate("5", fmt::format("calls itself caught up before an entry of its term {} is committed", raft.term()));
  if (!raft.caught_up(now) && opened && raft.deadline() > now)
    violate("raft-standing", fmt::format("does not know that it is caught up in its term {}", raft.term()));
}

// Of a leader that was removed: the voter that has most follows it.
void RaftConduct::check_successor(const cores::Raft& raft, base::NodeId successor) {
  const bool most = std::ranges::all_of(raft.members().voters,
                                        [&](base::NodeId voter) { return known_of(voter) <= known_of(successor); });
  if (!raft.members().is_voter(successor) || !most)
    violate("raft-transfer",
            fmt::format("asks node {} to lead after it, which is no voter or lacks entries that another has",
                        base::number(successor)));
}

RaftIndex RaftConduct::known_of(base::NodeId node) const {
  const auto match = matches_.find(node);
  const RaftIndex known = match == matches_.end() ? 0 : match->second;
  const auto* const reply =
      received_ != nullptr && sender_ == node ? std::get_if<cores::RaftAppendReply>(&received_->body) : nullptr;
  return reply != nullptr && reply->accepted ? std::max(known, reply->index) : known;
}

RaftConduct::Standing RaftConduct::standing(const cores::Raft& raft) {
  return {.role = raft.role(),
          .term = raft.term(),
          .vote = raft.vote(),
          .leader = raft.leader(),
          .last = raft.log().last(),
          .last_term = raft.log().last_term(),
          .commit = raft.commit()};
}

bool RaftConduct::heard_lately() const {
  const bool follows = before_.role == RaftRole::kFollower && before_.leader != base::kNoNode;
  return follows && leader_heard_ && now_ - *leader_heard_ < options_.election_timeout;
}

void RaftConduct::check_unmoved(const cores::Raft& raft, const char* law, const char* cause) {
  const Standing now = standing(raft);
  if (now.term == before_.term && now.vote == before_.vote && now.last == before_.last && now.commit == before_.commit)
    return;
  violate(law, fmt::format("lets {} of node {} change it: term {} to {}, entries {} to {}, commit {} to {}", cause,
                           base::number(sender_), before_.term, now.term, before_.last, now.last, before_.commit,
                           now.commit));
}

void RaftConduct::check_append(const cores::RaftAppend& append) {
  // One entry may be as large as it likes; the others share what it leaves.
  std::size_t room = options_.batch_bytes;
  bool fits = append.entries.size() <= options_.batch_entries;
  for (std::size_t i = 0; i < append.entries.size(); ++i) {
    const std::size_t bytes = append.entries[i].bytes();
    fits = fits && (i == 0 || bytes <= room);
    room -= std::min(room, bytes);
  }
  if (!fits)
    violate("27", fmt::format("sends {} entries at once; {} with {} bytes are allowed", append.entries.size(),
                              options_.batch_entries, options_.batch_bytes));
}

// A learner, or somebody whose removal is committed as far as it knows, may not lead and so has nothing to ask for.
void RaftConduct::check_candidate(const cores::Raft& raft) {
  if (!raft.members().is_voter(self_) && !oracle_->members_at(raft.commit()).is_voter(self_))
    violate("raft-members", "asks for votes though it is no voter");
}

// Who waits as long as everybody else splits the vote again and again.
void RaftConduct::check_waiting(const cores::Raft& raft, base::Instant now) {
  if (raft.deadline() == due_) return;
  due_ = raft.deadline();
  const base::Duration wait = due_ - now;
  alike_ = wait == wait_ ? alike_ + 1 : 0;
  wait_ = wait;
  if (alike_ >= kTooManyAlike) violate("raft-timing", "draws the same time-out again and again");
}

// Others would go on to ask for votes, so a new leader speaks to all members at once.
void RaftConduct::check_greetings(const cores::Raft& raft) {
  for (const auto* const nodes : {&raft.members().voters, &raft.members().learners})
    for (const base::NodeId node : *nodes)
      if (node != self_ && !greeted_.contains(node))
        violate("raft-timing", fmt::format("leads and says nothing to node {}", base::number(node)));
}

void RaftConduct::violate(const char* law, std::string sentence) {
  kernel_->violate(law, fmt::format("node {} {}", base::number(self_), sentence));
}

}  // namespace muster::sim
