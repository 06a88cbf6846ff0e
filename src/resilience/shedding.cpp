#include "resilience/shedding.h"

#include <algorithm>
#include <utility>

namespace muster::resilience {

Admission Shedder::admit(Priority priority, std::uint64_t client, Load load, base::Instant now) {
  if (priority == Priority::kCritical) return {};
  advance(now);
  std::uint32_t& asked = asked_by(client);
  if (asked < UINT32_MAX) ++asked;
  ++asked_;
  const bool beyond_share = load >= Load::kStressed && asked > share_;
  if (!sheds(load, priority) && !beyond_share) return {};
  return {.admitted = false, .retry_after = retry_after(load)};
}

void Shedder::advance(base::Instant now) {
  const base::Duration elapsed = now - window_start_;
  if (elapsed < options_.window) return;
  const std::uint64_t clients = asked_by_.size() + (asked_by_the_rest_ > 0 ? 1 : 0);
  const bool lately = clients > 0 && elapsed < 2 * options_.window;
  share_ = lately ? std::max<std::uint64_t>(options_.least_share, asked_ / clients) : UINT64_MAX;
  asked_by_.clear();
  asked_by_the_rest_ = 0;
  asked_ = 0;
  window_start_ = now;
}

std::uint32_t& Shedder::asked_by(std::uint64_t client) {
  if (const auto found = asked_by_.find(client); found != asked_by_.end()) return found->second;
  return asked_by_.size() < options_.max_clients ? asked_by_[client] : asked_by_the_rest_;
}

base::Duration Shedder::retry_after(Load load) const {
  const std::size_t level = std::max<std::size_t>(std::to_underlying(load), 1) - 1;
  return options_.retry_after[std::min(level, options_.retry_after.size() - 1)];
}

}  // namespace muster::resilience
