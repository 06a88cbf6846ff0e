// What one manager has seen of the workers: states they told, what SWIM says, which answer. Together with the ledger
// (who is admitted, which cores are free) it says who can be given parts, who is to be evicted, and from when on an
// evicted worker must have stopped everything. Owned by the manager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages_worker.h"
#include "cluster/options.h"
#include "cluster/provisioner.h"
#include "cores/health.h"
#include "cores/pace.h"
#include "resilience/circuit.h"

namespace muster::cluster {

enum class NodeRole : std::uint8_t { kManager, kWorker, kGate };
enum class Liveness : std::uint8_t { kAlive, kSuspect, kDead };

// What a manager tells gates of its workers. Those that are dead, suspect, degraded or draining are not healthy, and
// their cores do not count.
struct Census {
  std::uint32_t workers = 0;
  std::uint32_t healthy = 0;
  std::uint32_t free_cores = 0;
  std::uint32_t cores = 0;
};

class WorkerTable {
 public:
  explicit WorkerTable(const ManagerOptions& options) : options_(options) {}

  // A report of a worker. False if it is stale: of a lower life, or not newer than one seen.
  bool heard(const Process& worker, WorkerState state, std::uint64_t version, base::Instant now);
  // It refused an offer because it drains, which is newer than what it reported.
  void drains(const Process& worker, base::Instant now);
  // Membership's news; with the state that it passes on, if it does.
  void swim(NodeId worker, Liveness liveness, std::optional<WorkerState> told = {});

  // Whether a new call to it may begin: half-open, its circuit lets one through, and this is it. Then what came of it:
  // an answer, an answer that it takes nothing now, or none.
  bool may_call(NodeId worker, base::Instant now);
  void answered(NodeId worker, base::Instant now);
  void declined(NodeId worker, base::Instant now);
  void unanswered(NodeId worker, base::Instant now);

  // After every command about workers: takes note of who is evicted since when.
  void sync(const Ledger& ledger, base::Instant now);
  // The ledger was replaced: evictions in it may be later than those seen before, so their time begins anew.
  void restored(const Ledger& ledger, base::Instant now);

  // When the parts of this process must have stopped: never while it is admitted; at once if a higher life is; else so
  // long after the eviction was seen here.
  base::Instant over_at(const Ledger& ledger, const Process& worker) const;
  // Whether an evicted worker may be admitted anew.
  bool may_return(const Ledger& ledger, const Process& worker, base::Instant now) const;
  // Whether its admission may be proposed now, and this is it: a worker that says something else each time must not
  // fill the log.
  bool may_ask(NodeId worker, base::Instant now);

  // Workers that can be given parts, with their free cores, ascending.
  std::vector<Candidate> candidates(const Ledger& ledger, base::Instant now) const;
  // The cores of each worker that is there and not draining.
  std::vector<std::uint32_t> pool(const Ledger& ledger, base::Instant now) const;
  Census census(const Ledger& ledger, base::Instant now) const;

  // Probes of the log's leader go without answers, or do not.
  void probed(NodeId worker, bool alive);
  // One of them has been without an answer for so long that nothing should be sent there, or no longer is.
  void kept_waiting(NodeId worker, bool waiting, base::Instant now);

  // All that it says it has, whoever leads it: how it gets on is read from their beats.
  void paced(const Process& worker, std::span<const PartReport> parts, base::Instant now);

  // Who is to be evicted, and why: of those whom SWIM holds dead or whose streams fail if this manager `leads` the log,
  // of those who do not answer its calls in any case. A systemic failure holds evictions up for a while.
  struct Evict {
    Process worker;
    Eviction reason = Eviction::kDead;
  };
  std::vector<Evict> evictions(const Ledger& ledger, bool leads, base::Instant now);

  bool suspect(NodeId worker) const;
  const resilience::Circuit* circuit(NodeId worker) const;  // null while nothing was seen of it
  std::optional<std::uint64_t> version(const Process& worker) const;

 private:
  struct Seen {
    Life life{};
    WorkerState state = WorkerState::kHealthy;
    base::Instant told_at = base::kNever;  // the state, by itself
    WorkerState gossiped = WorkerState::kHealthy;
    std::uint64_t version = 0;
    Liveness swim = Liveness::kAlive;
    bool unreachable = false;  // by probes
    std::uint64_t parts = 0;   // digest of those that ran when it last reported
    std::uint64_t beats = 0;   // of all of them
    std::uint64_t moved = 0;   // how far a part's have risen in the mean, in thousandths
    cores::PaceWatch pace;
    cores::Health health;
    cores::Treatment treatment = cores::Treatment::kRoute;  // when it last reported
    base::Instant paced_at = base::kNever;
    base::Instant waiting_at = base::kNever;    // when a probe of this manager was last found without an answer
    base::Instant silent_since = base::kNever;  // first of the calls in a row without an answer
    base::Instant failed_at = base::kNever;     // the last of them
    base::Instant asked_at = base::kNever;      // when its admission was last proposed
    resilience::Circuit circuit;
  };

  // Null if there are too many and the ledger does not have this one: strangers cannot hide a worker.
  Seen* row(NodeId worker);
  // What was seen of a former life says nothing of this one, though others heard of it first.
  static void begin(Seen& seen, Life life);
  // By how it gets on. Whether it is alive and ready is looked at when it is to be chosen.
  cores::Treatment treatment(const Seen& seen, base::Instant now) const;
  bool stuck(const Seen& seen, base::Instant now) const { return treatment(seen, now) >= cores::Treatment::kDrain; }
  bool lately(base::Instant at, base::Instant now) const {
    return at != base::kNever && now - at < options_.state_memory;
  }
  bool draining(NodeId worker, base::Instant now) const;
  bool degraded(const Seen& seen, base::Instant now) const;
  // What it said lately; it reports to few managers, so the others go by what members tell one another.
  WorkerState state(const Seen& seen, base::Instant now) const;

  ManagerOptions options_;
  std::map<NodeId, Life> in_ledger_;
  std::map<NodeId, Seen> seen_;
  std::map<Process, base::Instant> evicted_at_;
  cores::EvictionGuard guard_;
};

}  // namespace muster::cluster
