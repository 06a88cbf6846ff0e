#include "sim/cluster_oracle_cancel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster::sim {

namespace {

// Since when the job should not run, and what is said of one that does.
struct Stop {
  base::Duration at{};
  base::Duration within{};
  std::string_view why;
};

std::optional<Stop> stop_of(const ClusterLog& log, std::uint32_t place, cluster::JobId job) {
  if (const auto at = log.cancelled_at(place, job)) return Stop{*at, kCancelledWithin, "was cancelled"};
  if (const auto at = log.ended_at_gates_at(job)) return Stop{*at, kGivenUpWithin, "ended at the gates"};
  return std::nullopt;
}

}  // namespace

void check_cancelled(Kernel& kernel, const ClusterLog& log, const ClusterRuns& runs,
                     const std::vector<base::NodeId>& core, base::Duration healed_at) {
  for (std::uint32_t place = 0; place < 2; ++place) {
    for (const auto& [key, attempt] : runs.attempts(place)) {
      if (!attempt.live || !std::ranges::binary_search(core, attempt.worker)) continue;
      const cluster::JobId job = key.first.job;
      if (log.forgotten_at_gates(job)) kernel.hit("run of a job that the gates have forgotten");
      const auto stop = stop_of(log, place, job);
      if (!stop || kernel.elapsed() <= std::max(stop->at, healed_at) + stop->within) continue;
      kernel.violate("cancelled",
                     fmt::format("job {} {} {:.1f} s ago, and part {}.{} of it runs on worker {}", cluster::number(job),
                                 stop->why, base::seconds(kernel.elapsed() - stop->at), key.first.workflow,
                                 key.first.part, base::number(attempt.worker)));
    }
  }
}

bool runs_on(const ClusterRuns& runs, cluster::JobId job, const std::vector<base::NodeId>& nodes) {
  for (std::uint32_t place = 0; place < 2; ++place) {
    const ClusterRuns::Attempts& all = runs.attempts(place);
    for (auto at = all.lower_bound({cluster::PartId{job, 0, 0}, {}}); at != all.end() && at->first.first.job == job;
         ++at) {
      if (at->second.live && std::ranges::binary_search(nodes, at->second.worker)) return true;
    }
  }
  return false;
}

}  // namespace muster::sim
