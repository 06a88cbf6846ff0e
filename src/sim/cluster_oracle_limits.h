// Holds jobs with a time limit to it, whoever leads them: a manager that gives a job to another says at least for how
// long it has known the job itself, and who leads it gives it up when the rest of its time is over. Told what each
// manager learns, and when.
#pragma once

#include <map>
#include <utility>

#include "sim/cluster_oracle_log.h"

namespace muster::sim {

// From when the time is over until that is committed, by a leader that may have to be found first.
constexpr base::Duration kGivesUpWithin = std::chrono::seconds(120);
// What a node takes for an event, and for the next.
constexpr base::Duration kKnownEarlier = std::chrono::seconds(2);

class ClusterLimits {
 public:
  ClusterLimits(Kernel& kernel, const ClusterLog& log, const ClusterRuns& runs)
      : kernel_(&kernel), log_(&log), runs_(&runs) {}

  // A manager's process begins, and knows nothing.
  void begins(base::NodeId manager) { known_.erase(manager); }
  // Its ledger has the job, perhaps not for the first time.
  void learns(base::NodeId manager, cluster::JobId job) { known_[manager].try_emplace(job, kernel_->elapsed()); }
  // The number of a proposal is its manager's, and rises; what is sent again, as it was, keeps it.
  void proposes(const cluster::Process& manager, std::uint64_t number, const cluster::JobOwner& command);
  void committed(std::uint32_t datacenter, const cluster::Command& command, const cluster::Ledger& after);

  // Once all is healed.
  void check(base::Duration healed_at) const;

 private:
  struct Led {
    std::uint64_t epoch = 0;
    base::Duration age{};  // the greatest that was given with it
    base::Duration since{};
    base::Duration until{};  // the time limit
  };

  Kernel* kernel_;
  const ClusterLog* log_;
  const ClusterRuns* runs_;
  std::map<base::NodeId, std::map<cluster::JobId, base::Duration>> known_;  // since when
  std::map<cluster::Process, std::uint64_t> proposed_;                      // the last number
  std::map<std::pair<std::uint32_t, cluster::JobId>, Led> led_;             // jobs with a limit
};

}  // namespace muster::sim
