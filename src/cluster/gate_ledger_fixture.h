// For tests: the gates' ledger fed with commands, and the gates, datacenters and runs that tests speak of.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/gate_ledger.h"
#include "cluster/ledger_fixture.h"

namespace muster::cluster {

constexpr Process kGateA{NodeId{301}, Life{1}};
constexpr Process kGateB{NodeId{302}, Life{1}};
constexpr base::Instant kStart{std::chrono::hours(1)};

class GateLedgerFixture {
 public:
  Verdict apply(GateCommand command, const Process& proposer = kGateA) {
    return ledger.apply(ledger.index() + 1, {proposer, ++sequence, std::move(command)});
  }

  Verdict submit(JobId job, std::vector<std::string> datacenters, bool reroute = false, std::size_t workflows = 1) {
    return apply(JobSubmitted{job, kClient, kGateA, fresh(), body(1),
                              outline(std::vector<std::vector<std::uint32_t>>(workflows)), std::move(datacenters), 0,
                              reroute});
  }
  Verdict submit_count(JobId job, std::uint32_t count, std::vector<std::string> preferred = {}) {
    return apply(
        JobSubmitted{job, kClient, kGateA, fresh(), body(1), outline({{}}), std::move(preferred), count, false});
  }
  // Under the present epoch and offer.
  SlotFence fence(std::uint32_t slot = 0) const {
    const GateLedgerJob& found = job();
    return {kJob, found.epoch, slot, found.slots[slot].offer};
  }
  Verdict offer(const std::string& datacenter, bool refused = false, std::uint32_t slot = 0) {
    SlotFence next = fence(slot);
    ++next.offer;
    return apply(SlotOffered{next, datacenter, refused});
  }
  Verdict accepted(std::uint32_t slot = 0) { return apply(SlotAccepted{fence(slot)}); }
  Verdict result(std::uint32_t workflow, WorkflowState state = WorkflowState::kCompleted, std::uint32_t slot = 0) {
    return apply(WorkflowReceived{fence(slot), status(workflow, state)});
  }
  // Whatever completed has told all of its results.
  Verdict ended(JobState state = JobState::kCompleted, std::uint32_t slot = 0) {
    for (std::uint32_t i = 0; state == JobState::kCompleted && i < job().outline.workflows.size(); ++i) {
      result(i, WorkflowState::kCompleted, slot);
    }
    return apply(SlotEnded{fence(slot), state, "", std::chrono::seconds(3)});
  }
  Verdict lost(std::uint32_t slot = 0, SlotLoss loss = SlotLoss::kUnheard) {
    return apply(SlotLost{fence(slot), job().slots[slot].heard, loss, "it was not heard of"});
  }
  Verdict move(const Process& to) { return apply(LeaseMoved{kJob, job().epoch + 1, job().renewal, fresh(), to}); }

  Verdict renew(std::uint64_t heard = 0) {
    return apply(LeasesRenewed{job().owner, {{kJob, job().epoch, fresh(), heard}}});
  }
  RenewalId fresh() { return RenewalId{++renewals}; }

  static WorkflowStatus status(std::uint32_t workflow, WorkflowState state = WorkflowState::kCompleted) {
    return {workflow, state, 1, 1, {10, 9, 1}, {body(70 + workflow)}, ""};
  }
  const GateLedgerJob& job() const { return *ledger.job(kJob); }
  const GateSlot& slot(std::uint32_t number = 0) const { return job().slots[number]; }

  GateLedger ledger;
  std::uint64_t sequence = 0;
  std::uint64_t renewals = 0;
};

}  // namespace muster::cluster
