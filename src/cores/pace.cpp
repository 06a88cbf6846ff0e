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
    whole_ = false;
    done_ = done;
    since_ = now;
    return;
  }
  const base::Duration elapsed = now - since_;
  if (elapsed < options_.interval) return;
  rate_ = static_cast<double>(done - done_) / base::seconds(elapsed);
  whole_ = true;
  // The first work that was ever done is neither slow nor fast.
  pace_ = count_ == 0 && rate_ > 0 ? Pace::kNormal : pace_of(rate_, usual(), options_);
  if (rate_ > 0) {
    rates_[next_] = rate_;
    next_ = (next_ + 1) % kPaceHistory;
    count_ = std::min(count_ + 1, kPaceHistory);
  }
  done_ = done;
  since_ = now;
}

double PaceWatch::rate() const {
  if (pace_ == Pace::kIdle) return 0;
  return whole_ ? rate_ : usual();
}

double PaceWatch::usual() const {
  if (pace_ == Pace::kIdle) return 0;
  return count_ > 0 ? median() : 1 / base::seconds(options_.interval);
}

// The upper of the two middle ones if their number is even.
double PaceWatch::median() const {
  std::array<double, kPaceHistory> sorted = rates_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  return *middle;
}

Pace pace_of(double rate, double usual, const PaceOptions& options) {
  if (usual <= 0) return Pace::kIdle;
  if (rate <= 0) return Pace::kStuck;
  if (rate >= options.normal * usual) return Pace::kNormal;
  return rate >= options.slow * usual ? Pace::kSlow : Pace::kDegraded;
}

}  // namespace muster::cores
