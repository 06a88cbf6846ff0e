#include "cores/raft.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace muster::cores {

Raft::Raft(base::NodeId self, const RaftOptions& options, std::uint64_t seed, RaftImage image, base::Instant now)
    : self_(self),
      options_(options.within_limits()),
      random_(base::mix(seed) ^ base::number(self)),
      now_(now),
      hard_(image.hard),
      log_(std::move(image)),
      started_(now),
      leader_heard_(now),
      leader_since_(now),
      heartbeat_due_(now) {
  if (!well_formed(members())) std::abort();
  commit_ = handed_out_ = log_.snapshot().index;
  snapshot_to_apply_ = commit_ > 0;
  // The founders' configuration is in no entry: it must be on disk before anything is said on the strength of it.
  const bool founding = hard_ == RaftHardState{} && log_.last() == 0 && !members().voters.empty();
  if (founding) {
    checkpoint();
    hard_ticket_ = last_ticket_;
  }
  told_ = {role_, hard_.term, leader_};
  reset_election_due();
}

void Raft::receive(base::NodeId from, const RaftMessage& message, base::Instant now) {
  if (!enter(now) || from == self_ || from == base::kNoNode || message.term > kRaftMaxTerm) return;
  std::visit([&](const auto& body) { on(from, message.term, body); }, message.body);
}

void Raft::wake(base::Instant now) {
  if (!enter(now)) return;
  if (!leads()) {
    if (now_ >= election_due_) election_due();
    return;
  }
  if (transfer_ && now_ >= transfer_->due) end_transfer(RaftRefusal::kTimedOut);
  if (now_ >= heartbeat_due_) heartbeat();
}

void Raft::persisted(RaftTicket ticket, base::Instant now) {
  if (ticket > last_ticket_ || ticket <= durable_ticket_ || !enter(now)) return;
  durable_ticket_ = ticket;
  log_.persisted(ticket);
  if (role_ == RaftRole::kCandidate) count_votes();
  if (leads()) advance_commit();
}

void Raft::disk_failed(base::Instant now) {
  stirred_ = true;
  now_ = std::max(now_, now);
  if (role_ == RaftRole::kStopped) return;
  if (transfer_) end_transfer(RaftRefusal::kStopped);
  abandon_requests();
  effects_.writes.clear();
  effects_.sends.clear();
  role_ = RaftRole::kStopped;
  leader_ = base::kNoNode;
  note_standing();
}

RaftRequest Raft::propose(std::string command, base::Instant now) {
  if (!enter(now)) return refuse(RaftRefusal::kStopped);
  if (!leads()) return refuse(RaftRefusal::kNotLeader);
  if (transfer_) return refuse(RaftRefusal::kTransferring);
  if (command.size() > kRaftMaxCommandBytes) return refuse(RaftRefusal::kTooLarge);
  if (full(command.size())) return refuse(RaftRefusal::kBusy);
  log_.append({.index = log_.last() + 1,
               .term = hard_.term,
               .kind = RaftEntryKind::kCommand,
               .command = std::move(command),
               .members = {}});
  proposals_.push_back({++last_request_, log_.last()});
  return last_request_;
}

RaftRequest Raft::read(base::Instant now) {
  if (!enter(now)) return refuse(RaftRefusal::kStopped);
  if (!leads()) return refuse(RaftRefusal::kNotLeader);
  if (reads_.size() >= options_.pending_reads) return refuse(RaftRefusal::kBusy);
  // Messages already under way were sent before the read arrived, so only those of the next round prove anything.
  reads_.push_back({++last_request_, round_ + 1, commit_});
  return last_request_;
}

RaftEffects Raft::take() {
  if (!std::exchange(stirred_, false)) return {};
  if (leads()) lead_on();
  write_entries();
  if (snapshot_to_apply_) effects_.applies.emplace_back(log_.snapshot());
  snapshot_to_apply_ = false;
  while (handed_out_ < commit_) effects_.applies.emplace_back(log_.at(++handed_out_));
  return std::exchange(effects_, {});
}

base::Instant Raft::deadline() const {
  if (role_ == RaftRole::kStopped) return base::kNever;
  if (!leads()) return election_due_;
  const base::Instant due = std::min(heartbeat_due_, quorum_due());
  return transfer_ ? std::min(due, transfer_->due) : due;
}

bool Raft::caught_up(base::Instant now) const {
  if (leads()) return commit_ >= opening_ && std::max(now_, now) < quorum_due();
  return role_ == RaftRole::kFollower && caught_up_at_ && now - *caught_up_at_ < 2 * options_.election_timeout;
}

std::optional<base::Instant> Raft::silent_since(base::NodeId node) const {
  const auto found = progress_.find(node);
  return found == progress_.end() ? std::nullopt : std::optional(found->second.acked);
}

std::optional<RaftIndex> Raft::match_of(base::NodeId node) const {
  const auto found = progress_.find(node);
  return found == progress_.end() ? std::nullopt : std::optional(found->second.match);
}

// Every call begins here. Time never runs backwards inside, and a leader that lost its majority finds out before it
// acts, however late it was woken.
bool Raft::enter(base::Instant now) {
  now_ = std::max(now_, now);
  stirred_ = true;
  if (role_ == RaftRole::kStopped) return false;
  if (leads() && now_ >= quorum_due()) become_follower(hard_.term, base::kNoNode);
  return true;
}

