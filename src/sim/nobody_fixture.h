// For tests of oracles: a world in which nobody lives, for a kernel that only has to keep time and violations.
#pragma once

#include <memory>

#include "sim/kernel.h"

namespace muster::sim {

struct Nobody final : World {
  void begin(Kernel&) override {}
  std::unique_ptr<Process> boot(base::NodeId) override { return nullptr; }
};

}  // namespace muster::sim
