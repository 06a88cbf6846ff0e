// The limits and times of the cluster room. Limits are constants: every node must agree on what it accepts, and the
// ledger's are part of what a command means. Times can differ per cluster and are options, handed to the brains.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "resilience/options.h"

namespace muster::cluster {

// ---- what a message, a command or a snapshot may hold ----

// Bytes of one encoded message. A provision of 1,024 parts takes some 30 kB, a context 256 KiB; the rest is room for
// names. Bodies travel in pieces below it.
constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20;
// Bytes of one encoded command: what the Raft core takes. The log is copied to every manager and replayed at every
// start. A provision of 1,024 parts takes some 30 kB.
constexpr std::size_t kMaxCommandBytes = std::size_t{64} << 10;
// Bytes of an outline as part of a command: names and dependencies of all workflows together.
constexpr std::size_t kMaxOutlineBytes = std::size_t{48} << 10;
// Bytes of one encoded ledger: above what all limits below let it grow to. A usual one has some 100 kB.
constexpr std::size_t kMaxLedgerBytes = std::size_t{256} << 20;

// Bytes of a name (job, workflow, client), and of a reason told to people; longer ones are cut where they are made.
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxReason = 1024;
// Workflows of a job, and workflows that one depends on.
constexpr std::size_t kMaxWorkflows = 256;
constexpr std::size_t kMaxDepends = 64;
// Parts of a workflow: most workers that it spans. A larger pool is used up to this many workers, the largest first.
constexpr std::size_t kMaxParts = 1024;
// Parts of all workflows of a job, so that its end fits into a message: a job of more than 16 workflows has so many
// fewer parts for each.
constexpr std::size_t kMaxJobParts = 16384;
// Cores of a worker, and parts that one may run at once.
constexpr std::uint32_t kMaxCores = 1024;
// At least a core each while they run; as many again may wait until their results are acknowledged.
constexpr std::size_t kMaxWorkerParts = 2 * kMaxCores;
// Jobs that a worker asks about in one heartbeat; what is left it asks in the next.
constexpr std::size_t kMaxIdleJobs = 64;

// Managers of a datacenter, gates (each replicates one log: at most cores::kRaftMaxMembers), datacenters.
constexpr std::size_t kMaxManagers = 16;
constexpr std::size_t kMaxGates = 32;
constexpr std::size_t kMaxDatacenters = 64;
// Windows in one push.
constexpr std::size_t kMaxWindowRows = 64;

// Bytes of one body, and of one piece of it on the wire. A result of an hour takes some 10 MB.
constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{64} << 20;
constexpr std::size_t kBodyPiece = std::size_t{256} << 10;
// Bytes of a layer's context as a dispatch carries it (before the link compresses it).
constexpr std::size_t kMaxContext = std::size_t{256} << 10;

// ---- the ledger ----

// Jobs that wait for their first cores. Beyond it a client hears "capacity exceeded" and when to try again.
constexpr std::size_t kMaxQueued = 50;
// Jobs that the ledger keeps, ended ones that nobody acknowledged included.
constexpr std::size_t kMaxJobs = 1000;
// Parts of all jobs in the ledger. Some 150 bytes each, in every snapshot; beyond it nothing new gets cores until
// ended jobs are forgotten.
constexpr std::size_t kMaxLedgerParts = 65536;
// Ends of forgotten jobs, so that a late repeated submit is told the end rather than run again. 24 bytes each.
constexpr std::size_t kMaxTombstones = 16384;
// Refused proposals remembered against late copies of themselves: more than can be under way.
constexpr std::size_t kMaxRefusedProposals = 1024;
// Workers, evicted ones included until their cores are given back.
constexpr std::size_t kMaxWorkers = 4096;
// Losses of a part before it fails: it runs at most 1 + this often. Offers refused or not answered count apart.
constexpr std::uint32_t kMaxLosses = 3;
constexpr std::uint32_t kMaxRefusals = 5;
// Workers that lost a part and are not asked again; the oldest are forgotten beyond it.
constexpr std::size_t kMaxFailedOn = 16;
// Bytes of the operator's settings.
constexpr std::size_t kMaxSettings = std::size_t{16} << 10;

// ---- what a brain remembers of others ----

// Bytes of bodies that a manager takes in at once, over all senders. More would let a few clients fill its memory.
constexpr std::uint64_t kMaxIncomingBytes = std::uint64_t{256} << 20;
// Bodies that a manager knows of beyond those that the ledger names, and bytes of bodies kept in memory to be served.
constexpr std::size_t kMaxLooseBodies = 4096;
constexpr std::uint64_t kMaxCachedBytes = std::uint64_t{128} << 20;
// Peers whose requests for pieces are metered, and reads of bodies under way for them.
constexpr std::size_t kMaxMeters = 8192;
constexpr std::size_t kMaxReads = 1024;
// Submissions not yet acknowledged; further ones are told to try again.
constexpr std::size_t kMaxPendingSubmits = 256;
// Proposals under way of one manager. Beyond it, work waits: everything proposed is derived from the ledger anew.
constexpr std::size_t kMaxProposals = 1024;

// How bodies travel.
struct BodyOptions {
  // Pieces that one peer may ask for per second: 64 MiB/s at 256 KiB each.
  std::uint32_t pieces_per_second = 256;
  // A piece not come by then is asked for again, elsewhere.
  base::Duration piece_timeout = std::chrono::seconds(1);
  // A body of which no piece comes for so long makes room for others. Shorter loses what is gathered of one whose
  // holder is only busy; longer lets a few that never come hold up all.
  base::Duration fetch_patience = std::chrono::seconds(10);
  // A pinned body is offered again after this to managers that have not said that they hold it.
  base::Duration offer_repeat = std::chrono::seconds(1);
  // A body that is neither named by the ledger nor pinned is dropped after this.
  base::Duration keep = std::chrono::minutes(10);
};

// Times of a manager. Those that safety rests on are said so: all nodes of a datacenter must have the same.
struct ManagerOptions {
  // Safety: a worker without contact stops its parts after this; managers wait so long plus the margin after its
  // eviction. Shorter frees parts sooner and makes short partitions expensive.
  base::Duration contact_limit = std::chrono::seconds(30);
  // Safety: covers clocks that differ by 1 %, the time for which a manager may still hold itself caught up, and the
  // worker's own time to stop.
  base::Duration contact_margin = std::chrono::seconds(8);

