// Jobs that were submitted to this manager and not yet accepted by the log: their bundles are pulled from the client,
// copied to a majority, and then the acceptance is proposed, with this manager as leader. Nothing of it survives a
// restart; the client repeats its submit. Bounded in number and time. Owned by the manager.
#pragma once

#include <cstdint>
#include <map>

#include "base/time.h"
#include "cluster/desk.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

class Submissions {
 public:
  // One that the ledger does not know. False if there are too many.
  bool add(Desk& desk, NodeId from, const Submit& submit);
  bool contains(JobId job) const { return pending_.contains(job); }
  std::size_t size() const { return pending_.size(); }
  // Whether one was added since the last step.
  bool fresh() const { return fresh_; }

  // Proposes what is on a majority's disks; gives up what takes too long. When to look again, beside news of bodies.
  base::Instant step(Desk& desk);

  // The log has judged an acceptance; whoever proposed it.
  void applied(Desk& desk, JobId job, Verdict verdict);
  // Its proposal timed out; the outcome is open.
  void timed_out(Desk& desk, JobId job);

 private:
  struct Pending {
    NodeId from = kNoNode;
    Submit submit;
    base::Instant give_up{};
  };
  using Table = std::map<JobId, Pending>;

  void answer(Desk& desk, const Pending& pending, Answer answer, const char* reason);
  Table::iterator remove(Desk& desk, Table::iterator at);

  Table pending_;
  bool fresh_ = false;
};

Answer answer_of(Verdict verdict);

}  // namespace muster::cluster
