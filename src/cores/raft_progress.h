// What a Raft leader knows of one follower, and what it has under way to it. A part of the Raft core.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"
#include "cores/raft_messages.h"

namespace muster::cores {

struct RaftProgress {
  enum class Mode : std::uint8_t {
    kProbe,      // looking for where the logs part: one message at a time
    kReplicate,  // the logs agree: messages follow one another without waiting
    kSnapshot,   // what it lacks is no longer in the log
  };

  Mode mode = Mode::kProbe;
  RaftIndex match = 0;              // it holds all up to here, durably
  RaftIndex next = 1;               // the first entry not sent yet
  bool asked = false;               // kProbe: a message is under way; the next goes with the heartbeat
  std::deque<RaftIndex> in_flight;  // kReplicate: the last index of each message with entries under way
  RaftIndex commit_sent = 0;

  bool answered = false;    // in this term
  base::Instant acked;      // when the latest message that it answered had been sent
  std::uint64_t round = 0;  // of that message
  base::Instant told;       // when it answered last, by its own clock

  // kSnapshot: the one under way stays the same though the leader takes new ones.
  RaftSnapshot snapshot;
  std::uint64_t snapshot_hash = 0;
  std::uint64_t offset = 0;
  bool part_sent = false;
  base::Instant part_sent_at;
};

}  // namespace muster::cores
