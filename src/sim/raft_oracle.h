// Watches a Raft group from outside: knows every vote sent, every entry that was applied anywhere and what is durable
// on each disk, and compares. Told by the processes at each step; it shares no judgement with the core that it watches.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cores/raft.h"
#include "sim/kernel.h"

namespace muster::sim {

class RaftOracle {
 public:
  explicit RaftOracle(Kernel& kernel) : kernel_(&kernel) {}

  // --- told by the world ---
  // Before everything else.
  void founded(std::vector<base::NodeId> voters);
  void went_down(base::NodeId node) { down_since_[node] = kernel_->elapsed(); }

  // --- told by the processes, as it happens ---
  void recovered(base::NodeId node, const cores::RaftImage& image);
  void durable(base::NodeId node, const cores::RaftWrite& write);
  void leaves(base::NodeId from, base::NodeId to, const cores::RaftMessage& message);
  // The state that the node's state machine has after this entry, as a hash.
  void applied(base::NodeId node, const cores::Raft& raft, const cores::RaftEntry& entry, std::uint64_t state);
  void installed(base::NodeId node, const cores::RaftSnapshot& snapshot, std::uint64_t state);
  // At the end of a turn in which the node applied entries.
  void applied_all(base::NodeId node, const cores::Raft& raft);
  // `op` was proposed, and is now said to be committed at `index`.
  void acknowledged(base::NodeId node, const cores::Raft& raft, std::uint64_t op, cores::RaftIndex index);
  // A read that began when `floor` was the last acknowledged entry is said to be ready.
  void read_ready(base::NodeId node, cores::RaftIndex floor, cores::RaftIndex index);

  // --- asked by the world, after every event ---
  void observe(base::NodeId node, const cores::Raft& raft);

  cores::RaftIndex committed() const { return log_.size(); }
  cores::RaftIndex last_acknowledged() const { return acknowledged_; }
  std::uint64_t acknowledgements() const { return acknowledgements_; }
  cores::RaftTerm highest_term() const { return highest_term_; }
  // The last configuration known to be committed, and all that may follow it.
  const cores::RaftMembers& committed_members() const { return committed_members_; }
  std::vector<cores::RaftMembers> possible_members() const;
  // The configuration in force at a committed entry.
  const cores::RaftMembers& members_at(cores::RaftIndex index) const;
  std::uint64_t state_at(cores::RaftIndex index) const { return log_[index - 1].state; }

  // Whether the node belongs to the configuration in force at `commit`, or to any later one that anybody ever had.
  bool may_belong(base::NodeId node, cores::RaftIndex commit) const;
  base::Duration down_for(base::NodeId node) const;  // zero if it is up

  static std::uint64_t operation_of(const cores::RaftEntry& entry);  // 0 if it is none

 private:
  struct Committed {
    cores::RaftTerm term;
    cores::RaftTerm by;  // the term of the leader who committed it
    std::uint64_t digest;
    std::uint64_t operation;
    std::uint64_t state;
  };
  // What a node's disk holds for certain.
  struct Durable {
    cores::RaftHardState hard;
    cores::RaftIndex base = 0;
    std::deque<cores::RaftTerm> terms;  // of the entries behind base

    bool holds(cores::RaftIndex index, cores::RaftTerm term) const {
      if (index <= base) return true;
      return index - base <= terms.size() && terms[index - base - 1] == term;
    }
    cores::RaftIndex last() const { return base + terms.size(); }
  };
  struct Seen {
    cores::RaftRole role = cores::RaftRole::kFollower;
    cores::RaftTerm term = 0;
    cores::RaftIndex members_index = 0;
    cores::RaftMembers members;
    // The configuration that its log amounts to, as far as it was read.
    cores::RaftMembers in_force;
    cores::RaftIndex read_to = 0;
    std::optional<cores::RaftTerm> read_in;
  };

  void keep_promises(base::NodeId node, Durable& disk, const cores::RaftHardState& hard);
  void check_lost(base::NodeId node, const Durable& before, const Durable& now);
  void vote(base::NodeId voter, cores::RaftTerm term, base::NodeId candidate);
  void offers(cores::RaftTerm term, const cores::RaftAppend& append);
  void check_claim(base::NodeId node, cores::RaftIndex index, std::optional<cores::RaftTerm> term);
  void became_leader(base::NodeId node, const cores::Raft& raft);
  void check_complete(base::NodeId node, const cores::Raft& raft);
  void members_moved(base::NodeId node, const cores::Raft& raft, Seen& seen);
  void check_matches(base::NodeId node, const cores::Raft& raft);
  void check_snapshot(base::NodeId node, const cores::RaftSnapshot& snapshot);
  // The configuration by which a leader must count, read from the entries of its log.
  const cores::RaftMembers& in_force(base::NodeId node, const cores::Raft& raft);
  // How many of the voters have the committed entry on disk.
  std::size_t holders(const cores::RaftMembers& members, cores::RaftIndex index) const;

  Kernel* kernel_;
  std::vector<Committed> log_;      // by index, from 1
  cores::RaftIndex unchecked_ = 0;  // first entry that was applied first in this turn
  cores::RaftMembers committed_members_;
  cores::RaftIndex committed_members_index_ = 0;
  std::map<cores::RaftIndex, std::vector<cores::RaftMembers>> members_seen_;
  std::map<cores::RaftIndex, cores::RaftMembers> configurations_;  // committed, by their index; the founders' at 0
  std::map<base::NodeId, base::Duration> down_since_;
  std::map<base::NodeId, Durable> disks_;
  std::map<base::NodeId, Seen> seen_;
  std::map<cores::RaftTerm, std::pair<base::NodeId, std::uint64_t>> leaders_;  // node and its life
  std::map<std::pair<base::NodeId, cores::RaftTerm>, base::NodeId> votes_;
  std::map<cores::RaftTerm, std::set<base::NodeId>> candidates_;
  std::map<base::NodeId, cores::RaftTerm> spoken_;  // the latest term that left a node
  // The terms of the entries that the leader of the latest term with one has sent, by index.
  std::map<cores::RaftIndex, cores::RaftTerm> offered_;
  cores::RaftTerm offered_in_ = 0;
  std::map<base::NodeId, std::uint64_t> lives_;
  cores::RaftIndex acknowledged_ = 0;
  std::uint64_t acknowledgements_ = 0;
  cores::RaftTerm highest_term_ = 0;
};

// How many voters are a majority of all that are configured, alive or not.
std::size_t quorum_of(const cores::RaftMembers& members);

// A number that differs for entries that differ.
std::uint64_t digest_of(const cores::RaftEntry& entry);

}  // namespace muster::sim
