// The bytes of a node's state: a version, then the fields in order, numbers as varints (metrics/wire.h). Equal states
// have equal bytes, at most kMaxNodeStateBytes of them; decoding is bounded and refuses what encoding cannot have made.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/node_state.h"

namespace muster::model {

constexpr std::uint8_t kNodeStateVersion = 1;

// Lists and names beyond their limits are cut, numbers that are not finite become 0, a level above 4 becomes 4.
std::string encode(const NodeState& state);

// All of `bytes` must be one state.
base::Expected<NodeState> decode_node_state(std::string_view bytes);

}  // namespace muster::model
