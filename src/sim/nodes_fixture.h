// For tests: the nodes of a world of three.
#pragma once

#include "base/node_id.h"

namespace muster::sim {

inline constexpr base::NodeId kFirst{1};
inline constexpr base::NodeId kSecond{2};
inline constexpr base::NodeId kThird{3};

}  // namespace muster::sim
