// A job at the manager that leads it, under one epoch. It holds only what can be found out again: the ledger says what
// was decided, so a machine that begins after a take-over does the same from there. Stepped when the ledger changes its
// job, when bodies arrive, when something about its parts is heard, and when it is due. Owned by the manager.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "cluster/desk.h"
#include "cluster/layer_barrier.h"
#include "cluster/messages.h"
#include "cluster/reconcile.h"
#include "cluster/results.h"
#include "cluster/windows.h"
#include "cluster/workflow_machine.h"

namespace muster::cluster {

class JobMachine {
 public:
  // `since`: its acceptance, as far as is known.
  JobMachine(JobId id, const LedgerJob& job, base::Instant since);

  std::uint64_t epoch() const { return epoch_; }

  // Does what is due and says when to look again. Only while this node's ledger is current.
  base::Instant step(Desk& desk);

  void receive(Desk& desk, const DispatchAnswer& message);
  void receive(Desk& desk, const PartStopped& message);
  void receive(Desk& desk, const PartResult& message) { results_.add(desk, message); }
  void receive(Desk& desk, NodeId from, const ExtensionAsk& message);
  void progress(Desk& desk, const PartProgress& message, base::Duration clock_offset);

  // A worker's report of a part; or its silence about one that it should run.
  void reported(Desk& desk, const PartReport& report);
  void missing(Desk& desk, const PartId& part, const Fence& fence);
  // Whether some of its parts are on offer and not accepted yet.
  bool offering() const;
  // What its worker is believed to run of it; nothing while that is not known.
  std::optional<Tracked> tracked(const PartId& part, const Fence& fence) const;

  // Another gate owns the job now.
  void announce(NodeId gate, std::uint64_t origin_epoch);
  NodeId origin() const { return origin_; }
  void push_windows(Desk& desk);
  // Of a job that has ended, before anybody is told so: what of its totals was not told yet.
  void push_last(Desk& desk);

  // It is not led here any more.
  void abandon(Desk& desk);

 private:
  const LedgerPart* assigned(Desk& desk, const PartId& part) const;
  PartWatch* watch(const PartId& part);
  void tell_ends(Desk& desk, const LedgerJob& job);
  base::Instant check_limits(Desk& desk, const LedgerJob& job);
  void give_up(Desk& desk, std::string_view reason, JobState end_as);

  JobId id_;
  std::uint64_t epoch_;
  NodeId origin_;
  std::uint64_t origin_epoch_;
  base::Instant since_;
  base::Instant no_worker_since_ = base::kNever;
  std::vector<WorkflowMachine> workflows_;
  std::vector<bool> told_;  // ends of workflows
  LayerBarrier barrier_;
  Results results_;
  Windows windows_;
  base::Instant push_due_{};
};

}  // namespace muster::cluster
