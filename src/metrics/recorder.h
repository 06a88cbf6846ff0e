// What one core records latencies into between two snapshots. Owned by that core and touched by no other thread while
// it records; whoever swaps recorders hands a finished one over, adds it to a BasicHistogram and clears it. record()
// costs a few nanoseconds and never allocates; memory that no value falls into is never touched.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include "base/time.h"
#include "metrics/log_linear.h"

namespace muster::metrics {

// Sums of values and squares are integers, so that merging in any order gives the same bits.
using Sum = unsigned __int128;

template <unsigned SubBits>
class Recorder {
 public:
  using Layout = LogLinear<SubBits>;

  Recorder() : counts_(allocate()) {}

  // Negative values count as 0, values above Layout::kMaxValue as that. At most 2^32 - 1 samples of one bucket fit
  // between two clear()s.
  void record(base::Duration value) {
    const std::int64_t signed_ns = value.count();
    std::uint64_t ns = signed_ns < 0 ? 0 : static_cast<std::uint64_t>(signed_ns);
    if (ns > Layout::kMaxValue) ns = Layout::kMaxValue;
    ++counts_[Layout::index(ns)];
    ++count_;
    sum_ += ns;
    sum_squares_ += static_cast<Sum>(ns) * ns;
    if (ns < min_) min_ = ns;
    if (ns > max_) max_ = ns;
  }

  void clear() {
    if (count_ == 0) return;
    for (std::size_t i = first(), end = last() + 1; i != end; ++i) counts_[i] = 0;
    count_ = 0;
    sum_ = 0;
    sum_squares_ = 0;
    min_ = std::numeric_limits<std::uint64_t>::max();
    max_ = 0;
  }

  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }
  base::Duration min() const { return base::Duration(empty() ? 0 : static_cast<std::int64_t>(min_)); }
  base::Duration max() const { return base::Duration(static_cast<std::int64_t>(max_)); }
  Sum sum() const { return sum_; }                  // ns
  Sum sum_squares() const { return sum_squares_; }  // ns²

  // All buckets that hold something lie in [first(), last()]; meaningless when empty.
  std::size_t first() const { return Layout::index(min_); }
  std::size_t last() const { return Layout::index(max_); }
  std::uint32_t count_at(std::size_t bucket) const { return counts_[bucket]; }

 private:
  struct Free {
    void operator()(std::uint32_t* memory) const { std::free(memory); }
  };
  using Counts = std::unique_ptr<std::uint32_t[], Free>;

  static Counts allocate() {
    void* memory = std::calloc(Layout::kBuckets, sizeof(std::uint32_t));
    if (memory == nullptr) throw std::bad_alloc();
    return Counts(static_cast<std::uint32_t*>(memory));
  }

  Counts counts_;
  std::uint64_t count_ = 0;
  Sum sum_ = 0;
  Sum sum_squares_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
};

}  // namespace muster::metrics
