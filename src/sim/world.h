// What a scenario simulates: its nodes, their processes, the work it gives them and the oracles that watch. The kernel
// calls a world on its one thread; a world may look into its processes at any time, for it sees what nobody in it can.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/process.h"

namespace muster::sim {

class Kernel;

class World {
 public:
  virtual ~World() = default;

  // Adds the nodes, starts those that begin up, and puts its work on the agenda.
  virtual void begin(Kernel& kernel) = 0;
  // A process for the node's next life.
  virtual std::unique_ptr<Process> boot(base::NodeId node) = 0;
  // After every event at a node: the place of oracles that hold at all times (E).
  virtual void observe(base::NodeId /*node*/) {}
  // Its process is gone.
  virtual void went_down(base::NodeId /*node*/) {}

  // Who stays healthy in the second phase; the others are broken for good. All by default.
  virtual std::vector<base::NodeId> healthy_core(base::Random& random);
  // The second phase begins: the core is up, its links are good.
  virtual void heal(const std::vector<base::NodeId>& /*core*/) {}
  // Asked now and then in the second phase; true ends the run before its time.
  virtual bool settled() { return false; }
  // The place of oracles that hold at the end (F).
  virtual void end() {}

  // Whom a fault that aims should hit, such as the leader; nobody in particular by default.
  virtual base::NodeId target(base::Random& /*random*/) { return base::kNoNode; }
  // More work than usual for this node, for so long.
  virtual void overload(base::NodeId /*node*/, base::Duration /*length*/) {}

  // A packet in the words of its protocol, for the trace.
  virtual std::string describe(Channel channel, std::string_view bytes);

 protected:
  Kernel* kernel_ = nullptr;  // set before begin()
  friend class Kernel;
};

}  // namespace muster::sim
