#include "resilience/rate_limiter.h"

#include <utility>

namespace muster::resilience {

Limited RateLimiter::admit(std::uint64_t client, Operation operation, base::Instant now) {
  const std::size_t index = std::to_underlying(operation);
  SlidingWindow& window = client_of(client, now).windows[index];
  const std::uint32_t limit = options_.limits[index];
  if (window.admit(limit, options_.window, now)) return {.admitted = true, .retry_after = {}};
  return {.admitted = false, .retry_after = window.wait(limit, options_.window, now)};
}

void RateLimiter::drop_idle(base::Instant now) {
  while (!by_use_.empty() && now - by_use_.front().last >= options_.idle) drop_oldest();
}

RateLimiter::Client& RateLimiter::client_of(std::uint64_t name, base::Instant now) {
  drop_idle(now);
  if (const auto known = found_.find(name); known != found_.end()) {
    by_use_.splice(by_use_.end(), by_use_, known->second);
  } else {
    if (found_.size() >= options_.max_clients && !by_use_.empty()) drop_oldest();
    by_use_.push_back({.name = name, .last = now, .windows = {}});
    found_.emplace(name, std::prev(by_use_.end()));
  }
  by_use_.back().last = now;
  return by_use_.back();
}

void RateLimiter::drop_oldest() {
  found_.erase(by_use_.front().name);
  by_use_.pop_front();
}

}  // namespace muster::resilience
