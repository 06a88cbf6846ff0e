// The commands of the managers' log: few, small, idempotent. Each says what was decided and by whom; whether it takes
// effect is judged when it is applied (ledger.h), the same at every replica. Bodies that a command names are on a
// majority's disks before it is proposed. Progress never comes here. Leases of jobs are commands of the gates' log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/ids.h"
#include "cluster/job.h"

namespace muster::cluster {

// The job is the cluster's: to its owner with epoch 1. Repeated for the same job it changes nothing.
struct JobAccepted {
  JobId job{};
  ClientId client{};
  NodeId origin = kNoNode;         // the gate or client to tell of windows and ends
  std::uint64_t origin_epoch = 0;  // of the gate's lease; 0 for a direct client
  Process owner;
  BodyRef bundle;
  JobOutline outline;

  bool operator==(const JobAccepted&) const = default;
};

// Another process leads the job from now on. Applied only if `epoch` follows the present one.
struct JobOwner {
  JobId job{};
  Process owner;
  std::uint64_t epoch = 0;
  base::Duration elapsed{};  // since its acceptance, as far as the proposer knows: its time limit counts on from there

  bool operator==(const JobOwner&) const = default;
};

struct Assignment {
  std::uint32_t part = 0;
  Process worker;
  std::uint32_t cores = 0;
  std::uint64_t attempt = 0;  // one more than the part's last

  bool operator==(const Assignment&) const = default;
};

// Cores for parts of a workflow, all or none. For a pending workflow it makes the cut: all parts, in order. Later it
// gives parts that were lost or refused to other workers, with the same number of cores.
struct Provision {
  JobId job{};
  std::uint64_t epoch = 0;  // the proposer's own
  std::uint32_t workflow = 0;
  std::vector<Assignment> parts;  // 1 … kMaxParts, ascending by part

  bool operator==(const Provision&) const = default;
};

// Why an attempt of a part is over without a result.
enum class Loss : std::uint8_t {
  kRefused,     // its worker refused the offer, or did not answer and then confirmed that it does not run it
  kWorkerDied,  // with its executors; refused while the ledger has that very life admitted
  kNotRunning,  // its worker does not run it any more and has no result: killed, or forgotten
  kStuck,       // no sign of life from its executor
  kAlone,       // its worker had no contact to managers and stopped it; nobody's fault, so it counts for nothing
  kOverdue,     // no result by its run-time limit and grace: final, the part has failed
  kCancelled,   // stopped because its job ends: final
  kDraining,    // its worker takes nothing new; that it waits for another is nobody's fault, so it counts for nothing
};
constexpr std::size_t kLosses = 8;
std::string_view to_text(Loss loss);

// Proposed only once the attempt cannot be running any more: confirmed by its worker, or its worker's time is over.
struct PartLost {
  PartId part;
  Fence fence;
  std::uint64_t epoch = 0;  // the proposer's own: one that was superseded may have been refused what its successor runs
  Loss loss = Loss::kNotRunning;

  bool operator==(const PartLost&) const = default;
};

// Closes a layer: what its workflows provided to later ones. The version rises per job. Nothing of the next layer is
// provisioned before.
struct LayerContext {
  JobId job{};
  std::uint64_t epoch = 0;
  std::uint32_t layer = 0;
  std::uint64_t version = 0;
  BodyRef body;

  bool operator==(const LayerContext&) const = default;
};

// The part's final result, on a majority's disks. It counts once, whoever proposes it how often.
struct ResultHeld {
  PartId part;
  Fence fence;
  PartOutcome outcome = PartOutcome::kCompleted;
  BodyRef body;  // size 0: the executor left none
  Counts counts;
  std::string reason;  // why it failed

  bool operator==(const ResultHeld&) const = default;
};

// Applied only when none of its parts holds cores any more.
struct JobEnded {
  JobId job{};
  std::uint64_t epoch = 0;
  JobState state = JobState::kCompleted;  // a terminal one
  std::string reason;

