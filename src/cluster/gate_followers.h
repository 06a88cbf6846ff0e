// Who follows which job at this gate: each is told every end of a workflow once and in order, then the job's end until
// it says that it has all of it. What is told is committed, so any gate may tell it, owner or not; windows come from
// the owner. Bounded. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/time.h"
#include "cluster/gate_desk.h"
#include "cluster/messages.h"

namespace muster::cluster {

class GateFollowers {
 public:
  // From now on, having seen this many ends of workflows.
  void follow(JobId job, NodeId node, std::uint32_t seen, base::Instant now);
  // It asked for the cancellation: told when that is over.
  void cancels(JobId job, NodeId node, base::Instant now);
  void left(NodeId node);
  // It has the end. False if it did not follow.
  bool acknowledged(JobId job, NodeId node);
  void forgotten(JobId job);

  // Tells what the ledger has that followers have not seen. When to look again.
  base::Instant step(GateDesk& desk, JobId job);
  // What the parts of a cancelled job came to, if this gate knows.
  void stopped(JobId job, std::uint32_t stopped, std::uint32_t unconfirmed);

  void push(GateDesk& desk, JobId job, const std::vector<WindowPush>& messages) const;
  void tell_all(GateDesk& desk, const Message& message) const;  // each node once

 private:
  struct Follower {
    NodeId node = kNoNode;
    std::uint32_t told = 0;   // ends of workflows
    base::Instant end_due{};  // of the job's end, again
    bool follows = false;     // or asked for the cancellation only
    bool cancels = false;
  };
  struct Followed {
    std::vector<Follower> followers;  // oldest first
    std::uint32_t stopped = 0;
    std::uint32_t unconfirmed = 0;
  };

  Follower& find_or_add(JobId job, NodeId node, base::Instant now);

  std::map<JobId, Followed> jobs_;
};

}  // namespace muster::cluster
