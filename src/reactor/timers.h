// Deadlines of one core: an intrusive 4-ary heap, so that 50,000 sleeping VUs cost 16 bytes each here and arming,
// cancelling and firing are O(log n) without allocation once the heap has grown. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace muster::reactor {

class Timers;

// Derive from it or embed it. Must be cancelled, or have fired, before it is destroyed (the destructor checks).
class Timer {
 public:
  // Called with the timer disarmed; it may be armed again in there.
  using Fire = void (*)(Timer& timer, base::Instant now);

  explicit Timer(Fire fire) : fire_(fire) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  bool armed() const { return position_ != kIdle; }

 private:
  friend class Timers;
  static constexpr std::uint32_t kIdle = ~std::uint32_t{0};

  Fire fire_;
  std::uint32_t position_ = kIdle;
};

class Timers {
 public:
  // Arms `timer`, or moves it if it is armed.
  void arm(Timer& timer, base::Instant deadline);
  void cancel(Timer& timer);

  base::Instant next() const { return heap_.empty() ? base::kNever : heap_.front().deadline; }
  std::size_t size() const { return heap_.size(); }

  // Fires everything due at `now`, earliest first.
  void fire(base::Instant now);

 private:
  struct Entry {
    base::Instant deadline;
    Timer* timer;
  };

  void sift_up(std::size_t position, Entry entry);
  void sift_down(std::size_t position, Entry entry);
  void place(std::size_t position, Entry entry) {
    heap_[position] = entry;
    entry.timer->position_ = static_cast<std::uint32_t>(position);
  }

  std::vector<Entry> heap_;
};

}  // namespace muster::reactor
