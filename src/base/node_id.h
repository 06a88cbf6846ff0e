// The name of a node of the cluster: a number that stays the same over restarts and changes of address. A type of its
// own, so that it is not mixed up with terms, indices and counts; std::hash and the comparisons are those of any enum.
#pragma once

#include <cstdint>
#include <functional>

namespace muster::base {

enum class NodeId : std::uint64_t {};

// Nobody: no leader known, no vote given.
constexpr NodeId kNoNode{0};

constexpr std::uint64_t number(NodeId node) {
  return static_cast<std::uint64_t>(node);
}

}  // namespace muster::base
