// Messages between managers and workers. What a manager orders carries its own epoch of the job, never one it heard of,
// and the fence of the part; a worker refuses lower epochs than it has seen and answers an equal fence like the first
// time. Only answers of a manager that has quorum and a caught-up ledger are contact. Plain values; limits in
// options.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "metrics/histogram.h"
#include "resilience/backpressure.h"

namespace muster::cluster {

// What a worker says of one of its parts.
struct PartReport {
  PartId part;
  Fence fence;
  bool finished = false;         // its result is kept here, not yet acknowledged
  base::Duration elapsed{};      // since the executor began
  std::uint64_t beat = 0;        // rises while the executor shows signs of life
  std::uint32_t cores_done = 0;  // of its cores, that have nothing to do any more and are free here

  bool operator==(const PartReport&) const = default;
};

enum class WorkerState : std::uint8_t { kRegistering, kHealthy, kDegraded, kDraining, kOffline };
constexpr std::size_t kWorkerStates = 5;
std::string_view to_text(WorkerState state);

// Of the protocol: who speaks another one is refused.
inline constexpr std::uint32_t kProtocolMajor = 1;

// Worker → manager, each second and on change. Registers, keeps contact, reports: one message for all three.
struct Heartbeat {
  Life life{};
  std::string cluster;      // ≤ kMaxName; checked first, a mismatch is refused by name
  std::string environment;  // likewise
  std::uint32_t major = kProtocolMajor;
  std::uint32_t minor = 0;
  std::uint64_t version = 0;  // rises with every heartbeat of this life; lower or equal is stale
  std::int64_t sent = 0;      // the worker's clock, ns; echoed in the answer
  WorkerState state = WorkerState::kHealthy;
  std::uint32_t cores = 0;
  std::uint32_t free_cores = 0;
  std::vector<PartReport> parts;  // all that run or wait for acknowledgement, ≤ kMaxWorkerParts
  std::vector<JobId> idle;        // jobs it had no part of for long, ≤ kMaxIdleJobs: may it forget them?

  bool operator==(const Heartbeat&) const = default;
};

enum class Contact : std::uint8_t {
  kAdmitted,   // contact: the ledger has this life, and this manager is caught up with a quorum
  kPending,    // contact, but the admission is not yet committed: no work comes
  kNoQuorum,   // no contact: ask another manager
  kEvicted,    // no contact, until the managers admit it anew
  kStaleLife,  // a higher life of this node is admitted: end
  kMismatch,   // cluster, environment or major version: see reason
};
constexpr std::size_t kContacts = 6;
std::string_view to_text(Contact contact);

struct Leader {
  JobId job{};
  NodeId manager = kNoNode;
  std::uint64_t epoch = 0;

  bool operator==(const Leader&) const = default;
};

struct HeartbeatAnswer {
  Life life{};            // the worker's, echoed
  std::int64_t sent = 0;  // echoed
  Contact contact = Contact::kNoQuorum;
  std::vector<Leader> leaders;                                  // of the jobs of the parts reported
  std::vector<NodeId> managers;                                 // whom to ask, ≤ kMaxManagers
  resilience::Pressure pressure = resilience::Pressure::kNone;  // of the manager's intake: how often to send progress
  std::uint64_t admission = 0;  // kAdmitted: which; it rises each time the worker is admitted anew
  std::vector<JobId> over;      // those of the idle jobs that have ended: nobody will offer parts of them
  std::string reason;

  bool operator==(const HeartbeatAnswer&) const = default;
};

// Job leader → worker, only after the provision was applied. Repeated until answered.
struct Dispatch {
  PartId part;
  Fence fence;
  std::uint64_t epoch = 0;  // the sender's own
  Life worker_life{};       // another life refuses
  std::uint32_t major = kProtocolMajor;
  Slice slice;
  BodyRef bundle;
  std::string workflow;               // its name
  base::Duration run_limit{};         // 0: none
  std::uint64_t context_version = 0;  // lower than one seen for the job is refused
  std::string context;                // what the dependencies provided, ≤ kMaxContext
  std::uint64_t admission = 0;        // of the worker, by the sender's ledger; refused if the worker knows a later one

  bool operator==(const Dispatch&) const = default;
};

enum class DispatchReply : std::uint8_t {
  kAccepted,
  kBusy,        // counts as accepted: it is being prepared
  kFinished,    // this very attempt has already ended; its result follows
  kStaleFence,  // a newer fence of the part or epoch of the job was seen
  kStaleLife,   // another life of the worker answers
  kNoCores,
  kOtherMajor,
  kOldContext,
  kDraining,
  kTooMany,  // parts or fences: it cannot promise never to run it
  kStopped,  // this very attempt was stopped, or its start failed, and it left no result
  kAlone,    // likewise, for want of contact to managers; or the offer is from before its last admission
};
constexpr std::size_t kDispatchReplies = 12;
std::string_view to_text(DispatchReply reply);
constexpr bool accepted(DispatchReply reply) {
  return reply <= DispatchReply::kFinished;
}

struct DispatchAnswer {
  PartId part;
  Fence fence;
  DispatchReply reply = DispatchReply::kAccepted;
  std::uint64_t version = 0;  // of the worker's last heartbeat before: later ones report the part if it runs

  bool operator==(const DispatchAnswer&) const = default;
};

enum class StopReason : std::uint8_t { kCancelled, kUntracked, kStuck, kRevoked, kOverdue };
constexpr std::size_t kStopReasons = 5;

// Manager → worker: end this attempt, and any lower one of the part, and never start it. Repeated until confirmed.
struct StopPart {
  PartId part;
  Fence fence;
  std::uint64_t epoch = 0;
  StopReason reason = StopReason::kCancelled;

  bool operator==(const StopPart&) const = default;
};

// It does not run and never will, in this life. `finished`: it had ended by itself; its result is kept and follows.
struct PartStopped {
  PartId part;
  Fence fence;
  Life life{};
  bool finished = false;
  bool alone = false;  // it had been stopped for want of contact

  bool operator==(const PartStopped&) const = default;
};

struct PartProgress {
  PartId part;
  Fence fence;
  std::uint64_t sequence = 0;  // rises per attempt
  base::Duration collected{};  // when, on the worker's clock
  std::uint64_t beat = 0;
  std::uint64_t vus = 0;
  Counts counts;  // cumulative over the attempt
  metrics::CoarseHistogram latency;

  bool operator==(const PartProgress&) const = default;
};

// Worker → job leader, each 50 ms: the latest of each part that has news.
struct Progress {
  Life life{};
  base::Duration sent{};            // the worker's clock
  std::vector<PartProgress> parts;  // ≤ kMaxWorkerParts, and within a message

  bool operator==(const Progress&) const = default;
};

// Worker → any manager, best the leader, until acknowledged. The receiver pulls the body.
struct PartResult {
  NodeId worker = kNoNode;  // who keeps it; kept when another manager forwards
  Life life{};
  PartId part;
  Fence fence;
  PartOutcome outcome = PartOutcome::kCompleted;
  BodyRef body;
  Counts counts;
  std::string reason;

  bool operator==(const PartResult&) const = default;
};

// Manager → worker: the result is held by the log, or nobody will ever want it. Its bytes may go.
struct ResultAck {
  PartId part;
  Fence fence;

  bool operator==(const ResultAck&) const = default;
};

}  // namespace muster::cluster
