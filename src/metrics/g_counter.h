// A counter that only grows, kept by several replicas (a G-counter): each raises its own entry, merging takes the
// larger of each, so replicas agree whatever the order, loss and repetition of what they tell each other. A plain
// value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metrics/options.h"

namespace muster::metrics {

// Replica is ordered and small: a node, or a part with its attempt.
template <class Replica>
class GCounter {
 public:
  using Entry = std::pair<Replica, std::uint64_t>;

  // Sets a replica's cumulative count if that is more than is known. False, and nothing changes, if it is one replica
  // too many (kMaxReplicas).
  bool raise(const Replica& replica, std::uint64_t count) {
    const auto at = find(replica);
    if (at != entries_.end() && at->first == replica) {
      Entry& entry = entries_[static_cast<std::size_t>(at - entries_.begin())];
      entry.second = std::max(entry.second, count);
      return true;
    }
    if (entries_.size() >= kMaxReplicas) return false;
    entries_.emplace(at, replica, count);
    return true;
  }

  // False, and nothing changes, if both together have more than kMaxReplicas.
  bool merge(const GCounter& other) {
    std::vector<Entry> merged;
    merged.reserve(entries_.size() + other.entries_.size());
    auto mine = entries_.begin();
    for (const Entry& theirs : other.entries_) {
      while (mine != entries_.end() && mine->first < theirs.first) merged.push_back(*mine++);
      if (mine != entries_.end() && mine->first == theirs.first) {
        merged.emplace_back(theirs.first, std::max(theirs.second, (mine++)->second));
      } else {
        merged.push_back(theirs);
      }
    }
    merged.insert(merged.end(), mine, entries_.end());
    if (merged.size() > kMaxReplicas) return false;
    entries_ = std::move(merged);
    return true;
  }

  std::uint64_t count(const Replica& replica) const {
    const auto at = find(replica);
    return at != entries_.end() && at->first == replica ? at->second : 0;
  }

  // The sum over all replicas; stays at the largest number rather than wrap around.
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) sum = entry.second > UINT64_MAX - sum ? UINT64_MAX : sum + entry.second;
    return sum;
  }

  std::span<const Entry> entries() const { return entries_; }  // ascending; valid until the counter changes

  bool operator==(const GCounter&) const = default;

 private:
  // Where the replica is, or would be.
  typename std::vector<Entry>::const_iterator find(const Replica& replica) const {
    return std::lower_bound(entries_.begin(), entries_.end(), replica,
                            [](const Entry& entry, const Replica& wanted) { return entry.first < wanted; });
  }

  std::vector<Entry> entries_;  // ascending by replica
};

}  // namespace muster::metrics
