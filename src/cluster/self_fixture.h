// For tests: the node that what is tested runs on.
#pragma once

#include "cluster/ids.h"

namespace muster::cluster {

constexpr NodeId kSelf{1};

}  // namespace muster::cluster
