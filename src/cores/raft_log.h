// The log of one Raft node in memory: a snapshot, entries, the configurations in them, and how far all that is durable.
// A part of the Raft core; knows indices and tickets, nothing of roles or messages.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cores/raft_effects.h"

namespace muster::cores {

class RaftLog {
 public:
  explicit RaftLog(RaftImage image);  // what was read from disk, and so is durable

  RaftIndex first() const { return base_ + 1; }  // of the oldest entry in memory
  RaftIndex last() const { return base_ + entries_.size(); }
  RaftTerm last_term() const { return entries_.empty() ? base_term_ : entries_.back().entry.term; }

  // Of an entry in memory or the one just before them; nothing for others.
  std::optional<RaftTerm> term_at(RaftIndex index) const;
  bool holds(RaftIndex index, RaftTerm term) const { return term_at(index) == term; }

  const RaftEntry& at(RaftIndex index) const;  // first() ≤ index ≤ last()

  // Entries from `from` on, as many as the limits allow and at least one if there is any.
  std::vector<RaftEntry> batch(RaftIndex from, std::size_t entries, std::size_t bytes) const;

  // Bytes of the entries behind `index`, which is ≥ first() - 1.
  std::size_t bytes_behind(RaftIndex index) const;

  void append(RaftEntry entry);   // entry.index = last() + 1
  void truncate(RaftIndex from);  // first() ≤ from

  // The configuration in use is the latest in the log, committed or not: truncation brings the earlier one back.
  const RaftMembers& members() const { return configurations_.back().members; }
  RaftIndex members_index() const { return configurations_.back().index; }

  // The configuration in force at `index`, its entry, and whether a node belongs to that one or to a later one.
  const RaftMembers& members_at(RaftIndex index) const { return configuration_at(index).members; }
  RaftIndex members_index_at(RaftIndex index) const { return configuration_at(index).index; }
  bool member_since(RaftIndex index, base::NodeId node) const;

  const RaftSnapshot& snapshot() const { return snapshot_; }

  // Takes `state` as that after `index`, and forgets entries except the last `kept` ones up to it.
  void compact(RaftIndex index, std::string state, std::size_t kept);

  // Takes a snapshot from elsewhere; entries behind it stay if the log holds the snapshot's own last entry.
  void install(RaftSnapshot snapshot);

  // The snapshot and all entries behind it.
  RaftImage image(const RaftHardState& hard) const;

  // Entries up to here have been handed out to be written.
  RaftIndex written() const { return written_; }

  // Everything up to last() was handed out under `ticket`, or under earlier ones.
  void wrote(RaftTicket ticket);
  void persisted(RaftTicket ticket);

  // Entries up to here are on disk, as they are now.
  RaftIndex durable() const { return durable_; }

  // The ticket after which the entry is durable; 0 if it is.
  RaftTicket ticket_of(RaftIndex index) const;

 private:
  struct Slot {
    RaftEntry entry;
    std::size_t bytes_through;  // of all entries ever held up to this one; only differences mean something
  };
  struct Configuration {
    RaftIndex index;
    RaftMembers members;
  };
  struct Unsynced {
    RaftIndex last;
    RaftTicket ticket;
  };

  const Configuration& configuration_at(RaftIndex index) const;
  std::size_t bytes_through(RaftIndex index) const;
  void forget_until(RaftIndex index);

  RaftSnapshot snapshot_;
  RaftIndex base_ = 0;  // the entry just before those in memory
  RaftTerm base_term_ = 0;
  std::size_t base_bytes_ = 0;
  std::deque<Slot> entries_;
  std::deque<Configuration> configurations_;  // the first is that of the snapshot, or of an entry at or before it
  std::deque<Unsynced> unsynced_;             // both fields ascend
  RaftIndex written_ = 0;
  RaftIndex durable_ = 0;
};

}  // namespace muster::cores
