// Watches what the nodes of a cluster say and note: a minority dispatches and acknowledges nothing, and ends are
// told as the log has them. Told of every message as it leaves a brain.
#pragma once

#include "cluster/effects.h"
#include "sim/cluster_oracle_log.h"

namespace muster::sim {

class ClusterTalk {
 public:
  ClusterTalk(Kernel& kernel, ClusterLog& log) : kernel_(&kernel), log_(&log) {}

  void leaves(base::NodeId from, base::NodeId to, const cluster::Message& message);
  void noted(const cluster::Note& note);

 private:
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
};

}  // namespace muster::sim
