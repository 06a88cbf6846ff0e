#include "cluster/core_map.h"

#include <algorithm>

namespace muster::cluster {

std::uint32_t CoreMap::free() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(owners_, [](const auto& owner) { return !owner; }));
}

std::vector<std::uint32_t> CoreMap::allocate(const PartId& part, std::uint32_t count) {
  std::vector<std::uint32_t> given;
  if (count == 0 || count > free()) return given;
  for (std::uint32_t core = 0; given.size() < count; ++core) {
    if (owners_[core]) continue;
    owners_[core] = part;
    given.push_back(core);
  }
  return given;
}

void CoreMap::release(const PartId& part) {
  for (auto& owner : owners_) {
    if (owner == part) owner.reset();
  }
}

void CoreMap::release(const PartId& part, std::uint32_t core) {
  if (core < owners_.size() && owners_[core] == part) owners_[core].reset();
}

std::set<PartId> CoreMap::on(std::span<const std::uint32_t> cores) const {
  std::set<PartId> found;
  for (const std::uint32_t core : cores) {
    if (core < owners_.size() && owners_[core]) found.insert(*owners_[core]);
  }
  return found;
}

}  // namespace muster::cluster
