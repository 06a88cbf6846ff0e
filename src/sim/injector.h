// Carries a fault plan out: puts the beginning and the end of each fault on the kernel's agenda and does the damage.
// Lives as long as the run. heal() ends every fault and leaves a healthy core beside nodes that are broken for good.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "sim/fault.h"
#include "sim/kernel.h"

namespace muster::sim {

class Injector {
 public:
  // The kernel and the world outlive the injector.
  Injector(Kernel& kernel, World& world) : kernel_(&kernel), world_(&world) {}

  void schedule(const FaultPlan& plan);
  // Begins a fault now; it ends by itself.
  void begin(const Fault& fault);
  // From now on only what is named here goes wrong: nodes outside the core are down, cut off, paused or crawling.
  void heal(const std::vector<base::NodeId>& core, base::Random& random);

 private:
  // Runs unless the faults have been healed meanwhile.
  void later(base::Duration delay, std::function<void()> action);
  std::vector<base::NodeId> shuffled(base::Random& random) const;
  base::NodeId one(const Fault& fault, base::Random& random) const;

  void make_noise(const Fault& fault, base::Random& random);
  void make_cuts(const Fault& fault, base::Random& random);
  void cut_for(base::Duration length, const std::vector<base::NodeId>& from, const std::vector<base::NodeId>& to,
               bool both_ways);
  void swizzle(const Fault& fault, base::Random& random);
  void make_crash(const Fault& fault, base::Random& random);
  void crash_for(base::NodeId node, base::Duration length, bool moved, bool tear, bool half_open);
  void make_clock_trouble(const Fault& fault, base::Random& random);
  void make_disk_trouble(const Fault& fault, base::Random& random);
  void make_node_trouble(const Fault& fault, base::Random& random);
  void send_garbage(const Fault& fault, base::Random& random);
  void lose_site(const Fault& fault, base::Random& random);
  void break_for_good(base::NodeId node, const NodeSet& core, base::Random& random);
  void revive_halted(const std::vector<base::NodeId>& nodes);

  Kernel* kernel_;
  World* world_;
  std::uint64_t age_ = 0;  // rises with heal(): what was to end later has ended
};

}  // namespace muster::sim
