// Limits and intervals of the cores room, each with its meaning, unit, default and trade-off. Limits on what is taken
// from outside are constants, equal on every node; what an operator may tune is in RaftOptions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::cores {

// Bytes of one command. Commands are small: bodies are stored elsewhere and named by hash. More would make one entry
// hold up the entries behind it.
constexpr std::size_t kRaftMaxCommandBytes = std::size_t{64} << 10;

// Voters and learners of one group. Each entry is sent to every one of them by the leader alone.
constexpr std::size_t kRaftMaxMembers = 32;

// Entries, and bytes of commands, that one message may carry; also the largest values of batch_entries and batch_bytes.
constexpr std::size_t kRaftMaxBatchEntries = 1024;
constexpr std::size_t kRaftMaxBatchBytes = std::size_t{512} << 10;

// Bytes of one encoded message: a full batch with its numbers. What is longer is refused unread.
constexpr std::size_t kRaftMaxMessageBytes = std::size_t{1} << 20;

// Bytes of state in one snapshot; a receiver keeps as much in memory while it arrives, a sender while it sends.
constexpr std::size_t kRaftMaxSnapshotBytes = std::size_t{256} << 20;

// Bytes of one part of a snapshot; also the largest value of snapshot_part_bytes.
constexpr std::size_t kRaftMaxPartBytes = std::size_t{512} << 10;

// Bytes of one record of the journal: a checkpoint with the largest snapshot and all entries behind it.
constexpr std::size_t kRaftMaxRecordBytes = std::size_t{1} << 30;

// Largest term and index. No group ever gets there; a message that names more is damaged, and taking it for true would
// leave no term for the next election.
constexpr std::uint64_t kRaftMaxTerm = std::uint64_t{1} << 62;

struct RaftOptions {
  // T: a follower that hears no leader for a time drawn from [T, 2T) asks for votes; votes are refused for T after a
  // leader was heard; a leader without answers of a majority steps down after 2T. Shorter: faster take-over; longer:
  // fewer needless elections where messages are delayed or disks are slow.
  base::Duration election_timeout = std::chrono::milliseconds(150);

  // Between two heartbeats of a leader. Several must fit into T, so that one lost message changes nothing.
  base::Duration heartbeat = std::chrono::milliseconds(50);

  // Most entries and bytes of commands in one message. More: fewer messages under load; fewer: smoother links.
  std::size_t batch_entries = 256;
  std::size_t batch_bytes = std::size_t{128} << 10;

  // Messages with entries under way to one follower before the leader waits for an answer. More covers longer links.
  std::size_t window = 16;

  // Entries, and bytes of commands, that a leader holds uncommitted before it refuses proposals as busy.
  std::size_t uncommitted_entries = 4096;
  std::size_t uncommitted_bytes = std::size_t{8} << 20;

  // Entries, and bytes of commands, in memory behind the snapshot. The owner should compact long before; at half of
  // this a leader refuses proposals as busy, and beyond it a follower stores nothing more. It cannot be tied to what is
  // uncommitted: after a restart of everybody nobody knows yet what is committed.
  std::size_t log_entries = std::size_t{1} << 20;
  std::size_t log_bytes = std::size_t{256} << 20;

  // Reads that wait for their round of heartbeats; more are refused as busy.
  std::size_t pending_reads = 1024;

  // Bytes of snapshot in one message; one is under way at a time.
  std::size_t snapshot_part_bytes = std::size_t{64} << 10;

  // Entries that stay in memory behind a snapshot, for followers that are a little late. More: fewer snapshots sent.
  std::size_t kept_entries = 1024;

  // A learner may be made a voter once it lacks at most so many entries and answered within T. A voter that lags far
  // behind makes commits wait.
  std::size_t promotion_lag = 64;

  // The nearest options that the core can work with.
  constexpr RaftOptions within_limits() const {
    RaftOptions options = *this;
    options.election_timeout = std::max<base::Duration>(election_timeout, std::chrono::milliseconds(1));
    options.heartbeat = std::clamp<base::Duration>(heartbeat, std::chrono::microseconds(100), options.election_timeout);
    options.batch_entries = std::clamp<std::size_t>(batch_entries, 1, kRaftMaxBatchEntries);
    options.batch_bytes = std::min(batch_bytes, kRaftMaxBatchBytes);
    options.window = std::max<std::size_t>(window, 1);
    options.snapshot_part_bytes = std::clamp<std::size_t>(snapshot_part_bytes, 1, kRaftMaxPartBytes);
    return options;
  }

  static constexpr RaftOptions lan() { return {}; }
  static constexpr RaftOptions wan() {
    RaftOptions options;
    options.election_timeout *= 5;
    options.heartbeat *= 5;
    return options;
  }
};

}  // namespace muster::cores
