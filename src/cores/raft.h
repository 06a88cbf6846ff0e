// Raft (Ongaro, dissertation of 2014) without IO: pre-vote, check-quorum, single-server membership changes with
// learners, snapshots in parts, leadership transfer, read index. Fed with messages and the time, it gives back effects;
// the owner calls take() after every call and deadline() after that. One thread. After a failed write the core is
// stopped for good: the owner discards the messages that wait for tickets, too.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/random.h"
#include "cores/options.h"
#include "cores/raft_effects.h"
#include "cores/raft_log.h"
#include "cores/raft_progress.h"

namespace muster::cores {

class Raft {
 public:
  // `image` is what the disk holds (raft_journal.h). The state machine starts empty: take() gives it the snapshot.
  Raft(base::NodeId self, const RaftOptions& options, std::uint64_t seed, RaftImage image, base::Instant now);

  void receive(base::NodeId from, const RaftMessage& message, base::Instant now);
  void wake(base::Instant now);                          // at deadline(), or at any time
  void persisted(RaftTicket ticket, base::Instant now);  // this write and all before it are durable
  void disk_failed(base::Instant now);                   // fail-stop

  // Each request is answered exactly once, unless the process ends; who does not lead answers with the leader's name.
  RaftRequest propose(std::string command, base::Instant now);
  RaftRequest read(base::Instant now);
  RaftRequest change(const RaftChange& change, base::Instant now);
  RaftRequest transfer(base::NodeId to, base::Instant now);

  // `state` is the state machine's after applying `index`. False if that index was not handed out to be applied, is
  // not behind the last snapshot, or the state is larger than kRaftMaxSnapshotBytes; then nothing happens.
  bool compact(RaftIndex index, std::string state);

  RaftEffects take();
  bool quiet() const { return !stirred_; }  // not called since take(), which would give nothing
  base::Instant deadline() const;
  base::NodeId self() const { return self_; }
  RaftRole role() const { return role_; }
  bool leads() const { return role_ == RaftRole::kLeader; }
  RaftTerm term() const { return hard_.term; }
  base::NodeId vote() const { return hard_.vote; }
  base::NodeId leader() const { return leader_; }
  RaftIndex commit() const { return commit_; }
  const RaftLog& log() const { return log_; }
  const RaftMembers& members() const { return log_.members(); }
  bool members_committed() const { return log_.members_index() <= commit_; }
  // A leader with a committed entry of its term; or a follower that had all this one had committed less than 2T ago.
  bool caught_up(base::Instant now) const;

  // Leader: when the last message that the member answered had been sent, or when leadership began.
  std::optional<base::Instant> silent_since(base::NodeId node) const;
  // Leader: the last entry that the member holds durably.
  std::optional<RaftIndex> match_of(base::NodeId node) const;

 private:
  struct Proposal {
    RaftRequest request;
    RaftIndex index;
  };
  struct PendingRead {
    RaftRequest request;
    std::uint64_t round;  // confirmed by a majority's answers to messages of this round or a later one
    RaftIndex index;
  };
  struct Transfer {
    base::NodeId to;
    RaftRequest request;
    base::Instant due;
  };
  struct Incoming {
    RaftSnapshot snapshot;
    std::uint64_t total_bytes;
    std::uint64_t total_hash;
    std::string bytes;
  };

  // raft.cpp
  bool enter(base::Instant now);
  RaftTicket write(decltype(RaftWrite::body) body);
  void write_hard(RaftTerm term, base::NodeId vote);
  void write_entries();
  void send(base::NodeId to, decltype(RaftMessage::body) body, RaftTicket after = 0);
  void note_standing();
  RaftRequest refuse(RaftRefusal refusal);
  void answer(RaftRequest request, RaftOutcome outcome, RaftIndex index = 0);
  void abandon_requests();
  bool is_voter() const { return members().is_voter(self_); }
  bool may_lead() const;
  bool full(std::size_t more_bytes) const;
  bool hears_leader() const;
  bool member(base::NodeId node) const;
  bool outsider(base::NodeId from, RaftTerm term, RaftIndex members_index) const;
  bool follow(base::NodeId from, RaftTerm term, RaftIndex members_index);
  bool overtaken(base::NodeId from, RaftTerm term);
  void become_follower(RaftTerm term, base::NodeId leader);
  void commit_to(RaftIndex index);

