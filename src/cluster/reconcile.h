// What is to be done when a worker has said what it runs: the log says what was decided, the worker what is. One
// function for a change of leader, a take-over and the orphan scan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages_worker.h"

namespace muster::cluster {

enum class Finding : std::uint8_t {
  kAdopt,    // it runs what it should: watched from now on
  kStop,     // it runs what nobody wants any more
  kAck,      // it keeps a result that nobody wants any more
  kMissing,  // it should run it and does not: to be confirmed by a stop, then lost
  kNewer,    // its fence is above what this ledger has: this manager is behind; no action
  kUnknown,  // a job that this ledger does not have, not even as a tombstone: behind, or long forgotten
};

struct Action {
  Finding finding = Finding::kNewer;
  PartId part;
  Fence fence;
  std::size_t report = 0;  // index into the reports; not for kMissing

  bool operator==(const Action&) const = default;
};

// A part that the leader of its job believes this worker accepted; `version` is that of the worker's last heartbeat
// before it did.
struct Tracked {
  PartId part;
  Fence fence;
  std::uint64_t version = 0;
};

// `version` is that of the report; what was accepted later than it cannot be in it. `tracked` ascends by part.
std::vector<Action> reconcile(const Ledger& ledger, const Process& worker, std::span<const Tracked> tracked,
                              std::span<const PartReport> reported, std::uint64_t version);

}  // namespace muster::cluster
