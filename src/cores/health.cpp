#include "cores/health.h"

namespace muster::cores {

Treatment Health::judge(const Condition& condition, base::Instant now) {
  if (condition.pace != Pace::kStuck) {
    stuck_ = false;
  } else if (!stuck_) {
    stuck_ = true;
    since_ = now;
  }
  if (!condition.alive) return Treatment::kEvict;
  if (stuck_) return now >= stuck_deadline() ? Treatment::kEvict : Treatment::kDrain;
  if (condition.pace == Pace::kSlow || condition.pace == Pace::kDegraded) return Treatment::kInvestigate;
  return condition.ready ? Treatment::kRoute : Treatment::kHold;
}

bool EvictionGuard::allows(std::size_t would_evict, std::size_t peers, base::Instant now) {
  const bool most = would_evict > peers / 2;
  if (most && !systemic_) since_ = now;
  systemic_ = most;
  return !most || now - since_ >= options_.systemic_limit;
}

}  // namespace muster::cores
