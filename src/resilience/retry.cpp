#include "resilience/retry.h"

#include <algorithm>
#include <cmath>

namespace muster::resilience {
namespace {

base::Duration between(base::Duration low, base::Duration high, base::Random& random) {
  if (high <= low) return low;
  return low +
         base::Duration(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
}

}  // namespace

std::optional<base::Instant> Retry::failed(base::Instant now, base::Random& random, base::Duration at_least) {
  if (failures_ < kUnlimitedAttempts) ++failures_;
  if (options_.attempts != kUnlimitedAttempts && failures_ >= options_.attempts) return std::nullopt;
  const base::Duration waited = std::max(base::Duration::zero(), now - first_try_);
  const base::Duration delay = std::max(wait(random), std::min(at_least, kMaxRetryAfter));
  if (waited > options_.total || delay > options_.total - waited) return std::nullopt;
  return now + delay;
}

base::Duration Retry::wait(base::Random& random) {
  if (options_.jitter == Jitter::kDecorrelated) {
    const base::Duration most = last_wait_ >= options_.cap / 3 ? options_.cap : last_wait_ * 3;
    last_wait_ = std::min(options_.cap, between(options_.base, most, random));
    return last_wait_;
  }
  const double grown = base::seconds(options_.base) * std::pow(options_.growth, failures_ - 1);
  const base::Duration whole = std::min(options_.cap, base::from_seconds(grown));
  switch (options_.jitter) {
    case Jitter::kEqual:
      return between(whole / 2, whole, random);
    case Jitter::kNone:
      return whole;
    case Jitter::kFull:
    case Jitter::kDecorrelated:
      break;
  }
  return between(base::Duration::zero(), whole, random);
}

base::Duration spread(base::Duration period, double share, base::Random& random) {
  return between(period, period + base::from_seconds(base::seconds(period) * share), random);
}

}  // namespace muster::resilience
