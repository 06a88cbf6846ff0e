// Watches what the nodes of a cluster say and note: a minority dispatches and acknowledges nothing, and ends are
// told as the log has them. Told of every message as it leaves a brain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "cluster/effects.h"
#include "sim/cluster_oracle_log.h"

namespace muster::sim {

class ClusterTalk {
 public:
  ClusterTalk(Kernel& kernel, ClusterLog& log) : kernel_(&kernel), log_(&log) {}

  void leaves(base::NodeId from, base::NodeId to, const cluster::Message& message);
  void noted(const cluster::Note& note);
  // What a process told before is not what it knows in its next life.
  void booted(base::NodeId node);
  // A gate has lost sight of a client: what it pushes meanwhile does not reach it.
  void parted(base::NodeId gate, base::NodeId client);
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
  void on(base::NodeId from, base::NodeId to, const cluster::WindowPush& message);
  void on(base::NodeId from, base::NodeId to, const cluster::StatusAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::EndAck& message);
  void on(base::NodeId from, base::NodeId to, const cluster::DispatchAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::ExtensionAnswer& message);
  void on(base::NodeId from, base::NodeId to, const cluster::OwnerAsk& message);
  template <class Other>
  void on(base::NodeId, base::NodeId, const Other&) {}
  void check_end(base::NodeId from, cluster::JobId job, cluster::JobState state);
  // Whoever tells an end has told the totals that belong to it.
  void check_totals(base::NodeId manager, base::NodeId to, const cluster::JobEnd& message);
  void check_losses(base::NodeId gate, base::NodeId client, const cluster::JobEnd& message);

  // The last totals of a workflow that one node told another, and under which epoch.
  struct Pushed {
    base::NodeId to = base::kNoNode;
    std::uint64_t epoch = 0;
    cluster::Counts counts;
    cluster::Counts lost;
  };
  // By sender, receiver, job, datacenter and workflow; a manager has one receiver at a time and names no datacenter.
  using Total = std::tuple<base::NodeId, base::NodeId, cluster::JobId, std::string, std::uint32_t>;

  Kernel* kernel_;
  ClusterLog* log_;
  std::map<std::tuple<base::NodeId, cluster::PartId, cluster::Fence>, Extensions> extensions_;
  std::map<Total, Pushed> pushed_;
};

}  // namespace muster::sim
