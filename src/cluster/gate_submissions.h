// Jobs that were submitted to this gate and not yet accepted by the log: their bundles are pulled from the client,
// copied to a majority of gates, and then the submission is proposed, with this gate as owner. Nothing of it survives a
// restart; the client repeats its submit. Bounded in number and time. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/time.h"
#include "cluster/gate_desk.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

class GateSubmissions {
 public:
  // One that the ledger does not know. False if there are too many.
  bool add(GateDesk& desk, NodeId from, const Submit& submit);
  bool contains(JobId job) const { return pending_.contains(job); }
  std::size_t size() const { return pending_.size(); }

  // Proposes what is on a majority's disks; gives up what takes too long. When to look again, beside news of bodies.
  base::Instant step(GateDesk& desk);

  // The log has judged a submission, whoever proposed it: who waits for it, or kNoNode; it is answered if refused.
  NodeId applied(GateDesk& desk, JobId job, Verdict verdict);
  // Its proposal timed out; the outcome is open.
  void timed_out(GateDesk& desk, JobId job);

 private:
  struct Pending {
    NodeId from = kNoNode;
    Submit submit;
    base::Instant give_up{};
  };
  using Table = std::map<JobId, Pending>;

  void propose(GateDesk& desk, const Submit& submit);
  void refuse(GateDesk& desk, const Pending& pending, Answer answer, std::string_view reason);
  Table::iterator remove(GateDesk& desk, Table::iterator at);

  Table pending_;
};

}  // namespace muster::cluster
