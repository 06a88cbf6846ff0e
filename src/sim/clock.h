// A node's clock in a world whose true time is known: runs at its own rate and may leap. Rates are whole shares of
// 1024, so that equal runs give equal times whatever the machine does with floating point.
#pragma once

#include <cstdint>
#include <limits>

#include "base/time.h"

namespace muster::sim {

class Clock {
 public:
  static constexpr std::int64_t kTrueRate = 1024;

  // Both in nanoseconds.
  explicit Clock(std::int64_t true_now = 0, std::int64_t shown = 0) : true_base_(true_now), shown_base_(shown) {}

  std::int64_t show(std::int64_t true_now) const {
    return shown_base_ + scale(true_now - true_base_, rate_, kTrueRate);
  }

  // The first true time at which the clock shows at least `shown`, at today's rate.
  std::int64_t when(std::int64_t shown) const {
    if (shown <= shown_base_) return true_base_;
    if (shown - shown_base_ > kFarAhead) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t at = true_base_ + scale(shown - shown_base_, kTrueRate, rate_);
    return show(at) < shown ? at + 1 : at;
  }

  // From now on `rate` nanoseconds pass here in kTrueRate true ones; rate ≥ 1.
  void run_at(std::int64_t rate, std::int64_t true_now) {
    shown_base_ = show(true_now);
    true_base_ = true_now;
    rate_ = rate;
  }
  void leap(std::int64_t by) { shown_base_ += by; }

  std::int64_t rate() const { return rate_; }

 private:
  __extension__ using Wide = __int128;
  static constexpr std::int64_t kFarAhead = 1'000'000'000'000'000'000;  // 31 years: nobody waits for it

  static std::int64_t scale(std::int64_t value, std::int64_t by, std::int64_t over) {
    if (by == over) return value;
    return static_cast<std::int64_t>(static_cast<Wide>(value) * by / over);
  }

  std::int64_t true_base_;
  std::int64_t shown_base_;
  std::int64_t rate_ = kTrueRate;
};

}  // namespace muster::sim
