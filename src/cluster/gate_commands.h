// The commands of the gates' log: submissions, where they run, what came of it, and leases. Few, small, idempotent;
// each says what was decided and by whom, and whether it takes effect is judged when it is applied (gate_ledger.h), the
// same at every gate. Bodies that a command names are on a majority's disks before it is proposed.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/messages_job.h"
#include "cores/lease.h"

namespace muster::cluster {

using cores::RenewalId;

// The job is the cluster's: to its owner with epoch 1, and with it the lease. Repeated for the same job it changes
// nothing.
struct JobSubmitted {
  JobId job{};
  ClientId client{};
  Process owner;
  RenewalId renewal{};  // names the grant of the lease
  BodyRef bundle;
  JobOutline outline;
  std::vector<std::string> datacenters;  // to run at, all of them; with a count: preferred
  std::uint32_t count = 0;               // of datacenters; 0: those named
  bool reroute = false;                  // run anew elsewhere when a datacenter is lost

  bool operator==(const JobSubmitted&) const = default;
};

// The lease on one job, and those of its datacenters that were heard of since the last time.
struct Renewal {
  JobId job{};
  std::uint64_t epoch = 0;  // the holder's own
  RenewalId renewal{};
  std::uint64_t heard = 0;  // one bit per slot

  bool operator==(const Renewal&) const = default;
};

// All leases of a gate in one entry. Each row is judged by itself: a row of a superseded epoch changes nothing.
struct LeasesRenewed {
  Process holder;
  std::vector<Renewal> rows;  // ≤ kMaxRenewals

  bool operator==(const LeasesRenewed&) const = default;
};

// The lease has expired, its holder's process is gone, or its holder hands it over: the job is another's. Applied only
// if `epoch` follows the present one and no renewal came since the one that the proposer knew.
struct LeaseMoved {
  JobId job{};
  std::uint64_t epoch = 0;
  RenewalId last{};     // that the proposer knew
  RenewalId renewal{};  // names the new grant
  Process to;

  bool operator==(const LeaseMoved&) const = default;
};

// Which run of a job is meant: the slot (one per datacenter that the job runs at) and the how many-th datacenter that
// it was offered to. Together with the job's epoch it is the fence of whatever a datacenter says.
struct SlotFence {
  JobId job{};
  std::uint64_t epoch = 0;  // the proposer's own
  std::uint32_t slot = 0;
  std::uint32_t offer = 0;

  auto operator<=>(const SlotFence&) const = default;
};

// From now on this datacenter may run the job: committed before it is told. `refused`: the one before it said no, so
// it does not run there; otherwise that one is abandoned, and whatever it sends is refused.
struct SlotOffered {
  SlotFence fence;  // offer: one more than the slot's last
  std::string datacenter;
  bool refused = false;

  bool operator==(const SlotOffered&) const = default;
};

struct SlotAccepted {
  SlotFence fence;

  bool operator==(const SlotAccepted&) const = default;
};

// One workflow's end at a datacenter. It counts once, whoever proposes it how often.
struct WorkflowReceived {
  SlotFence fence;
  WorkflowStatus status;

  bool operator==(const WorkflowReceived&) const = default;
};

// The datacenter has ended the job, and every end of a workflow that it told is in the log.
struct SlotEnded {
  SlotFence fence;
  JobState state = JobState::kCompleted;  // a terminal one
  std::string reason;
  base::Duration elapsed{};

  bool operator==(const SlotEnded&) const = default;
};

enum class SlotLoss : std::uint8_t {
  kUnheard,    // the datacenter's lease has expired; the job may be rerouted
  kForgotten,  // the datacenter had accepted the job and has since forgotten it: never run again
};
constexpr std::size_t kSlotLosses = 2;

// An accepted run is lost. Applied only if the lease was not renewed since the renewal that the proposer knew.
struct SlotLost {
  SlotFence fence;
  RenewalId heard{};
  SlotLoss loss = SlotLoss::kUnheard;
  std::string reason;

  bool operator==(const SlotLost&) const = default;
};

// No datacenter accepted it, and none will.
struct SlotFailed {
  SlotFence fence;
  JobState state = JobState::kFailed;  // kFailed, kCancelled or kTimeout
  bool refused = false;                // as in SlotOffered
  std::string reason;

  bool operator==(const SlotFailed&) const = default;
};

// The job is offered to nobody any more; its owner tells the datacenters. The first one counts.
struct JobCancelled {
  JobId job{};
  ClientId client{};
  std::string requester;
  std::string reason;

  bool operator==(const JobCancelled&) const = default;
};

// A client has the end, with all results.
struct EndAcknowledged {
  JobId job{};

  bool operator==(const EndAcknowledged&) const = default;
};

// An ended job is dropped down to its tombstone: gates must forget alike.
struct GateJobForgotten {
  JobId job{};

  bool operator==(const GateJobForgotten&) const = default;
};

// The order is the number of the command in the log: add at the end only.
using GateCommand = std::variant<JobSubmitted, LeasesRenewed, LeaseMoved, SlotOffered, SlotAccepted, WorkflowReceived,
                                 SlotEnded, SlotLost, SlotFailed, JobCancelled, EndAcknowledged, GateJobForgotten>;

// A command in the log: with the proposal that it answers.
struct GateEntry {
  Process proposer;
  std::uint64_t sequence = 0;  // of the proposer's life
  GateCommand command;

  bool operator==(const GateEntry&) const = default;
};

}  // namespace muster::cluster
