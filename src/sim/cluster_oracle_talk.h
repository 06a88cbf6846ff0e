// Watches what the nodes of a cluster say and note: a minority dispatches and acknowledges nothing, and ends are
// told as the log has them. Told of every message as it leaves a brain.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "cluster/effects.h"
#include "sim/cluster_oracle_log.h"

namespace muster::sim {

class ClusterTalk {
 public:
  ClusterTalk(Kernel& kernel, ClusterLog& log) : kernel_(&kernel), log_(&log) {}

  void leaves(base::NodeId from, base::NodeId to, const cluster::Message& message);
  void noted(const cluster::Note& note);
  // A manager is asked for time, perhaps not for the first time; it answers at once.
  void asked(base::NodeId manager, const cluster::ExtensionAsk& ask);

 private:
  // What a manager gave one attempt since that was silent, or since it watches it.
  struct Extensions {
    double asked = 0;       // progress, with the latest question
    double granted_at = 0;  // progress, with the latest that was granted
    std::uint32_t granted = 0;
  };

  void on(base::NodeId from, base::NodeId to, const cluster::Dispatch& message);
  void on(base::NodeId from, base::NodeId to, const cluster::Submit& message);
  void on(base::NodeId from, base::NodeId to, const cluster::SubmitAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::Cancel& message);
  void on(base::NodeId from, base::NodeId to, const cluster::CancelAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::ResultAck& message);
  void on(base::NodeId from, base::NodeId to, const cluster::JobEnd& message);
  void on(base::NodeId from, base::NodeId to, const cluster::StatusAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::EndAck& message);
  void on(base::NodeId from, base::NodeId to, const cluster::DispatchAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::ExtensionAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::OwnerAsk& message);
  template <class Other>
  void on(base::NodeId, base::NodeId, const Other&) {}
  void check_end(base::NodeId from, cluster::JobId job, cluster::JobState state);

  Kernel* kernel_;
  ClusterLog* log_;
  std::map<std::tuple<base::NodeId, cluster::PartId, cluster::Fence>, Extensions> extensions_;
};

}  // namespace muster::sim
