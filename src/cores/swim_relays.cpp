#include "cores/swim_relays.h"

#include <algorithm>

#include "cores/swim_options.h"

namespace muster::cores {

bool Relays::add(const Relay& relay) {
  const bool full = relays_.size() >= kMaxRelays;
  if (full) {
    relays_.pop_front();
    if (past_ > 0) --past_;
  }
  relays_.push_back(relay);
  return !full;
}

std::optional<Relay> Relays::answer(std::uint64_t sequence, base::NodeId node) {
  const auto found = std::lower_bound(relays_.begin(), relays_.end(), sequence,
                                      [](const Relay& one, std::uint64_t wanted) { return one.sequence < wanted; });
  if (found == relays_.end() || found->sequence != sequence || found->target != node || found->answered) {
    return std::nullopt;
  }
  found->answered = true;
  return *found;
}

std::vector<Relay> Relays::due(base::Instant now, base::Duration keep) {
  std::vector<Relay> silent;
  for (; past_ < relays_.size() && relays_[past_].nack_at <= now; ++past_) {
    if (!relays_[past_].answered) silent.push_back(relays_[past_]);
  }
  while (past_ > 0 && relays_.front().nack_at + keep <= now) {
    relays_.pop_front();
    --past_;
  }
  return silent;
}

base::Instant Relays::next_due() const {
  return past_ < relays_.size() ? relays_[past_].nack_at : base::kNever;
}

}  // namespace muster::cores