  // raft_election.cpp
  void reset_election_due();
  void election_due();
  void ask_before_election();
  void begin_election(bool transfer);
  void request_votes(const RaftVoteRequest& request);
  void count_votes();
  void become_leader();
  bool up_to_date(RaftIndex index, RaftTerm term) const;
  void on(base::NodeId from, RaftTerm term, const RaftVoteRequest& request);
  void on(base::NodeId from, RaftTerm term, const RaftVoteReply& reply);
  void on(base::NodeId from, RaftTerm term, const RaftTimeoutNow& request);

  // raft_lending.cpp
  void lend(base::NodeId to, const RaftVoteRequest& request);
  void on(base::NodeId from, RaftTerm term, const RaftLoan& loan);

  // raft_follower.cpp
  void on(base::NodeId from, RaftTerm term, const RaftAppend& append);
  bool storable(const RaftAppend& append, RaftTerm term) const;
  RaftIndex store(RaftIndex behind, std::span<const RaftEntry> entries);
  std::size_t room_for(RaftIndex behind, const std::vector<RaftEntry>& entries) const;
  RaftAppendReply mismatch(RaftIndex prev_index, RaftTerm prev_term) const;

  // raft_replication.cpp
  void on(base::NodeId from, RaftTerm term, const RaftAppendReply& reply);
  void refused(RaftProgress& progress, const RaftAppendReply& reply);
  void heard(RaftProgress& progress, base::Instant stamp, std::uint64_t round);
  void replicate(base::NodeId to, RaftProgress& progress);
  void send_append(base::NodeId to, RaftProgress& progress, bool with_entries);
  void heartbeat();
  void heartbeat(base::NodeId to, RaftProgress& progress);
  void lead_on();
  void advance_commit();
  base::Instant quorum_acked() const;
  base::Instant quorum_due() const;
  void start_read_round();
  void confirm_reads();

  // raft_membership.cpp
  RaftRefusal changed(const RaftChange& change, RaftMembers& members) const;
  void follow_members();
  void retire();
  void hand_over();
  void end_transfer(RaftRefusal refusal);

  // raft_snapshot.cpp
  void begin_snapshot(RaftProgress& progress);
  void send_part(base::NodeId to, RaftProgress& progress, bool with_data);
  void checkpoint();
  std::uint64_t gather(const RaftSnapshotPart& part);
  void on(base::NodeId from, RaftTerm term, const RaftSnapshotPart& part);
  void on(base::NodeId from, RaftTerm term, const RaftSnapshotReply& reply);

  base::NodeId self_;
  RaftOptions options_;
  base::Random random_;
  base::Instant now_;
  RaftHardState hard_;
  RaftLog log_;
  RaftRole role_ = RaftRole::kFollower;
  base::NodeId leader_ = base::kNoNode;
  RaftIndex commit_ = 0;
  RaftIndex handed_out_ = 0;        // entries up to here were given out to be applied
  bool snapshot_to_apply_ = false;  // and the snapshot before them was not yet

  RaftEffects effects_;
  bool stirred_ = true;  // called since the last take(): only then can there be anything to do or to tell
  RaftStanding told_;
  RaftTicket last_ticket_ = 0;
  RaftTicket durable_ticket_ = 0;
  RaftTicket hard_ticket_ = 0;  // of the latest term and vote
  RaftRequest last_request_ = 0;

  base::Instant election_due_ = base::kNever;
  base::Instant started_;
  base::Instant leader_heard_;
  std::optional<base::Instant> caught_up_at_;
  std::set<base::NodeId> votes_;
  std::uint32_t fruitless_ = 0;  // elections tried since a leader was heard
  std::optional<Incoming> incoming_;

  // Of a leader.
  std::map<base::NodeId, RaftProgress> progress_;
  mutable std::optional<base::Instant> quorum_acked_;  // as last counted; unknown after what may move it
  base::Instant leader_since_;
  base::Instant heartbeat_due_;
  RaftIndex opening_ = 0;  // the index of the term's no-op
  std::deque<Proposal> proposals_;
  std::deque<PendingRead> reads_;
  std::uint64_t round_ = 0;
  std::optional<Transfer> transfer_;
};

}  // namespace muster::cores
