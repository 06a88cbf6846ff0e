// Ended jobs: pushes each end to whoever asked for the job until it is acknowledged, asks the gates for an owner when
// nobody does, and has the log forget the job when its time is over. An end that was not acknowledged is kept long. The
// duty is the owner's, or the log's leader's where the owner is gone. Owned by the manager.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/time.h"
#include "cluster/desk.h"

namespace muster::cluster {

class Ends {
 public:
  // The ledger has ended this job, or has been restored with it. `elapsed` since its acceptance; 0: not known.
  void ended(JobId job, base::Duration elapsed, base::Instant now);
  void forgotten(JobId job);
  // The ledger was replaced.
  void clear() { *this = Ends(); }

  // Whose job it is to tell now.
  void announce(JobId job, NodeId gate, std::uint64_t origin_epoch, base::Instant now);
  void acknowledged(Desk& desk, JobId job, NodeId from);

  // `responsible(job)` says whether this manager is.
  template <class Responsible>
  base::Instant step(Desk& desk, const std::vector<NodeId>& gates, Responsible&& responsible) {
    while (!due_.empty() && due_.begin()->first <= desk.now) {
      const JobId job = due_.begin()->second;
      const LedgerJob* known = desk.ledger.job(job);
      if (known == nullptr || !known->end) {
        forgotten(job);
      } else {
        const bool mine = responsible(*known);
        schedule(job, ended_.at(job), mine ? tell(desk, job, *known, gates) : desk.now + desk.options.cleanup);
      }
    }
    return due_.empty() ? base::kNever : due_.begin()->first;
  }

 private:
  struct Ended {
    base::Instant since{};
    base::Duration elapsed{};
    base::Instant due{};
    std::uint32_t pushed = 0;
    bool acknowledged = false;
    NodeId origin = kNoNode;  // if another than the ledger's
    std::uint64_t origin_epoch = 0;
  };

  void schedule(JobId job, Ended& ended, base::Instant due);
  base::Instant tell(Desk& desk, JobId job, const LedgerJob& known, const std::vector<NodeId>& gates);

  std::map<JobId, Ended> ended_;
  std::set<std::pair<base::Instant, JobId>> due_;
};

}  // namespace muster::cluster