  bool operator==(const JobEnded&) const = default;
};

// The job gets no more cores; its leader stops what runs and then ends it as said: cancelled by a person, failed or
// timed out by its leader. The first one counts.
struct CancelRequested {
  JobId job{};
  std::string requester;
  std::string reason;
  JobState end_as = JobState::kCancelled;  // kCancelled, kFailed or kTimeout
  // For a job that is not here: a tombstone is left in its place, so that a submit of it that is still under way, from
  // a gate that owns it no more, comes too late.
  bool bury = false;
  ClientId client{};        // whose it would be
  std::uint64_t epoch = 0;  // of the leader who gives the job up; 0: a person's word, which counts whoever leads

  bool operator==(const CancelRequested&) const = default;
};

// Why a leader gives a job up that no person cancels; it is then the requester itself.
constexpr std::string_view kItself = "muster";
namespace given_up {
constexpr std::string_view kTimeLimit = "the job's time limit";
constexpr std::string_view kNotDispatched = "dispatch time-out";
constexpr std::string_view kNoWorker = "there is no worker";
constexpr std::string_view kNobodyMayTake = "no worker is left that may take one of its parts";
constexpr std::string_view kContextTooLarge = "the context of a layer is too large";
constexpr std::string_view kProvidesTooMuch = "what a layer provides is too large";
constexpr std::string_view kContextNotKept = "a layer's context could not be kept by a majority in time";
}  // namespace given_up

inline CancelRequested gives_up(JobId job, std::uint64_t epoch, std::string_view reason, JobState end_as) {
  return {
      .job = job, .requester = std::string(kItself), .reason = std::string(reason), .end_as = end_as, .epoch = epoch};
}

// The worker's process may be given parts. A higher life takes the place of a lower one, whose parts are then known to
// be dead with their executors; the counterpart of an eviction, and like it needed to account for cores.
struct WorkerAdmitted {
  Process worker;
  std::uint32_t cores = 0;

  bool operator==(const WorkerAdmitted&) const = default;
};

enum class Eviction : std::uint8_t {
  kDead,         // by SWIM: may come back as soon as it is heard
  kUnreachable,  // alive for SWIM, but its streams fail or its health says so: stays away until its parts are over
  kOperator,     // likewise
};
constexpr std::size_t kEvictions = 3;
std::string_view to_text(Eviction eviction);

// It gets no parts and no contact until admitted anew. Its parts keep their cores until reported lost.
struct WorkerEvicted {
  Process worker;
  Eviction reason = Eviction::kDead;

  bool operator==(const WorkerEvicted&) const = default;
};

// An ended job is dropped down to its tombstone: replicas must forget alike.
struct JobForgotten {
  JobId job{};

  bool operator==(const JobForgotten&) const = default;
};

// The operator's settings of the datacenter. Applied only if `version` follows the present one.
struct Configuration {
  std::uint64_t version = 0;
  std::string settings;  // ≤ kMaxSettings

  bool operator==(const Configuration&) const = default;
};

// Some cores of an attempt have nothing to do any more: their worker gives them to others from now on. Never the last
// one, on which the part ends.
struct CoresDone {
  PartId part;
  Fence fence;
  std::uint64_t epoch = 0;  // the proposer's own
  std::uint32_t cores = 0;  // so many in all; those that were told before are among them

  bool operator==(const CoresDone&) const = default;
};

using Command = std::variant<JobAccepted, JobOwner, Provision, PartLost, LayerContext, ResultHeld, JobEnded,
                             CancelRequested, WorkerAdmitted, WorkerEvicted, JobForgotten, Configuration, CoresDone>;

// A command in the log: with the proposal that it answers.
struct Entry {
  Process proposer;
  std::uint64_t sequence = 0;  // of the proposer's life
  Command command;

  bool operator==(const Entry&) const = default;
};

}  // namespace muster::cluster
