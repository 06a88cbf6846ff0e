// What each command does to the gates' ledger, and when it does nothing. Every rule is the last line of defence:
// whatever a proposer believed, only this decides. Used by GateLedger::apply alone.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/gate_ledger.h"

namespace muster::cluster {

class GateLedgerRules {
 public:
  GateLedgerRules(GateLedger& ledger, std::uint64_t index, const GateEntry& entry)
      : ledger_(ledger), index_(index), entry_(entry) {}

  Verdict operator()(const JobSubmitted& command);
  Verdict operator()(const LeasesRenewed& command);
  Verdict operator()(const LeaseMoved& command);
  Verdict operator()(const SlotOffered& command);
  Verdict operator()(const SlotAccepted& command);
  Verdict operator()(const WorkflowReceived& command);
  Verdict operator()(const SlotEnded& command);
  Verdict operator()(const SlotLost& command);
  Verdict operator()(const SlotFailed& command);
  Verdict operator()(const JobCancelled& command);
  Verdict operator()(const EndAcknowledged& command);
  Verdict operator()(const GateJobForgotten& command);

 private:
  // The slot that a fence names, or why a command under it has no effect.
  struct Found {
    GateLedgerJob* job = nullptr;
    GateSlot* slot = nullptr;
    Verdict verdict = Verdict::kApplied;
  };

  GateLedgerJob* find(JobId id);
  Found find(const SlotFence& fence, bool next_offer);
  Verdict refuse_submission(Verdict verdict);
  void accept(GateLedgerJob& job, GateSlot& slot);         // the datacenter's lease begins
  bool abandon(GateLedgerJob& job, const GateSlot& slot);  // false: there is no room to remember it
  void end_slot(GateLedgerJob& job, GateSlot& slot, JobState state, const std::string& reason);

  GateLedger& ledger_;
  std::uint64_t index_;
  const GateEntry& entry_;
};

// What a job takes of the ledger: bytes of its outline, and the most results that it can bring.
std::size_t outline_bytes(const JobOutline& outline);
std::size_t most_results(const GateLedgerJob& job);

}  // namespace muster::cluster
