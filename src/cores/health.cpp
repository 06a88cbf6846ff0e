#include "cores/health.h"

#include <algorithm>

namespace muster::cores {

Treatment Health::judge(const Condition& condition, base::Instant now) {
  if (condition.pace != Pace::kStuck) {
    stuck_ = false;
  } else if (!stuck_) {
    stuck_ = true;
    since_ = now;
    extended_ = now;
  }
  if (!condition.alive) return Treatment::kEvict;
  if (stuck_) return now >= std::max(stuck_deadline(), extended_) ? Treatment::kEvict : Treatment::kDrain;
  if (condition.pace == Pace::kSlow || condition.pace == Pace::kDegraded) return Treatment::kInvestigate;
  return condition.ready ? Treatment::kRoute : Treatment::kHold;
}

void Health::extend(base::Instant until) {
  if (stuck_) extended_ = std::max(extended_, until);
}

bool EvictionGuard::allows(std::size_t would_evict, std::size_t peers, base::Instant now) {
  const bool most = would_evict > peers / 2;
  if (most && !systemic_) since_ = now;
  systemic_ = most;
  return !most || now - since_ >= options_.systemic_limit;
}

}  // namespace muster::cores
