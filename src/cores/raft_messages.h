// What members of a Raft group tell one another: plain values; raft_codec.h has their bytes. `stamp` and `round` are
// the sender's own and come back in the answer, so that a leader knows when what was answered had been sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/node_id.h"
#include "base/time.h"

namespace muster::cores {

using RaftTerm = std::uint64_t;   // 0: before the first election
using RaftIndex = std::uint64_t;  // the first entry has 1; 0: none

// The configuration of a group. Both lists ascend, hold nobody twice and have no one in common.
struct RaftMembers {
  std::vector<base::NodeId> voters;
  std::vector<base::NodeId> learners;  // receive entries and count for nothing

  bool is_voter(base::NodeId node) const;
  bool is_learner(base::NodeId node) const;
  bool contains(base::NodeId node) const { return is_voter(node) || is_learner(node); }
  std::size_t majority() const { return voters.size() / 2 + 1; }
  bool operator==(const RaftMembers&) const = default;
};

// Sorted, without duplicates and within the limits: what a configuration from outside must be.
bool well_formed(const RaftMembers& members);

enum class RaftEntryKind : std::uint8_t { kNoop, kCommand, kMembers };

struct RaftEntry {
  RaftIndex index = 0;
  RaftTerm term = 0;
  RaftEntryKind kind = RaftEntryKind::kNoop;
  std::string command;  // of kCommand
  RaftMembers members;  // of kMembers

  std::size_t bytes() const { return command.size() + 8 * (members.voters.size() + members.learners.size()); }
  bool operator==(const RaftEntry&) const = default;
};

// Entries that follow (index, term) one by one, with terms that do not fall and configurations that are well formed.
bool consecutive(RaftIndex index, RaftTerm term, const std::vector<RaftEntry>& entries);

// The state after `index`, and the configuration at it.
struct RaftSnapshot {
  RaftIndex index = 0;
  RaftTerm term = 0;
  RaftMembers members;
  RaftIndex members_index = 0;               // of the entry that the configuration came from
  std::shared_ptr<const std::string> state;  // null counts as empty

  const std::string& bytes() const;
  bool operator==(const RaftSnapshot& other) const;
};

struct RaftVoteRequest {
  bool pre = false;       // "would you?": changes nothing at the receiver
  bool transfer = false;  // the leader asked for this election: also who hears a leader may vote
  RaftTerm asked = 0;     // the term that the vote is for
  RaftIndex last_index = 0;
  RaftTerm last_term = 0;
  RaftIndex commit = 0;
  RaftIndex members_index = 0;  // where the sender's configuration stands in its log
  bool operator==(const RaftVoteRequest&) const = default;
};

struct RaftVoteReply {
  bool pre = false;
  bool granted = false;
  RaftTerm asked = 0;  // of the request
  bool operator==(const RaftVoteReply&) const = default;
};

// Entries behind prev_index; without entries a heartbeat.
struct RaftAppend {
  RaftIndex prev_index = 0;
  RaftTerm prev_term = 0;
  RaftIndex commit = 0;
  RaftIndex members_index = 0;
  base::Instant stamp;
  std::uint64_t round = 0;
  std::vector<RaftEntry> entries;
  base::Instant echo{};  // `told` of the receiver's latest answer: what is said here is no older than that
  bool operator==(const RaftAppend&) const = default;
};

struct RaftAppendReply {
  bool accepted = false;
  RaftIndex index = 0;       // accepted: durable up to here of what the request named; refused: its prev_index
  RaftIndex hint_index = 0;  // accepted: the logs agree up to here, durably or not; refused: at most up to here
  RaftTerm hint_term = 0;    // refused: of the entry at hint_index
  base::Instant stamp;
  std::uint64_t round = 0;
  base::Instant told{};  // when it was sent, by the sender's clock
  bool operator==(const RaftAppendReply&) const = default;
};

// One part of a snapshot; without data a heartbeat while parts are under way.
struct RaftSnapshotPart {
  RaftIndex index = 0;
  RaftTerm snapshot_term = 0;
  RaftMembers members;
  RaftIndex snapshot_members_index = 0;
  RaftIndex members_index = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t total_hash = 0;
  std::uint64_t offset = 0;
  base::Instant stamp;
  std::uint64_t round = 0;
  std::string data;
  bool operator==(const RaftSnapshotPart&) const = default;
};

struct RaftSnapshotReply {
  RaftIndex index = 0;     // of the snapshot
  bool done = false;       // the receiver has all that the snapshot stands for, durably
  std::uint64_t next = 0;  // not done: the offset that it waits for
  base::Instant stamp;
  std::uint64_t round = 0;
  bool operator==(const RaftSnapshotReply&) const = default;
};

// "Ask for votes at once": the last step of handing over leadership.
struct RaftTimeoutNow {
  bool operator==(const RaftTimeoutNow&) const = default;
};

// Entries that a member lends to a candidate whose log is behind its own, when nobody with the longer log can be
// elected (raft_lending.cpp).
struct RaftLoan {
  RaftIndex prev_index = 0;
  RaftTerm prev_term = 0;
  std::vector<RaftEntry> entries;
  bool operator==(const RaftLoan&) const = default;
};

struct RaftMessage {
  RaftTerm term = 0;  // the sender's
  std::variant<RaftVoteRequest, RaftVoteReply, RaftAppend, RaftAppendReply, RaftSnapshotPart, RaftSnapshotReply,
               RaftTimeoutNow, RaftLoan>
      body;
  bool operator==(const RaftMessage&) const = default;
};

}  // namespace muster::cores
