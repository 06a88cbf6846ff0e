// What a datacenter has told of ends, on its way into the gates' log: the bodies of a result must be on a majority's
// disks before the log names them, and every result in the log before the slot ends. Owned by a GateJob.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/gate_desk.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

class SlotResults {
 public:
  // As the slot's datacenter told; `from` has the bodies. Repetitions add nothing but another who has them.
  void add(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, NodeId from, const WorkflowStatus& status);
  void end(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, NodeId from, JobState state,
           const std::string& reason, base::Duration elapsed, const std::vector<WorkflowStatus>& workflows);

  // Proposes what is ready.
  void step(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence);

  // The slot is another's now, or over: nothing is waited for.
  void drop(GateDesk& desk);

  bool ended() const { return end_.has_value(); }

 private:
  struct Pending {
    WorkflowStatus status;
    std::vector<NodeId> sources;
    base::Instant since{};
  };
  struct End {
    JobState state = JobState::kCompleted;
    std::string reason;
    base::Duration elapsed{};
  };

  void unpin(GateDesk& desk, const WorkflowStatus& status);
  void propose_end(GateDesk& desk, const GateLedgerJob& job, const SlotFence& fence, const End& end) const;

  std::uint32_t offer_ = 0;                   // of the slot, which all below is about
  std::map<std::uint32_t, Pending> pending_;  // by workflow
  std::optional<End> end_;
};

}  // namespace muster::cluster