  // A proposal not applied by then is "quorum time-out" to whoever waits for it.
  base::Duration quorum_timeout = std::chrono::seconds(5);
  base::Duration repropose = std::chrono::milliseconds(500);

  // Managers tell each other their life and what they hold.
  base::Duration manager_state = std::chrono::seconds(1);
  // An offer or a stop that is not answered is repeated after this, doubling; each time the worker's circuit counts a
  // failure, and an offer counts as refused after so many tries.
  base::Duration call_timeout = resilience::kDispatchRetries.base;
  std::uint32_t call_attempts = resilience::kDispatchRetries.attempts;
  // Up to this share of a period, or of the wait for an answer, is added to it, so that those who began together drift
  // apart.
  double jitter = 0.1;

  // Stops are repeated until confirmed, at most this far apart.
  base::Duration stop_repeat_cap = std::chrono::seconds(5);
  // A worker that answers no offer and no stop for so long is evicted though SWIM holds it alive. (Probes of the log's
  // leader, and what is done when most would be evicted: cores/health_options.h.)
  base::Duration unreachable_after = std::chrono::seconds(30);
  // What a worker said of its state is believed for so long; then what members tell one another counts. It tells every
  // second those whose parts it had lately, and not the others: longer leaves it idle when it takes parts again.
  base::Duration state_memory = std::chrono::seconds(10);
  // The admission of one worker is proposed at most this often: it may change its cores, or its life, with every
  // heartbeat. Longer delays a worker that restarts twice.
  base::Duration admission_pause = std::chrono::milliseconds(500);
  // The leader of the log looks after workers and jobs this often.
  base::Duration housekeeping = std::chrono::milliseconds(500);
  // A manager that says nothing for so long loses its jobs though SWIM holds it alive.
  base::Duration manager_silence = std::chrono::seconds(10);
  // No worker at all for so long: jobs fail rather than wait.
  base::Duration no_worker_limit = std::chrono::seconds(60);
  // A job that a worker speaks of and the ledger does not know is an orphan after this.
  base::Duration unknown_grace = std::chrono::seconds(10);

