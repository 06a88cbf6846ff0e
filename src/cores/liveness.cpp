#include "cores/liveness.h"

#include <algorithm>

namespace muster::cores {

Liveness::Liveness(const LivenessOptions& options, base::Instant now)
    : options_(options), last_heard_(now), next_probe_(now) {}

bool Liveness::wake(base::Instant now, base::Random& random) {
  // Who comes much too late was held up itself: what the peer sent meanwhile lies unread, and its silence proves
  // nothing.
  const base::Duration late = now - std::min(deadline(), now);
  if (late >= time_out()) {
    last_heard_ = std::min(now, last_heard_ + late);
    if (awaited_until_ <= now) awaited_until_ = now + time_out();
    if (unanswered_ <= now) unanswered_ = std::min(now, unanswered_ + late);
  }
  if (now >= awaited_until_) {
    awaited_until_ = base::kNever;
    ++misses_;
  }
  if (now < next_probe_) return false;
  const base::Duration period = started_ ? options_.period : options_.start_up_period;
  next_probe_ = now + period + base::from_seconds(base::seconds(period) * options_.jitter * random.unit());
  awaited_until_ = now + time_out();
  unanswered_ = std::min(unanswered_, now);
  return true;
}

void Liveness::heard(base::Instant now) {
  last_heard_ = now;
  started_ = true;
  misses_ = 0;
  unanswered_ = base::kNever;
  awaited_until_ = base::kNever;
}

bool Liveness::alive(base::Instant now) const {
  if (!started_) return misses_ < options_.start_up_misses;
  return misses_ < options_.misses && now - last_heard_ < options_.silence;
}

bool Liveness::answering(base::Instant now) const {
  return started_ && (unanswered_ == base::kNever || now - unanswered_ < options_.ready_time_out);
}

base::Instant Liveness::deadline() const {
  return std::min(next_probe_, awaited_until_);
}

}  // namespace muster::cores
