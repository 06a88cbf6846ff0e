// What the Raft core asks of its owner, and what it is started from. The owner makes writes durable in their order and
// says persisted(); sends each message once its ticket is durable; applies what is committed; then gives the answers.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/node_id.h"
#include "cores/raft_messages.h"

namespace muster::cores {

// Names a write: rises by one from 1 in every life of a core, never used twice. 0: nothing to wait for.
using RaftTicket = std::uint64_t;

// Names a request of the owner's: rises from 1 in every life of a core.
using RaftRequest = std::uint64_t;

struct RaftHardState {
  RaftTerm term = 0;
  base::NodeId vote = base::kNoNode;  // given in `term`
  bool operator==(const RaftHardState&) const = default;
};

// All that a node keeps: what is read from disk at its start. The entries follow the snapshot's index without a gap.
struct RaftImage {
  RaftHardState hard;
  RaftSnapshot snapshot;
  std::vector<RaftEntry> entries;
  bool operator==(const RaftImage&) const = default;
};

// A group's first voters each start from this, once, with an empty disk. A node that is to be added to a running group
// starts from RaftImage{}. One that lost its disk must come back under another name: its old votes are forgotten.
RaftImage founding_image(std::vector<base::NodeId> voters);

struct RaftTruncate {
  RaftIndex from = 0;  // this entry and all behind it are gone
  bool operator==(const RaftTruncate&) const = default;
};

struct RaftAppendWrite {
  std::vector<RaftEntry> entries;  // each at its own index, the first just behind what is there
  bool operator==(const RaftAppendWrite&) const = default;
};

// Stands for everything: what was written before it may be deleted once it is durable.
struct RaftCheckpoint {
  RaftImage image;
  bool operator==(const RaftCheckpoint&) const = default;
};

struct RaftWrite {
  RaftTicket ticket = 0;
  std::variant<RaftHardState, RaftTruncate, RaftAppendWrite, RaftCheckpoint> body;
  bool operator==(const RaftWrite&) const = default;
};

struct RaftSend {
  base::NodeId to = base::kNoNode;
  RaftTicket after = 0;  // this ticket, and so all before it, must be durable first
  RaftMessage message;
};

// In order: a snapshot replaces the state machine's state, an entry changes it. Entries of every kind are told.
using RaftApply = std::variant<RaftSnapshot, RaftEntry>;

// New members are learners first, and are promoted once they have caught up.
struct RaftChange {
  enum class Kind : std::uint8_t { kAddLearner, kPromote, kRemove };
  Kind kind = Kind::kAddLearner;
  base::NodeId node = base::kNoNode;
};

enum class RaftOutcome : std::uint8_t {
  kCommitted,   // proposal or change: at `index`
  kReadReady,   // what is applied up to `index` answers the read
  kHandedOver,  // transfer: this node leads no more
  kRefused,     // nothing happened, see `refusal`
  kUnknown,     // leadership was lost, or the disk failed: it may be committed yet, or never
};

enum class RaftRefusal : std::uint8_t {
  kNone,
  kNotLeader,       // ask `leader`
  kBusy,            // too much is uncommitted or waiting: try again
  kTooLarge,        // the command exceeds kRaftMaxCommandBytes
  kTransferring,    // leadership is being handed over
  kChangeUnderWay,  // one change at a time, and only once an entry of the own term is committed
  kAlreadyMember,
  kNotMember,
  kNotCaughtUp,  // the learner lacks too many entries, or is silent
  kLastVoter,    // the group would have no voter
  kTooManyMembers,
  kUnreachable,  // transfer: not heard within T
  kTimedOut,     // transfer: given up after T
  kStopped,      // the disk failed
};

struct RaftAnswer {
  RaftRequest request = 0;
  RaftOutcome outcome = RaftOutcome::kRefused;
  RaftRefusal refusal = RaftRefusal::kNone;
  RaftIndex index = 0;
  RaftTerm term = 0;
  base::NodeId leader = base::kNoNode;  // of kRefused and kUnknown: who leads, as far as is known
};

enum class RaftRole : std::uint8_t { kFollower, kPreCandidate, kCandidate, kLeader, kStopped };

// Told whenever role, term or known leader changed.
struct RaftStanding {
  RaftRole role = RaftRole::kFollower;
  RaftTerm term = 0;
  base::NodeId leader = base::kNoNode;
  bool operator==(const RaftStanding&) const = default;
};

struct RaftEffects {
  std::vector<RaftWrite> writes;
  std::vector<RaftSend> sends;
  std::vector<RaftApply> applies;
  std::vector<RaftAnswer> answers;  // after `applies`: a committed proposal is applied by then
  std::vector<RaftStanding> standings;

  bool empty() const {
    return writes.empty() && sends.empty() && applies.empty() && answers.empty() && standings.empty();
  }
};

}  // namespace muster::cores
