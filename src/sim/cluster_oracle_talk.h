// Watches what the nodes of a cluster say and note: a minority dispatches and acknowledges nothing, cancellations are
// never shed, circuits open for a cause, and equal views of the gates give equal owners. Told of every message as it
// leaves a brain.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cluster/effects.h"
#include "sim/cluster_oracle_log.h"

namespace muster::sim {

class ClusterTalk {
 public:
  ClusterTalk(Kernel& kernel, const ClusterLog& log) : kernel_(&kernel), log_(&log) {}

  void leaves(base::NodeId from, base::NodeId to, const cluster::Message& message);
  void noted(base::NodeId node, const cluster::Note& note);
  void booted(base::NodeId node) { timeouts_.erase(node); }

 private:
  void on(base::NodeId from, base::NodeId to, const cluster::Dispatch& message);
  void on(base::NodeId from, base::NodeId to, const cluster::SubmitAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::CancelAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::DispatchAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::ExtensionAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::Ring& message);
  template <class Other>
  void on(base::NodeId, base::NodeId, const Other&) {}

  Kernel* kernel_;
  const ClusterLog* log_;
  std::map<base::NodeId, std::deque<base::Duration>> timeouts_;            // of quorums
  std::map<std::vector<base::NodeId>, std::vector<base::NodeId>> owners_;  // of some keys, by the gates on the ring
};

}  // namespace muster::sim
