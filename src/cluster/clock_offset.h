// How far another node's clock is from this one's, by messages that say when they were sent. A message tells the
// difference and its own delay; the least of a while has the least delay in it. Only of a while: two clocks run at
// rates of their own, and one stands still while its machine is suspended. Pure.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"

namespace muster::cluster {

// The least is that of 5 to 10 s: a clock that is slower by 1 % is 100 ms off at most.
constexpr base::Duration kClockOffsetSpan = std::chrono::seconds(5);

class ClockOffset {
 public:
  // A message sent when the other clock said `sent` is here `now`.
  void take(base::Duration sent, base::Instant now) {
    if (latest_ && now - began_ >= kClockOffsetSpan) {
      before_ = now - began_ < 2 * kClockOffsetSpan ? latest_ : std::nullopt;
      latest_.reset();
    }
    const base::Duration difference = now.time_since_epoch() - sent;
    if (!latest_) began_ = now;
    latest_ = latest_ ? std::min(*latest_, difference) : difference;
  }

  // What to add to the other clock's time to have this one's; nothing before the first message.
  std::optional<base::Duration> value() const { return before_ && latest_ ? std::min(*before_, *latest_) : latest_; }

 private:
  base::Instant began_{};  // when the current span did
  std::optional<base::Duration> latest_;
  std::optional<base::Duration> before_;  // that of the span before
};

}  // namespace muster::cluster
