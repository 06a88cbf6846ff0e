#include "target/shared.h"

namespace muster::target {

void Shared::stall(base::Instant from, base::Duration length) {
  const std::lock_guard lock(mutex_);
  stall_until_ = from + length;
  stall_from_.store(from.time_since_epoch().count(), std::memory_order_relaxed);
  changed_.notify_all();
}

void Shared::stop() {
  const std::lock_guard lock(mutex_);
  stopping_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
}

void Shared::block_until_served() {
  std::unique_lock lock(mutex_);
  while (!stopping() && stall_from_.load(std::memory_order_relaxed) != kNoStall) {
    if (base::now() >= stall_until_) {
      stall_from_.store(kNoStall, std::memory_order_relaxed);
      break;
    }
    changed_.wait_until(lock, stall_until_);
  }
  changed_.notify_all();
}

void Shared::arm_planned(base::Instant now) {
  if (planned_pending_.exchange(false)) stall(now + planned_->at, planned_->length);
}

}  // namespace muster::target
