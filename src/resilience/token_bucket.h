// A token bucket, kept as one instant: when the bucket will be full again (the generic cell rate algorithm). It needs
// no timer and counts in whole nanoseconds, so it neither drifts nor depends on how often it is asked. A plain value.
#pragma once

#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

class TokenBucket {
 public:
  // Full at first.
  explicit TokenBucket(const BucketOptions& options);

  bool take(base::Instant now);

  // When there is a token: `now` or later.
  base::Instant ready_at(base::Instant now) const;

 private:
  base::Duration per_token_;
  base::Duration allowance_;  // how far `full_at_` may lie ahead for there to be a token
  base::Instant full_at_ = base::Instant::min();
};

}  // namespace muster::resilience
