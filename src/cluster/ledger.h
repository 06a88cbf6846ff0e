// What the managers' log says: jobs, their leaders, parts and results, workers and their cores. A replicated state
// machine: the same entries give the same ledger, and no entry, whoever proposed it, gives a core twice, cores to a
// process that is gone, an effect to a superseded leader, or a second result to a part. It knows no time. Bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/commands.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/tombstones.h"

namespace muster::cluster {

// What became of an entry when it was applied.
enum class Verdict : std::uint8_t {
  kApplied,
  kRepeated,  // it had already taken effect: as good as applied
  kUnknownJob,
  kJobEnded,
  kJobConflict,  // another client's job has this id
  kQueueFull,
  kLedgerFull,
  kStaleEpoch,
  kStaleFence,
  kWorkerGone,  // not admitted, evicted, or another life
  kCoresTaken,  // the worker has fewer free cores
  kCancelled,   // the job gets no more cores
  kBarrier,     // a layer before it is not closed
  kWrongState,
  kInvalid,
};
constexpr std::size_t kVerdicts = 15;
std::string_view to_text(Verdict verdict);
constexpr bool took_effect(Verdict verdict) {
  return verdict == Verdict::kApplied || verdict == Verdict::kRepeated;
}

enum class PartPhase : std::uint8_t {
  kWaiting,   // for a provision: lost or refused
  kAssigned,  // its worker's cores are its
  kEnded,
};

struct LedgerPart {
  PartPhase phase = PartPhase::kWaiting;
  Slice slice;
  Process worker;                // of the last attempt
  Fence fence;                   // of the last attempt
  std::uint32_t given_back = 0;  // cores of the last attempt that others may have
  std::uint32_t losses = 0;
  std::uint32_t refusals = 0;
  std::vector<Process> failed_on;                 // lives: a worker that merely restarted may try again
  PartOutcome outcome = PartOutcome::kCompleted;  // once ended
  BodyRef result;
  Counts counts;
  std::string reason;

  std::uint32_t cores_held() const { return slice.cores - given_back; }  // while it is assigned
  bool operator==(const LedgerPart&) const = default;
};

struct LedgerWorkflow {
  WorkflowState state = WorkflowState::kPending;
  std::uint32_t layer = 0;
  std::vector<LedgerPart> parts;

  bool operator==(const LedgerWorkflow&) const = default;
};

struct LedgerJob {
  std::uint64_t accepted = 0;  // index of the entry: the order of the queue
  ClientId client{};
  NodeId origin = kNoNode;
  std::uint64_t origin_epoch = 0;
  Process owner;
  std::uint64_t epoch = 1;
  base::Duration elapsed{};  // since its acceptance until this epoch was proposed: at least so much
  BodyRef bundle;
  JobOutline outline;
  std::uint32_t open_layer = 0;  // workflows of layers ≤ this may be provisioned
  std::uint64_t context_version = 0;
  BodyRef context;
  bool started = false;  // had cores once: not queued any more
  std::optional<CancelRequested> cancel;
  std::optional<JobEnded> end;
  std::vector<LedgerWorkflow> workflows;

  bool operator==(const LedgerJob&) const = default;
};

struct LedgerWorker {
  Life life{};
  std::uint32_t cores = 0;
  std::uint32_t used = 0;  // by assigned parts of this life
  bool evicted = false;
  Eviction reason = Eviction::kDead;  // if evicted
  std::uint64_t admission = 0;        // index of the entry that admitted it last: offers from before it are void

  std::uint32_t free() const { return evicted || used >= cores ? 0 : cores - used; }
  bool operator==(const LedgerWorker&) const = default;
};

struct NamedBody {
  std::uint64_t size = 0;
  std::uint32_t uses = 0;  // jobs and parts that name it

  bool operator==(const NamedBody&) const = default;
};

// A proposal to accept a job that was refused: a late copy of it must not be applied after its client was told so.
struct RefusedProposal {
  Process proposer;
  std::uint64_t sequence = 0;

  bool operator==(const RefusedProposal&) const = default;
};

// Why a part ended that was to be cancelled but was lost with its worker first: nobody confirmed that it stopped.
constexpr std::string_view kLostWithWorker = "lost with its worker";

// How a job ends whose workflows have all ended, by how many completed.
JobState end_of(const LedgerJob& job);

class Ledger {
 public:
  // Indexes rise by one or more from call to call; an index already applied is ignored (kRepeated).
  Verdict apply(std::uint64_t index, const Entry& entry);

  // Of the last entry applied.
  std::uint64_t index() const { return index_; }

  const std::map<JobId, LedgerJob>& jobs() const { return jobs_; }
  const LedgerJob* job(JobId id) const;
  const LedgerPart* part(const PartId& id) const;
  // Jobs that have not ended, oldest acceptance first.
  const std::map<std::uint64_t, JobId>& open_jobs() const { return open_; }
  // Jobs that never had cores, and how many of them were accepted before this one.
  std::size_t queued() const;
  std::size_t queue_position(const LedgerJob& job) const;
  const Tombstone* tombstone(JobId id) const;

  const std::map<NodeId, LedgerWorker>& workers() const { return workers_; }
  bool admitted(const Process& worker) const;  // this very life, and not evicted

  std::uint64_t settings_version() const { return settings_version_; }
  const std::string& settings() const { return settings_; }

  // The parts that have cores of this node, whichever life of it.
  const std::set<PartId>& assigned(NodeId worker) const;
  const std::map<NodeId, std::set<PartId>>& assigned() const { return assigned_; }

  // The bodies that it names.
  const std::map<BodyHash, NamedBody>& bodies() const { return bodies_; }

  // Equal ledgers have equal bytes (ledger_codec.h) and equal digests.
  std::uint64_t digest() const;
  bool operator==(const Ledger&) const = default;

 private:
  friend class LedgerCodec;
  friend class LedgerRules;

  void name_body(const BodyRef& body);
  void drop_body(const BodyRef& body);

  std::uint64_t index_ = 0;
  std::map<JobId, LedgerJob> jobs_;
  std::map<NodeId, LedgerWorker> workers_;
  Tombstones tombstones_;
  std::deque<RefusedProposal> refused_;  // oldest first
  std::uint64_t settings_version_ = 0;
  std::string settings_;

  // Derived from the above.
  std::map<std::uint64_t, JobId> open_;
  std::map<BodyHash, NamedBody> bodies_;
  std::map<NodeId, std::set<PartId>> assigned_;
  std::size_t parts_ = 0;
};

}  // namespace muster::cluster
