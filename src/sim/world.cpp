#include "sim/world.h"

#include <fmt/format.h>

#include "sim/kernel.h"

namespace muster::sim {

std::vector<base::NodeId> World::healthy_core(base::Random& /*random*/) {
  return kernel_->nodes();
}

std::string World::describe(Channel channel, std::string_view bytes) {
  return fmt::format("{} of {} bytes", channel == Channel::kStream ? "frame" : "datagram", bytes.size());
}

}  // namespace muster::sim
