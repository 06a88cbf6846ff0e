// The ends of the jobs that a ledger has forgotten, so that a late repetition is told the end rather than run again:
// the latest kMaxTombstones of them, found by their job. Part of a ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/options.h"

namespace muster::cluster {

struct Tombstone {
  JobId job{};
  ClientId client{};
  JobState state = JobState::kCompleted;

  bool operator==(const Tombstone&) const = default;
};

class Tombstones {
 public:
  using value_type = Tombstone;

  void push_back(const Tombstone& tombstone) {
    if (rows_.size() == kMaxTombstones) {
      const auto oldest = numbers_.find(rows_.front().job);
      if (oldest->second == first_) numbers_.erase(oldest);
      rows_.pop_front();
      ++first_;
    }
    numbers_.insert_or_assign(tombstone.job, first_ + rows_.size());
    rows_.push_back(tombstone);
  }

  const Tombstone* find(JobId job) const {
    const auto at = numbers_.find(job);
    return at == numbers_.end() ? nullptr : &rows_[at->second - first_];
  }

  // Oldest first.
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  std::size_t size() const { return rows_.size(); }
  bool operator==(const Tombstones& other) const { return rows_ == other.rows_; }

 private:
  std::deque<Tombstone> rows_;
  std::uint64_t first_ = 0;  // number of the first row: they are counted through
  std::map<JobId, std::uint64_t> numbers_;
};

}  // namespace muster::cluster
