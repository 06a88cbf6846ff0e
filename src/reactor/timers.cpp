#include "reactor/timers.h"

#include <cstdlib>

namespace muster::reactor {
namespace {

constexpr std::size_t kArity = 4;

}  // namespace

Timer::~Timer() {
  if (armed()) std::abort();  // the heap would keep a dangling pointer
}

void Timers::arm(Timer& timer, base::Instant deadline) {
  const Entry entry{deadline, &timer};
  if (timer.armed()) {
    const std::size_t position = timer.position_;
    if (deadline < heap_[position].deadline) {
      sift_up(position, entry);
    } else {
      sift_down(position, entry);
    }
    return;
  }
  heap_.emplace_back();
  sift_up(heap_.size() - 1, entry);
}

void Timers::cancel(Timer& timer) {
  if (!timer.armed()) return;
  const std::size_t position = timer.position_;
  timer.position_ = Timer::kIdle;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.timer == &timer) return;
  if (position > 0 && last.deadline < heap_[(position - 1) / kArity].deadline) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

void Timers::fire(base::Instant now) {
  while (!heap_.empty() && heap_.front().deadline <= now) {
    Timer& timer = *heap_.front().timer;
    cancel(timer);
    timer.fire_(timer, now);
  }
}

void Timers::sift_up(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (heap_[parent].deadline <= entry.deadline) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void Timers::sift_down(std::size_t position, Entry entry) {
  for (;;) {
    const std::size_t first = position * kArity + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < first + kArity && child < heap_.size(); ++child) {
      if (heap_[child].deadline < heap_[least].deadline) least = child;
    }
    if (entry.deadline <= heap_[least].deadline) break;
    place(position, heap_[least]);
    position = least;
  }
  place(position, entry);
}

}  // namespace muster::reactor
