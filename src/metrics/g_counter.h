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
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), replica,
                                     [](const Entry& entry, const Replica& wanted) { return entry.first < wanted; });
    if (at != entries_.end() && at->first == replica) {
      at->second = std::max(at->second, count);
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
    for (const Entry& entry : entries_) {
      if (entry.first == replica) return entry.second;
    }
    return 0;
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
  std::vector<Entry> entries_;  // ascending by replica
};

}  // namespace muster::metrics
