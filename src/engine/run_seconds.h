// Where the whole seconds of a run lie for the cores of one workflow. The series counts by them, so that the same
// second of several workflows, and of a threshold's window, is the same stretch of time. Pure arithmetic on instants.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "engine/options.h"

namespace muster::engine {

class RunSeconds {
 public:
  RunSeconds() = default;
  // A load that begins at most kSameSecond after a whole second of the run begins on it: starting an executor takes a
  // moment, and must not leave a sliver of a second at the end of every run.
  RunSeconds(base::Instant run_began, base::Instant load_began) : zero_(run_began) {
    const base::Duration past = (load_began - run_began) % std::chrono::seconds(1);
    if (past <= kSameSecond) shift_ = past;
    zero_ += shift_;
  }

  // How long after those of the run its seconds begin.
  base::Duration shift() const { return shift_; }

  base::Duration since_zero(base::Instant when) const { return when - zero_; }
  // The second that `when` lies in.
  std::uint32_t at(base::Instant when) const {
    return when < zero_ ? 0 : static_cast<std::uint32_t>((when - zero_) / std::chrono::seconds(1));
  }
  // When to hand over next, after `now`: whole seconds are among these moments.
  base::Instant next_hand_over(base::Instant now) const {
    if (now < zero_) return zero_;
    return zero_ + ((now - zero_) / kRecordingInterval + 1) * kRecordingInterval;
  }

 private:
  base::Instant zero_{};
  base::Duration shift_{};
};

}  // namespace muster::engine
