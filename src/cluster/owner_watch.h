// Jobs that gates brought, at the manager that leads them: which gate spoke for each of them last, and when. The gate
// that a job's leader knows may be gone, and the job have ended at the gates meanwhile; so who owns it is asked when
// none has spoken for long. Owned by the manager.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/desk.h"

namespace muster::cluster {

class OwnerWatch {
 public:
  // This manager begins to lead the job; when to look after it.
  base::Instant lead(Desk& desk, JobId job);
  void leave(JobId job);
  // A gate that owns the job, or that knows that nobody does any more.
  void spoke(Desk& desk, JobId job);

  // `origin(job)`: the gate that is told of the job. It is asked first, and then all `gates` in turn.
  template <class Origin>
  base::Instant step(Desk& desk, const std::vector<NodeId>& gates, Origin&& origin) {
    while (!due_.empty() && due_.begin()->first <= desk.now) {
      const JobId job = due_.begin()->second;
      const LedgerJob* known = desk.ledger.job(job);
      // It stops anyway, and its end is pushed until somebody takes it.
      const bool over = known == nullptr || known->end || known->cancel;
      over ? leave(job) : ask(desk, job, origin(job, *known), gates);
    }
    return due_.empty() ? base::kNever : due_.begin()->first;
  }

 private:
  struct Watched {
    base::Instant due{};
    std::uint32_t asked = 0;  // since a gate has spoken
  };

  void schedule(JobId job, Watched& watched, base::Instant due);
  void ask(Desk& desk, JobId job, NodeId origin, const std::vector<NodeId>& gates);

  std::map<JobId, Watched> watched_;
  std::set<std::pair<base::Instant, JobId>> due_;
};

}  // namespace muster::cluster
