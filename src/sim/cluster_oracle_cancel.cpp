#include "sim/cluster_oracle_cancel.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

void check_cancelled(Kernel& kernel, const ClusterLog& log, const ClusterRuns& runs,
                     const std::vector<base::NodeId>& core, base::Duration healed_at) {
  for (std::uint32_t place = 0; place < 2; ++place) {
    for (const auto& [key, attempt] : runs.attempts(place)) {
      if (!attempt.live || !std::ranges::binary_search(core, attempt.worker)) continue;
      const auto cancelled = log.cancelled_at(place, key.first.job);
      if (!cancelled || kernel.elapsed() <= std::max(*cancelled, healed_at) + kCancelledWithin) continue;
      kernel.violate("cancelled",
                     fmt::format("job {} was cancelled {:.1f} s ago, and part {}.{} of it runs on worker {}",
                                 cluster::number(key.first.job), base::seconds(kernel.elapsed() - *cancelled),
                                 key.first.workflow, key.first.part, base::number(attempt.worker)));
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