  // From the first offer of capacity until all parts of a workflow were accepted.
  base::Duration dispatch_timeout = std::chrono::seconds(300);
  // After a workflow's `timeout`, for its end and its result to arrive; and for the result of a part whose worker says
  // that it has ended, to be held by a majority. Then the part is lost.
  base::Duration result_grace = std::chrono::seconds(30);
  // A part whose executor shows no sign of life so long is stopped and run elsewhere, unless extended.
  base::Duration part_silence = std::chrono::seconds(30);
  // Until a layer's context must be committed, with a quorum or without; then the job fails and keeps what it has.
  base::Duration barrier_timeout = std::chrono::seconds(60);

  base::Duration orphan_scan = std::chrono::seconds(120);
  base::Duration cleanup = std::chrono::seconds(30);
  base::Duration keep_completed = std::chrono::minutes(5);
  base::Duration keep_failed = std::chrono::hours(1);
  // Ends that nobody acknowledges are dropped after all.
  base::Duration keep_unacknowledged = std::chrono::hours(24);
  // An end is pushed anew until acknowledged.
  base::Duration end_repeat = std::chrono::seconds(2);
  // A gate that owns a job says so when it is asked; after so long without a word of one the job's leader asks.
  // Shorter stops sooner what gates have given up, and costs a question and an answer for each job.
  base::Duration gate_silence = std::chrono::seconds(30);
  // A submission whose bundle does not arrive or reach a majority by then is given up; the client may repeat it.
  base::Duration submit_timeout = std::chrono::seconds(30);
  // What a client is told to wait for when the queue is full.
  base::Duration retry_after = std::chrono::seconds(5);

  BodyOptions bodies;

  // Windows of progress go to whoever follows the job at most this often.
  base::Duration window_push = std::chrono::milliseconds(250);
};

// Times of a worker.
struct WorkerOptions {
  // Safety: as for managers. Counted from when the message was sent whose answer is the contact.
  base::Duration contact_limit = std::chrono::seconds(30);

  base::Duration heartbeat = std::chrono::seconds(1);
  // As for managers: thousands of workers that a restart of their datacenter made begin together must not stay in step.
  double jitter = 0.1;
  // No answer by then: the next manager is asked.
  base::Duration heartbeat_timeout = std::chrono::milliseconds(500);
  base::Duration cancel_poll = std::chrono::seconds(5);
  // A result not acknowledged is sent again, doubling up to the cap, for ever.
  base::Duration result_repeat = std::chrono::milliseconds(500);
  base::Duration result_repeat_cap = std::chrono::seconds(10);
  // An executor told to stop is killed after this.
  base::Duration stop_grace = std::chrono::seconds(5);
  // The same for a worker without contact: others wait for it.
  base::Duration alone_grace = std::chrono::seconds(2);
  // A bundle not here by then: the part is given up.
  base::Duration bundle_timeout = std::chrono::seconds(60);
  // Without a part of a job for so long, the worker keeps in touch with its leader no more, and asks whether it ended.
  base::Duration leader_memory = std::chrono::minutes(5);
  // Own cpu and memory in use, 0 … 1, and health score, from which the worker is degraded; and the score from which it
  // drains until it is well again. It is degraded, too, while its disk takes nothing.
  double degraded_cpu = 0.80;
  double degraded_memory = 0.85;
  std::uint32_t degraded_score = 4;
  std::uint32_t critical_score = 7;
  // Of parts and of jobs' epochs. They are kept until a manager says that the job has ended, and then for as long as a
  // message may be under way, counted while the worker is in contact.
  resilience::FenceOptions fences;
  BodyOptions bodies;
};

}  // namespace muster::cluster
