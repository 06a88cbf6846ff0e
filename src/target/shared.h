// What the cores of one server share: the counter behind /counter, the stall and the stop. Outlives the cores.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/time.h"
#include "target/options.h"

namespace muster::target {

class Shared {
 public:
  explicit Shared(std::optional<StallWindow> planned) : planned_(planned) {}

  std::atomic<std::uint64_t> counter{0};
  std::mutex on_request_mutex;

  // Cores call it before they serve anything: returns at once, or blocks while the server is to stand still.
  // With a stall ahead it reads the clock itself: the time of a loop's turn may be from before the stall began, while
  // the bytes that its connection is about to read are not.
  void wait_out_stall() {
    const std::int64_t from = stall_from_.load(std::memory_order_relaxed);
    if (from == kNoStall) [[likely]]
      return;
    if (base::now().time_since_epoch().count() >= from) block_until_served();
  }

  void stall(base::Instant from, base::Duration length);

  // The first request starts the clock of the planned stall.
  void note_request(base::Instant now) {
    if (planned_pending_.load(std::memory_order_relaxed)) [[unlikely]]
      arm_planned(now);
  }

  void stop();
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNoStall = INT64_MAX;

  void block_until_served();
  void arm_planned(base::Instant now);

  const std::optional<StallWindow> planned_;
  std::atomic<bool> planned_pending_{planned_.has_value()};
  std::atomic<std::int64_t> stall_from_{kNoStall};
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  base::Instant stall_until_{};  // guarded by mutex_
};

}  // namespace muster::target
