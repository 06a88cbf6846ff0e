// Messages by which managers, workers and clients watch over each other: probes and orphan scans, polls for
// cancellations lost on the way, extensions of deadlines, drain; what managers tell each other; and what gates and
// clients need beside messages_job.h. Plain values; limits in options.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/messages_job.h"
#include "cluster/messages_worker.h"

namespace muster::cluster {

// Manager → worker, over the stream that work takes: an answer shows more than SWIM can. Also the orphan scan.
struct Probe {
  std::uint64_t number = 0;

  bool operator==(const Probe&) const = default;
};
struct ProbeAnswer {
  std::uint64_t number = 0;
  Life life{};
  std::uint64_t version = 0;  // in one sequence with those of heartbeats
  WorkerState state = WorkerState::kHealthy;
  std::uint32_t free_cores = 0;
  std::vector<PartReport> parts;

  bool operator==(const ProbeAnswer&) const = default;
};

// Worker → any manager each 5 s: are these still wanted? The answer names those to stop, by the ledger.
struct CancelPoll {
  Life life{};
  std::vector<PartReport> parts;

  bool operator==(const CancelPoll&) const = default;
};

enum class ExtensionReason : std::uint8_t { kLongWorkflow, kPause, kContention };
constexpr std::size_t kExtensionReasons = 3;

// Worker → job leader: the part is alive though it shows no progress.
struct ExtensionAsk {
  PartId part;
  Fence fence;
  ExtensionReason reason = ExtensionReason::kLongWorkflow;
  double progress = 0;             // 0 … 1
  base::Duration estimated_end{};  // from now
  std::uint32_t active = 0;        // parts that the worker runs

  bool operator==(const ExtensionAsk&) const = default;
};
struct ExtensionAnswer {
  PartId part;
  Fence fence;
  bool granted = false;
  base::Duration extended{};  // by how much
  base::Duration deadline{};  // from now
  std::uint32_t left = 0;     // extensions
  bool warning = false;       // it was the last one
  base::Duration grace{};     // after the deadline, to save
  std::string reason;

  bool operator==(const ExtensionAnswer&) const = default;
};

// Operator or manager → worker: take no more parts, end when those that run have ended.
struct Drain {
  bool on = true;

  bool operator==(const Drain&) const = default;
};

// Manager → manager: an entry for the log's leader to propose. Not answered: the proposer sees it applied, or asks
// again.
struct Forward {
  std::string entry;  // command_codec.h, ≤ kMaxCommandBytes

  bool operator==(const Forward&) const = default;
};

// Manager → manager each second. A process that leads jobs under a life that is over loses them.
struct ManagerState {
  Life life{};
  std::uint64_t applied = 0;
  std::uint32_t jobs_led = 0;
  bool draining = false;

  bool operator==(const ManagerState&) const = default;
};

// ---- gates and clients ----

// Client → gate after losing its own: what it saw last. Answered by StatusAnswer, then by what it missed, or by
// SubmitAnswer kNotOwner with the true owner.
struct Reconnect {
  JobId job{};
  ClientId client{};
  std::uint32_t workflows_seen = 0;  // ends of workflows
  std::uint64_t window_seen = 0;

  bool operator==(const Reconnect&) const = default;
};

struct DatacentersAsk {
  bool operator==(const DatacentersAsk&) const = default;
};

enum class DatacenterClass : std::uint8_t { kHealthy, kBusy, kDegraded, kUnhealthy };
constexpr std::size_t kDatacenterClasses = 4;

struct Datacenter {
  std::string name;
  DatacenterClass health = DatacenterClass::kUnhealthy;
  std::uint32_t managers = 0;  // live
  std::uint32_t workers = 0;   // healthy
  std::uint32_t free_cores = 0;
  std::uint32_t cores = 0;

  bool operator==(const Datacenter&) const = default;
};
struct Datacenters {
  Answer answer = Answer::kAccepted;
  base::Duration retry_after{};  // of those who are turned away
  std::vector<Datacenter> list;  // ≤ kMaxDatacenters

  bool operator==(const Datacenters&) const = default;
};

// Gate → client: who is on the ring, so that it finds the owner of its job by itself.
struct Ring {
  std::uint64_t version = 0;
  std::vector<NodeId> gates;  // ≤ kMaxGates

  bool operator==(const Ring&) const = default;
};

}  // namespace muster::cluster
