// When to try again: the waits between the tries of one call, growing and spread by a jitter. A plain value, small
// enough to lie in every call; the generator is the caller's, so equal seeds give equal waits.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

class Retry {
 public:
  Retry(const RetryOptions& options, base::Instant first_try)
      : options_(options), first_try_(first_try), last_wait_(options.base) {}

  // To be called when a try has failed: when the next one may begin, or nothing if there is to be none. `at_least` is
  // what the peer asked for (retry-after), believed up to kMaxRetryAfter; it may exceed the cap, but not the bound on
  // all tries together.
  std::optional<base::Instant> failed(base::Instant now, base::Random& random,
                                      base::Duration at_least = base::Duration::zero());

  std::uint32_t failures() const { return failures_; }

 private:
  base::Duration wait(base::Random& random);

  RetryOptions options_;
  base::Instant first_try_;
  base::Duration last_wait_;  // the last one drawn
  std::uint32_t failures_ = 0;
};

// A period with up to `share` of it added, for heartbeats, health checks, sync and the like: many nodes that began
// together drift apart.
base::Duration spread(base::Duration period, double share, base::Random& random);

}  // namespace muster::resilience
