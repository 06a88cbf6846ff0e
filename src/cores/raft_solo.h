// For tests of Raft: one node, to which the test says what it likes and of which it sees every effect. Its disk is
// instant unless held back.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cores/raft.h"

namespace muster::cores {

// T: a follower waits for its leader between once and twice this long.
constexpr base::Duration kT = RaftOptions{}.election_timeout;

constexpr base::NodeId node(std::uint64_t number) {
  return base::NodeId{number};
}

// A log of entries with these terms, from index 1.
inline RaftImage image_of(std::vector<base::NodeId> voters, std::vector<RaftTerm> terms, RaftHardState hard) {
  RaftImage image = founding_image(std::move(voters));
  image.hard = hard;
  for (const RaftTerm term : terms) {
    const RaftIndex index = image.entries.size() + 1;
    image.entries.push_back({.index = index,
                             .term = term,
                             .kind = RaftEntryKind::kCommand,
                             .command = std::to_string(index),
                             .members = {}});
  }
  return image;
}

inline RaftEntry command_at(RaftIndex index, RaftTerm term, std::string command = "x") {
  return {.index = index, .term = term, .kind = RaftEntryKind::kCommand, .command = std::move(command), .members = {}};
}

inline RaftEntry members_at(RaftIndex index, RaftTerm term, std::vector<base::NodeId> voters) {
  return {
      .index = index, .term = term, .kind = RaftEntryKind::kMembers, .command = {}, .members = {std::move(voters), {}}};
}

inline RaftAppend append_of(RaftIndex prev_index, RaftTerm prev_term, std::vector<RaftEntry> entries,
                            RaftIndex commit = 0) {
  return {.prev_index = prev_index,
          .prev_term = prev_term,
          .commit = commit,
          .members_index = 0,
          .stamp = {},
          .round = 0,
          .entries = std::move(entries)};
}

inline RaftVoteRequest vote_for(RaftTerm asked, RaftIndex last_index, RaftTerm last_term, bool pre = false) {
  return {.pre = pre,
          .transfer = false,
          .asked = asked,
          .last_index = last_index,
          .last_term = last_term,
          .commit = 0,
          .members_index = 0};
}

class RaftSolo {
 public:
  explicit RaftSolo(RaftImage image, RaftOptions options = {}, base::NodeId self = node(1))
      : raft(self, options, 1, std::move(image), now) {
    settle();
  }

  base::Instant now{std::chrono::seconds(1000)};
  Raft raft;
  bool disk_held = false;  // writes are taken and not confirmed
  std::vector<RaftWrite> writes;
  std::vector<RaftSend> sends;
  std::vector<RaftApply> applies;
  std::vector<RaftAnswer> answers;
  std::vector<RaftStanding> standings;

  void settle() {
    for (RaftEffects effects = raft.take(); !effects.empty(); effects = raft.take()) {
      keep(effects.writes, writes);
      keep(effects.sends, sends);
      keep(effects.applies, applies);
      keep(effects.answers, answers);
      keep(effects.standings, standings);
      if (!disk_held && !writes.empty()) raft.persisted(writes.back().ticket, now);
    }
  }

  void hear(std::uint64_t from, RaftTerm term, decltype(RaftMessage::body) body) {
    raft.receive(node(from), {term, std::move(body)}, now);
    settle();
  }

  void pass(base::Duration time) {
    const base::Instant end = now + time;
    while (raft.deadline() <= end) {
      now = std::max(now, raft.deadline());
      raft.wake(now);
      settle();
    }
    now = end;
  }

  void wait_for_election() { pass(raft.deadline() - now); }

  // Wins the next election with the vote of `voter`.
  void lead(std::uint64_t voter = 2) {
    wait_for_election();
    hear(voter, raft.term(), RaftVoteReply{.pre = true, .granted = true, .asked = raft.term() + 1});
    hear(voter, raft.term(), RaftVoteReply{.pre = false, .granted = true, .asked = raft.term()});
  }

  // The follower accepts all that the leader has sent.
  void acknowledge(std::uint64_t from, RaftIndex index) {
    hear(from, raft.term(),
         RaftAppendReply{
             .accepted = true, .index = index, .hint_index = index, .hint_term = 0, .stamp = now, .round = 0});
  }

  template <class Body>
  std::optional<Body> last_sent(std::uint64_t to) const {
    std::optional<Body> found;
    for (const RaftSend& send : sends) {
      if (send.to == node(to) && std::holds_alternative<Body>(send.message.body))
        found = std::get<Body>(send.message.body);
    }
    return found;
  }

  template <class Body>
  std::size_t count_sent() const {
    std::size_t count = 0;
    for (const RaftSend& send : sends) count += std::holds_alternative<Body>(send.message.body) ? 1 : 0;
    return count;
  }

 private:
  template <class Values>
  static void keep(Values& from, Values& to) {
    for (auto& value : from) to.push_back(std::move(value));
    from.clear();
  }
};

}  // namespace muster::cores
