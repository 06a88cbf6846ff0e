#include "base/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/options.h"

namespace muster::base {
namespace {

// The upper half of a finalised hash, which is as good as any.
std::uint32_t position_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32);
}

std::uint32_t position_of(NodeId node, std::size_t place) {
  std::array<char, 48> text;
  const auto end = fmt::format_to(text.data(), "{}:{}", number(node), place);
  return position_of(hash_of(std::string_view(text.data(), static_cast<std::size_t>(end - text.data()))));
}

}  // namespace

bool Ring::add(NodeId node) {
  if (node == kNoNode || contains(node) || nodes_.size() >= kMaxRingNodes) return false;
  std::vector<Place> added;
  added.reserve(kRingPlaces);
  for (std::size_t i = 0; i < kRingPlaces; ++i) added.push_back({position_of(node, i), node});
  std::sort(added.begin(), added.end());
  std::vector<Place> places;
  places.reserve(places_.size() + added.size());
  std::merge(places_.begin(), places_.end(), added.begin(), added.end(), std::back_inserter(places));
  places_ = std::move(places);
  nodes_.insert(std::lower_bound(nodes_.begin(), nodes_.end(), node), node);
  return true;
}

bool Ring::remove(NodeId node) {
  if (!contains(node)) return false;
  std::erase_if(places_, [node](const Place& place) { return place.node == node; });
  std::erase(nodes_, node);
  return true;
}

bool Ring::contains(NodeId node) const {
  return std::binary_search(nodes_.begin(), nodes_.end(), node);
}

NodeId Ring::owner(std::uint64_t key) const {
  return places_.empty() ? kNoNode : places_[place_of(key)].node;
}

std::vector<NodeId> Ring::owners(std::uint64_t key, std::size_t count) const {
  std::vector<NodeId> found;
  const std::size_t wanted = std::min(count, nodes_.size());
  if (wanted == 0) return found;
  found.reserve(wanted);
  for (std::size_t i = place_of(key); found.size() < wanted; i = (i + 1) % places_.size()) {
    const NodeId node = places_[i].node;
    if (std::find(found.begin(), found.end(), node) == found.end()) found.push_back(node);
  }
  return found;
}

std::size_t Ring::place_of(std::uint64_t key) const {
  const auto at = std::lower_bound(places_.begin(), places_.end(), Place{position_of(key), kNoNode});
  return at == places_.end() ? 0 : static_cast<std::size_t>(at - places_.begin());
}

}  // namespace muster::base
