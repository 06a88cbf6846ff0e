// Arrivals that wait for a free VU, oldest first: a ring that grows by doubling and then allocates nothing more, where
// std::deque would allocate and free a block every so many. Belongs to one core.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"

namespace muster::engine {

class ArrivalQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  base::Instant front() const { return ring_[first_]; }

  void push_back(base::Instant due) {
    if (size_ == ring_.size()) grow();
    ring_[(first_ + size_++) & (ring_.size() - 1)] = due;
  }
  void pop_front() {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
  }
  void clear() { size_ = 0; }
  // All of them are due so much later.
  void shift(base::Duration by) {
    for (std::size_t i = 0; i < size_; ++i) ring_[(first_ + i) & (ring_.size() - 1)] += by;
  }

 private:
  void grow() {
    std::vector<base::Instant> larger(ring_.empty() ? 64 : ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<base::Instant> ring_;  // a power of two long
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace muster::engine
