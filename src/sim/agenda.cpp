#include "sim/agenda.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace muster::sim {

namespace {
constexpr std::size_t kChildren = 4;
}

Event Agenda::pop() {
  const Due first = heap_.front();
  const Due last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) {
    std::size_t hole = 0;
    for (;;) {
      const std::size_t begin = hole * kChildren + 1;
      if (begin >= heap_.size()) break;
      const std::size_t end = std::min(begin + kChildren, heap_.size());
      std::size_t best = begin;
      for (std::size_t child = begin + 1; child < end; ++child) best = heap_[child].before(heap_[best]) ? child : best;
      if (!heap_[best].before(last)) break;
      heap_[hole] = heap_[best];
      hole = best;
    }
    heap_[hole] = last;
  }
  now_ = first.at;
  return release(static_cast<std::uint32_t>(first.order_and_event & ((1u << kEventBits) - 1)));
}

std::uint32_t Agenda::keep(Event&& event) {
  if (free_.empty()) {
    if (events_.size() >= 1u << kEventBits) std::abort();  // gigabytes of them: the run is out of hand
    events_.push_back(std::move(event));
    return static_cast<std::uint32_t>(events_.size() - 1);
  }
  const std::uint32_t kept = free_.back();
  free_.pop_back();
  events_[kept] = std::move(event);
  return kept;
}

Event Agenda::release(std::uint32_t kept) {
  free_.push_back(kept);
  return std::move(events_[kept]);
}

void Agenda::push_kept(std::int64_t at, std::uint32_t kept) {
  const Due due{.at = std::max(at, now_), .order_and_event = order_++ << kEventBits | kept};
  std::size_t hole = heap_.size();
  heap_.push_back(due);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!due.before(heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = due;
}

}  // namespace muster::sim
