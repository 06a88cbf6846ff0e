#include "cluster/step_down.h"

#include <vector>

namespace muster::cluster {

std::optional<NodeId> StepDown::step(const LogStanding& standing, std::uint32_t score, bool draining,
                                     base::Instant now) {
  if (standing.leader != kNoNode && standing.leader != leader_) {
    if (leader_ != kNoNode) changes_.push_back(now);
    leader_ = standing.leader;
  }
  while (!changes_.empty() && now - changes_.front() > options_.window) changes_.pop_front();
  if (changes_.size() > options_.changes) {
    changes_.clear();
    paused_until_ = now + options_.pause;
  }
  const bool wanted = standing.leader == self_ && (draining || score > options_.score);
  if (!wanted || now < paused_until_ || now < due_) return std::nullopt;
  std::vector<NodeId> others = standing.voters;
  std::erase(others, self_);
  if (others.empty()) return std::nullopt;
  due_ = now + options_.retry;
  return others[next_++ % others.size()];
}

}  // namespace muster::cluster
