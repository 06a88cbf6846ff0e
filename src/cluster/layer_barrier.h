// Between two layers of a job: gathers what the finished layer provided, puts it on a majority's disks and has the log
// close the layer. Begins anew with another leader, from what the ledger names. Owned by a JobMachine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/context.h"
#include "cluster/desk.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"

namespace muster::cluster {

class LayerBarrier {
 public:
  // Does what is due; when to look again, beside news of bodies.
  base::Instant step(Desk& desk, JobId id, const LedgerJob& job);

  // The job has ended or another leads it: lets go of what is pinned.
  void abandon(Desk& desk);

 private:
  // Whether all bytes were there.
  bool gather(Desk& desk, const LedgerJob& job);
  void take(std::uint32_t workflow, const std::string& bytes);

  std::optional<std::uint32_t> layer_;  // being closed
  base::Instant since_{};
  std::size_t gathered_ = 0;  // results taken, in order
  bool had_context_ = false;
  LayerValues values_;
  std::optional<BodyRef> pinned_;
};

}  // namespace muster::cluster
