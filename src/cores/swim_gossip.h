// Updates that wait to be spread, one per member, the newest. They leave most important first (join, leave, alive,
// suspect, dead), within a class the least sent and oldest first, and each at most as often as the limit says.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/node_id.h"

namespace muster::cores {

enum class GossipClass : std::uint8_t { kJoin, kLeave, kAlive, kSuspect, kDead };

class GossipQueue {
 public:
  explicit GossipQueue(std::size_t limit) : limit_(limit) {}

  // `encoded` replaces whatever waits about this member. False if the queue was full and its least important update,
  // perhaps this one, was dropped.
  bool add(base::NodeId about, GossipClass importance, std::string encoded);
  void drop(base::NodeId about);

  // Appends updates to `out` while they fit into `room` bytes; each counts as sent once. Those sent `transmits` times
  // are done. Returns how many were appended.
  std::size_t fill(std::string& out, std::size_t room, std::uint32_t transmits);

  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  bool waits(base::NodeId about) const { return places_.contains(about); }
  // The most that any update left here has been sent.
  std::uint32_t most_sent() const { return most_sent_; }

 private:
  struct Rank {
    GossipClass importance;
    std::uint32_t sent;
    std::uint64_t order;

    auto operator<=>(const Rank&) const = default;
  };
  struct Waiting {
    base::NodeId about;
    std::string encoded;
  };

  std::size_t limit_;
  std::uint64_t next_order_ = 0;
  std::uint32_t most_sent_ = 0;
  std::map<Rank, Waiting> waiting_;
  std::unordered_map<base::NodeId, Rank> places_;            // never iterated
  std::vector<std::map<Rank, Waiting>::node_type> leaving_;  // empty between calls, and keeps its memory
};

}  // namespace muster::cores
