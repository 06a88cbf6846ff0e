// Watches one Raft node from its shell: whether it keeps to the rules that no look at the whole group would show –
// limits of messages and queues, time-outs, what a pre-vote or a stranger may change. One for each life of a node.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cores/raft.h"
#include "sim/raft_oracle.h"

namespace muster::sim {

class RaftConduct {
 public:
  // Both outlive it.
  RaftConduct(Kernel& kernel, const RaftOracle& oracle, const cores::RaftOptions& options)
      : kernel_(&kernel), oracle_(&oracle), options_(options) {}

  // Before every call of the core, with the node's own time.
  void before(const cores::Raft& raft, base::Instant now);
  // After the call, before its effects are taken.
  void received(const cores::Raft& raft, base::NodeId from, const cores::RaftMessage& message);
  void woken(const cores::Raft& raft);
  void proposed(const cores::Raft& raft);
  void changed(const cores::Raft& raft, const cores::RaftChange& change);
  void compacted(const cores::Raft& raft);
  void disk_failed(const cores::Raft& raft);

  // While the effects are carried out.
  void takes(const cores::Raft& raft, const cores::RaftEffects& effects);
  void leaves(const cores::Raft& raft, base::NodeId to, const cores::RaftMessage& message, std::size_t bytes);
  void answered(cores::RaftRequest request);
  // `change` is what was asked for, or null if it was something else.
  void refused(const cores::Raft& raft, cores::RaftRefusal refusal, const cores::RaftChange* change);
  void reads_waiting(std::size_t count);

  // A transfer was accepted and is under way.
  void transfers(const cores::Raft& raft, base::NodeId to, cores::RaftRequest request);

  // When the turn is over.
  void rests(const cores::Raft& raft, base::Instant now);

 private:
  struct Standing {
    cores::RaftRole role = cores::RaftRole::kFollower;
    cores::RaftTerm term = 0;
    base::NodeId vote = base::kNoNode;
    base::NodeId leader = base::kNoNode;
    cores::RaftIndex last = 0;
    cores::RaftTerm last_term = 0;
    cores::RaftIndex commit = 0;
  };

  static Standing standing(const cores::Raft& raft);
  bool heard_lately() const;
  void check_unmoved(const cores::Raft& raft, const char* law, const char* cause);
  void check_append(const cores::RaftAppend& append);
  void check_candidate(const cores::Raft& raft);
  void check_waiting(const cores::Raft& raft, base::Instant now);
  void check_greetings(const cores::Raft& raft);
  void check_caught_up(const cores::Raft& raft, base::Instant now);
  void check_successor(const cores::Raft& raft, base::NodeId successor);
  cores::RaftIndex known_of(base::NodeId node) const;
  void violate(const char* law, std::string sentence);

  Kernel* kernel_;
  const RaftOracle* oracle_;
  const cores::RaftOptions options_;
  base::NodeId self_ = base::kNoNode;
  base::Instant now_;
  Standing before_;
  std::optional<cores::RaftStanding> told_;           // what the owner was told last
  const cores::RaftMessage* received_ = nullptr;      // in this turn
  bool told_to_lead_ = false;                         // somebody, in this turn
  std::map<base::NodeId, cores::RaftIndex> matches_;  // what a leader knew of the others' logs before the call
  std::set<base::NodeId> greeted_;                    // by a leader in the turn in which it became one
  base::NodeId sender_ = base::kNoNode;
  bool from_stranger_ = false;
  std::optional<base::Instant> leader_heard_;
  base::Instant due_;                      // what a follower waited for when it rested last
  base::Duration wait_{};                  // and how long it meant to wait then
  std::uint32_t alike_ = 0;                // so many times it was the same
  std::optional<base::Instant> transfer_;  // since when one is under way
  cores::RaftRequest transfer_request_ = 0;
  bool late_transfer_ = false;                                   // and it should have been given up by now
  std::pair<cores::RaftTerm, cores::RaftIndex> flying_in_;       // the term and configuration in which they fly
  std::map<base::NodeId, std::deque<cores::RaftIndex>> flying_;  // last index of each append that is not answered
};

}  // namespace muster::sim
