// Final results on their way from workers into the log, for the jobs that one manager leads: pulled to its disk, copied
// to a majority's, committed, acknowledged. A worker keeps its bytes until then, so that nothing here need survive.
// Owned by a JobMachine.
#pragma once

#include <map>

#include "cluster/desk.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages_worker.h"

namespace muster::cluster {

class Results {
 public:
  // The job is led here, and this ledger is current.
  void add(Desk& desk, const PartResult& result);

  // Proposes what is on a majority's disks; acknowledges and forgets what the ledger has, or will never want.
  void step(Desk& desk);

  // Another leads the job.
  void abandon(Desk& desk);

  std::size_t size() const { return pending_.size(); }

 private:
  void drop(Desk& desk, const PartResult& result);

  std::map<PartId, PartResult> pending_;
};

// Whether the ledger still wants this result. One with a fence above the ledger's is neither wanted nor unwanted: the
// ledger is behind.
enum class Worth : std::uint8_t { kWanted, kUnwanted, kUnclear };
Worth worth_of(const Ledger& ledger, const PartId& part, const Fence& fence);

}  // namespace muster::cluster
