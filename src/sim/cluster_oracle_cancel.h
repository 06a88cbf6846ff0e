// Holds cancellation to its time: once a cancellation is committed and all is healed, every executor of the job on a
// healthy worker is told, obeys or is killed, within the grace, the worker's poll and the time that a cluster needs to
// find its leaders. The same holds for what a datacenter still runs of a job that has ended at the gates, which have to
// hear of it first.
#pragma once

#include <vector>

#include "sim/cluster_oracle_log.h"
#include "sim/cluster_oracle_runs.h"

namespace muster::sim {

// The grace of executors (5 s), the poll that finds what a push did not tell (5 s), and room for who has to tell it.
constexpr base::Duration kCancelledWithin = std::chrono::seconds(30);
// The silence (30 s) after which a job's leader asks whose it is, which begins anew with another leader; some questions
// to gates that are gone; and what a cancellation takes.
constexpr base::Duration kGivenUpWithin = std::chrono::seconds(90) + kCancelledWithin;

// `core`: those that stay healthy since `healed_at`, in order.
void check_cancelled(Kernel& kernel, const ClusterLog& log, const ClusterRuns& runs,
                     const std::vector<base::NodeId>& core, base::Duration healed_at);

// Whether some executor of the job runs on any of these nodes.
bool runs_on(const ClusterRuns& runs, cluster::JobId job, const std::vector<base::NodeId>& nodes);

}  // namespace muster::sim
