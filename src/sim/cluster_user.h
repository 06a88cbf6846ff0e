// The people behind a simulated client: what they asked for, what they were told, and whether it was the truth.
// Outlives the client's processes, as people do: after a crash they ask again for what they want to know. Watches what
// clients are shown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "cluster/client.h"
#include "sim/cluster_oracle_log.h"
#include "sim/cluster_oracle_runs.h"

namespace muster::sim {

class ClusterUser {
 public:
  struct Job {
    cluster::JobRequest request;
    bool acknowledged = false;
    bool cancelled = false;                  // asked for
    std::optional<cluster::JobState> ended;  // as told
    bool forgotten = false;                  // it had ended, and nobody can say how
    base::Duration asked{};
    base::Duration acknowledged_at{};
  };

  ClusterUser(Kernel& kernel, const ClusterLog& log, const ClusterRuns& runs, bool direct)
      : kernel_(&kernel), log_(&log), runs_(&runs), direct_(direct) {}

  Job& add(cluster::JobRequest request);
  std::map<cluster::JobId, Job>& jobs() { return jobs_; }
  const std::map<cluster::JobId, Job>& jobs() const { return jobs_; }

  // What was seen before was seen by another process, or before the job was lost sight of: it may be shown again.
  void session_begins() { shown_.clear(), results_.clear(); }
  void session_begins(cluster::JobId job);
  void told(const cluster::ClientUpdate& update);

 private:
  void acknowledge(Job& job);
  void told(const cluster::ClientAnswer& answer);
  void told(const cluster::WorkflowEnded& result);
  void told(const cluster::JobEnd& end);
  void told(cluster::JobId job, const cluster::ClientProgress& progress);
  void check_counts(const std::string& datacenter, cluster::JobId job, const cluster::WorkflowStatus& status);
  void check_counts(cluster::JobId job, const cluster::DatacenterStatus& status);
  // Whoever is told of an end has been told of all that came of it.
  void check_all_told(const cluster::JobEnd& end);
  void check_all_told_directly(cluster::JobId id, const Job& job);
  void compare_totals(const cluster::JobEnd& end);
  bool led_by_one(const cluster::JobEnd& end) const;

  Kernel* kernel_;
  const ClusterLog* log_;
  const ClusterRuns* runs_;
  bool direct_;
  std::map<cluster::JobId, Job> jobs_;
  struct Shown {
    cluster::Counts counts;
    cluster::Counts lost;
  };
  std::map<std::pair<cluster::JobId, std::uint32_t>, Shown> shown_;
  std::set<std::tuple<cluster::JobId, std::string, std::uint32_t>> results_;
};

}  // namespace muster::sim