RaftTicket Raft::write(decltype(RaftWrite::body) body) {
  effects_.writes.push_back({++last_ticket_, std::move(body)});
  return last_ticket_;
}

void Raft::write_hard(RaftTerm term, base::NodeId vote) {
  hard_ = {term, vote};
  hard_ticket_ = write(hard_);
}

void Raft::write_entries() {
  if (log_.written() == log_.last() || role_ == RaftRole::kStopped) return;
  RaftAppendWrite body;
  for (RaftIndex index = log_.written() + 1; index <= log_.last(); ++index) body.entries.push_back(log_.at(index));
  log_.wrote(write(std::move(body)));
}

// Nothing leaves before the term that it speaks in, and the vote given in it, are durable.
void Raft::send(base::NodeId to, decltype(RaftMessage::body) body, RaftTicket after) {
  after = std::max(after, hard_ticket_);
  if (after <= durable_ticket_) after = 0;
  effects_.sends.push_back({to, after, {hard_.term, std::move(body)}});
}

void Raft::note_standing() {
  const RaftStanding standing{role_, hard_.term, leader_};
  if (standing == told_) return;
  told_ = standing;
  effects_.standings.push_back(standing);
}

RaftRequest Raft::refuse(RaftRefusal refusal) {
  answer(++last_request_, RaftOutcome::kRefused);
  effects_.answers.back().refusal = refusal;
  return last_request_;
}

void Raft::answer(RaftRequest request, RaftOutcome outcome, RaftIndex index) {
  effects_.answers.push_back({.request = request,
                              .outcome = outcome,
                              .refusal = RaftRefusal::kNone,
                              .index = index,
                              .term = hard_.term,
                              .leader = leader_});
}

void Raft::abandon_requests() {
  for (const Proposal& proposal : proposals_) answer(proposal.request, RaftOutcome::kUnknown, proposal.index);
  for (const PendingRead& read : reads_) answer(read.request, RaftOutcome::kUnknown);
  if (transfer_) answer(transfer_->request, RaftOutcome::kHandedOver);
  proposals_.clear();
  reads_.clear();
  transfer_.reset();
}

// A voter; also one whose removal stands in the log and is not committed: it may be the only one that has that entry,
// and nobody with a shorter log would be elected (dissertation, 4.2.2).
bool Raft::may_lead() const {
  return is_voter() || log_.members_at(commit_).is_voter(self_);
}

bool Raft::full(std::size_t more_bytes) const {
  const RaftIndex base = log_.snapshot().index;
  return log_.last() - commit_ >= options_.uncommitted_entries ||
         log_.bytes_behind(commit_) + more_bytes > options_.uncommitted_bytes ||
         log_.last() - base >= options_.log_entries / 2 || log_.bytes_behind(base) > options_.log_bytes / 2;
}

bool Raft::hears_leader() const {
  return leads() || (leader_ != base::kNoNode && now_ - leader_heard_ < options_.election_timeout);
}

// A member of the committed configuration or of a later one: until a removal is committed it may be undone, and then
// the one that was to be removed may be the leader who undoes it.
bool Raft::member(base::NodeId node) const {
  return log_.member_since(commit_, node);
}

// Messages from outside the configuration are dropped, whatever they ask for: a removed member does not know that it
// was removed. One sender outside is genuine, though: a member of a later configuration that has not reached us,
// without whom we might never learn of it. We listen to it only if our own leader is silent.
bool Raft::outsider(base::NodeId from, RaftTerm term, RaftIndex members_index) const {
  if (member(from)) return false;
  if (members_index <= log_.members_index_at(commit_)) return true;
  const bool followed = leader_ == from && hard_.term == term;
  return hears_leader() && !followed;
}

// What every message that only a leader sends has in common; false if it is to be dropped or comes from the past.
bool Raft::follow(base::NodeId from, RaftTerm term, RaftIndex members_index) {
  if (term < hard_.term || outsider(from, term, members_index)) return false;
  const bool same_term = term == hard_.term;
  if (same_term && (leads() || (leader_ != base::kNoNode && leader_ != from))) return false;
  become_follower(term, from);
  leader_heard_ = now_;
  fruitless_ = 0;
  reset_election_due();
  return true;
}

// True if a member's answer shows that its term is later than ours.
bool Raft::overtaken(base::NodeId from, RaftTerm term) {
  if (term <= hard_.term) return false;
  if (member(from)) become_follower(term, base::kNoNode);
  return true;
}

void Raft::become_follower(RaftTerm term, base::NodeId leader) {
  const bool led = leads();
  if (term > hard_.term) write_hard(term, base::kNoNode);
  role_ = RaftRole::kFollower;
  leader_ = leader;
  votes_.clear();
  if (led) {
    abandon_requests();
    progress_.clear();
    caught_up_at_.reset();
    reset_election_due();
  }
  note_standing();
}

void Raft::commit_to(RaftIndex index) {
  if (index <= commit_) return;
  commit_ = index;
  if (incoming_ && incoming_->snapshot.index <= commit_) incoming_.reset();
  for (; !proposals_.empty() && proposals_.front().index <= commit_; proposals_.pop_front()) {
    answer(proposals_.front().request, RaftOutcome::kCommitted, proposals_.front().index);
  }
}

}  // namespace muster::cores
