#include "cores/swim_gossip.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::cores {

bool GossipQueue::add(base::NodeId about, GossipClass importance, std::string encoded) {
  drop(about);
  const Rank rank{importance, 0, next_order_++};
  waiting_.emplace(rank, Waiting{about, std::move(encoded)});
  places_.emplace(about, rank);
  if (waiting_.size() <= limit_) return true;
  drop(std::prev(waiting_.end())->second.about);
  return false;
}

void GossipQueue::drop(base::NodeId about) {
  const auto found = places_.find(about);
  if (found == places_.end()) return;
  waiting_.erase(found->second);
  places_.erase(found);
}

std::size_t GossipQueue::fill(std::string& out, std::size_t room, std::uint32_t transmits) {
  // With less room than the shortest update takes there is nothing to look for; nor is the whole queue searched for
  // something that fits.
  constexpr std::size_t kShortest = 4;
  std::size_t misfits = 16;
  std::size_t appended = 0;
  for (auto next = waiting_.begin(); next != waiting_.end() && room >= kShortest && misfits > 0;) {
    const auto here = next++;
    const bool done = here->first.sent >= transmits;  // the group shrank, and the limit with it
    if (!done && here->second.encoded.size() > room) {
      --misfits;
      continue;
    }
    leaving_.push_back(waiting_.extract(here));
    if (done) continue;
    out += leaving_.back().mapped().encoded;
    room -= leaving_.back().mapped().encoded.size();
    most_sent_ = std::max(most_sent_, ++leaving_.back().key().sent);
    ++appended;
  }
  for (auto& node : leaving_) {
    if (node.key().sent >= transmits) {
      places_.erase(node.mapped().about);
      continue;
    }
    places_.find(node.mapped().about)->second = node.key();
    waiting_.insert(std::move(node));
  }
  leaving_.clear();
  return appended;
}

}  // namespace muster::cores
