// Messages about jobs: between clients, gates and managers. A manager's client is a gate, or a client itself where
// there are no gates; both speak the same messages, so that either can be missing. Plain values; limits in options.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/windows_row.h"

namespace muster::cluster {

// → gate or manager. Repeated until answered; the same id is the same job. The receiver pulls the bundle from the
// sender (BodyWanted) unless it has it.
struct Submit {
  JobId job{};
  ClientId client{};               // at a gate: set from the credential, whatever was sent
  std::uint64_t origin_epoch = 0;  // gate → manager: of the gate's lease on the job; 0: none
  BodyRef bundle;
  JobOutline outline;
  std::vector<std::string> datacenters;     // client → gate: names, ≤ kMaxDatacenters
  std::uint32_t datacenter_count = 0;       // client → gate, instead of names
  bool reroute_on_datacenter_loss = false;  // client → gate: `on_dc_loss: reroute`

  bool operator==(const Submit&) const = default;
};

// How a request was received. Each is a different thing to do for whoever asked.
enum class Answer : std::uint8_t {
  kAccepted,           // committed
  kCapacityExceeded,   // the queue is full: later
  kQuorumUnavailable,  // no leader, or this manager is not caught up: elsewhere or later
  kQuorumTimeout,      // proposed, not committed in time; the outcome is open: ask again with the same id
  kQuorumCircuitOpen,  // too many of those lately
  kLimited,            // too many requests of this client: after retry_after
  kOverloaded,         // shed: after retry_after
  kDraining,           // elsewhere
  kInvalid,            // as it is it will never be accepted; see reason
  kConflict,           // the id belongs to another client's job
  kBundleMissing,      // the bundle did not arrive in time, or did not have its hash
  kUnknownJob,
  kEnded,         // the job has already ended; its state is told
  kNotOwner,      // `leader` (a gate or manager) is whom to ask
  kNoDatacenter,  // every datacenter asked for is unhealthy; see reason
};
constexpr std::size_t kAnswers = 15;
std::string_view to_text(Answer answer);

struct SubmitAnswer {
  JobId job{};
  Answer answer = Answer::kAccepted;
  JobState state = JobState::kSubmitted;
  std::uint32_t position = 0;  // in the queue, from 1; 0: not queued
  NodeId leader = kNoNode;     // the job's manager, or the owner gate
  std::uint64_t epoch = 0;     // of that leader; a receiver ignores answers of lower epochs
  base::Duration retry_after{};
  std::string reason;

  bool operator==(const SubmitAnswer&) const = default;
};

struct StatusAsk {
  JobId job{};
  ClientId client{};  // as for Submit: limits count per client; a gate that asks for itself names nobody

  bool operator==(const StatusAsk&) const = default;
};

// One workflow's end, or its present state within a status.
struct WorkflowStatus {
  std::uint32_t workflow = 0;
  WorkflowState state = WorkflowState::kPending;
  std::uint32_t parts = 0;
  std::uint32_t parts_ended = 0;
  Counts counts;                 // of results held: what is final
  std::vector<BodyRef> results;  // held, one per part that left any; pulled by BodyWanted
  std::string reason;

  bool operator==(const WorkflowStatus&) const = default;
};

// Gate → client: a job at one datacenter.
struct DatacenterStatus {
  std::string name;  // ≤ kMaxName; empty: none was found yet
  JobState state = JobState::kSubmitted;
  bool lost = false;  // it was not heard of any more, or has forgotten the job
  std::string reason{};
  base::Duration elapsed{};
  std::uint32_t workflows = 0;
  std::uint32_t workflows_ended = 0;
  Counts counts{};  // of the workflows that ended

  bool operator==(const DatacenterStatus&) const = default;
};

struct StatusAnswer {
  JobId job{};
  Answer answer = Answer::kAccepted;  // kAccepted: what follows is known
  JobState state = JobState::kSubmitted;
  std::uint32_t position = 0;
  NodeId leader = kNoNode;
  std::uint64_t epoch = 0;
  std::string reason;
  std::vector<WorkflowStatus> workflows;        // empty for a job forgotten down to its end
  std::vector<DatacenterStatus> datacenters{};  // of a gate, ≤ kMaxDatacenters
  base::Duration retry_after{};                 // if limited

  bool operator==(const StatusAnswer&) const = default;
};

struct Cancel {
  JobId job{};
  ClientId client{};
  std::uint64_t origin_epoch = 0;
  std::string requester;
  std::string reason;

  bool operator==(const Cancel&) const = default;
};

// First with `done` false as soon as the request is committed, then with the count when every part confirmed.
struct CancelAnswer {
  JobId job{};
  Answer answer = Answer::kAccepted;
  bool done = false;
  std::uint32_t stopped = 0;      // parts that were stopped
  std::uint32_t unconfirmed = 0;  // parts whose worker was lost before it confirmed
  base::Duration retry_after{};

  bool operator==(const CancelAnswer&) const = default;
};

// Manager → origin. At once, and once more to whoever asks for the job next; what is lost on the way comes with the
// end, which is repeated until it is acknowledged. Gate → client: once, in order.
struct WorkflowEnded {
  JobId job{};
  std::uint64_t epoch = 0;  // the leader's; lower ones than seen are ignored
  WorkflowStatus status;
  std::string datacenter{};  // gate → client
  std::uint32_t sequence =
      0;  // gate → client: 1, 2, … over all datacenters, so that it knows what it missed; managers: 0

  bool operator==(const WorkflowEnded&) const = default;
};

// Manager → origin, until EndAck.
struct JobEnd {
  JobId job{};
  std::uint64_t epoch = 0;
  JobState state = JobState::kCompleted;
  std::string reason;
  std::vector<WorkflowStatus> workflows;
  base::Duration elapsed{};                     // since its acceptance
  std::vector<DatacenterStatus> datacenters{};  // gate → client, ≤ kMaxDatacenters
  std::uint32_t results = 0;                    // gate → client: how many WorkflowEnded belong to it

  bool operator==(const JobEnd&) const = default;
};

// Origin → manager, when the end is in the origin's own log (a gate) or shown (a client).
struct EndAck {
  JobId job{};

  bool operator==(const EndAck&) const = default;
};

// Manager → origin: windows that closed since the last push, and totals. Totals never fall.
struct WindowPush {
  JobId job{};
  std::uint64_t epoch = 0;
  std::vector<WindowRow> windows;  // ≤ kMaxWindowRows
  std::vector<TotalRow> totals;    // one per workflow that has any
  std::string datacenter{};        // gate → client: whose

  bool operator==(const WindowPush&) const = default;
};

// Gate → the job's managers: this gate owns the job from now on. Older epochs are refused by silence.
struct GateAnnounce {
  JobId job{};
  std::uint64_t origin_epoch = 0;

  bool operator==(const GateAnnounce&) const = default;
};

// Manager → any gate, when the origin is silent: who owns the job? Answered by GateAnnounce of the owner, or by
// OwnerIs of another gate; and by Cancel as well if the job has ended at the gates.
struct OwnerAsk {
  JobId job{};

  bool operator==(const OwnerAsk&) const = default;
};
struct OwnerIs {
  JobId job{};
  NodeId gate = kNoNode;
  std::uint64_t origin_epoch = 0;

  bool operator==(const OwnerIs&) const = default;
};

}  // namespace muster::cluster
