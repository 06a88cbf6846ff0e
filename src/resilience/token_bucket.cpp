#include "resilience/token_bucket.h"

#include <algorithm>

namespace muster::resilience {

TokenBucket::TokenBucket(const BucketOptions& options)
    : per_token_(base::Duration(std::chrono::seconds(1)) / std::max(options.rate, 1u)),
      allowance_(per_token_ * (std::max(options.burst, 1u) - 1)) {}

bool TokenBucket::take(base::Instant now) {
  if (ready_at(now) > now) return false;
  full_at_ = std::max(full_at_, now) + per_token_;
  return true;
}

base::Instant TokenBucket::ready_at(base::Instant now) const {
  return full_at_ <= now ? now : std::max(now, full_at_ - allowance_);
}

}  // namespace muster::resilience
