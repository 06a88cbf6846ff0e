// A job at the gate that owns it, under one epoch: its slots, what its datacenters tell, what is shown of it. It acts
// in the job's name only while the lease is valid, asked at the moment of every effect; without it, it is silent. It
// holds only what can be found out again. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/gate_desk.h"
#include "cluster/gate_statistics.h"
#include "cluster/messages.h"
#include "cluster/slot_machine.h"
#include "cluster/slot_results.h"

namespace muster::cluster {

class GateJob {
 public:
  GateJob(JobId id, const GateLedgerJob& job, const GateOptions& options, base::Instant now);

  std::uint64_t epoch() const { return epoch_; }

  // Does what is due and says when to look again; kNever without a lease, until it is renewed.
  base::Instant step(GateDesk& desk);

  // From a manager of this datacenter. What comes from one that was given up is refused.
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const SubmitAnswer& message);
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const StatusAnswer& message);
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const CancelAnswer& message);
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const WorkflowEnded& message);
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const JobEnd& message);
  void receive(GateDesk& desk, const std::string& datacenter, NodeId from, const WindowPush& message);

  // The lease of this slot's datacenter is over by the clock.
  void unheard(std::uint32_t slot);
  // One bit per slot whose datacenter was heard of since the last call.
  std::uint64_t take_heard();

  // Windows and totals for those who follow, if it is time.
  std::vector<WindowPush> pushes(base::Instant now);
  // All that is still to be told of a job that has ended, however lately something was pushed.
  std::vector<WindowPush> last_pushes(const GateLedgerJob& job);
  std::vector<WindowPush> everything(JobId id) const { return statistics_.all(id, epoch_); }
  const GateStatistics& statistics() const { return statistics_; }

  // Parts that a cancellation stopped, or could not be confirmed to have.
  std::uint32_t stopped() const;
  std::uint32_t unconfirmed() const;

  // It is not owned here any more, or over.
  void drop(GateDesk& desk);

 private:
  // A datacenter that may run the job but must not: told so until it confirms.
  struct Given {
    base::Instant next{};
    std::uint32_t attempts = 0;
    bool confirmed = false;
  };

  const GateLedgerJob* job(const GateDesk& desk) const;
  // The slot that this datacenter runs, or -1: then it is refused.
  int slot_of(const GateLedgerJob& job, const std::string& datacenter) const;
  SlotFence fence(const GateLedgerJob& job, int slot) const;
  void refuse(GateDesk& desk, NodeId from, bool end);
  void note_losses(const GateLedgerJob& job);
  base::Instant cancel_given_up(GateDesk& desk, const GateLedgerJob& job);

  JobId id_;
  std::uint64_t epoch_;
  base::Instant since_;
  base::Duration totals_every_;
  base::Instant totals_due_;
  std::vector<SlotMachine> slots_;
  std::vector<SlotResults> results_;
  std::map<std::string, Given> given_up_;
  GateStatistics statistics_;
};

}  // namespace muster::cluster
