#include "cores/pace.h"

#include <algorithm>

namespace muster::cores {

void PaceWatch::told(bool assigned, std::uint64_t done, base::Instant now) {
  if (!assigned) {
    pace_ = Pace::kIdle;
    return;
  }
  if (pace_ == Pace::kIdle || done < done_) {
    pace_ = Pace::kNormal;
    done_ = done;
    since_ = now;
    return;
  }
  const base::Duration elapsed = now - since_;
  if (elapsed < options_.interval) return;
  const double rate = static_cast<double>(done - done_) / base::seconds(elapsed);
  pace_ = judge(rate);
  if (rate > 0) {
    rates_[next_] = rate;
    next_ = (next_ + 1) % kPaceHistory;
    count_ = std::min(count_ + 1, kPaceHistory);
  }
  done_ = done;
  since_ = now;
}

Pace PaceWatch::judge(double rate) const {
  if (rate <= 0) return Pace::kStuck;
  if (count_ == 0) return Pace::kNormal;
  const double usual = median();
  if (rate >= options_.normal * usual) return Pace::kNormal;
  return rate >= options_.slow * usual ? Pace::kSlow : Pace::kDegraded;
}

// The upper of the two middle ones if their number is even.
double PaceWatch::median() const {
  std::array<double, kPaceHistory> sorted = rates_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  return *middle;
}

}  // namespace muster::cores
