// Which part runs on which core of a worker. Cores are indexes from 0; the lowest free ones are given first.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cluster/ids.h"

namespace muster::cluster {

class CoreMap {
 public:
  explicit CoreMap(std::uint32_t cores) : owners_(cores) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(owners_.size()); }
  std::uint32_t free() const;

  // `count` free cores for the part; empty if there are not so many.
  std::vector<std::uint32_t> allocate(const PartId& part, std::uint32_t count);
  void release(const PartId& part);
  // This one alone, if it is the part's.
  void release(const PartId& part, std::uint32_t core);

  // Whatever runs on these cores; indexes that do not exist are ignored.
  std::set<PartId> on(std::span<const std::uint32_t> cores) const;

 private:
  std::vector<std::optional<PartId>> owners_;
};

}  // namespace muster::cluster
