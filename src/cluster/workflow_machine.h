// One workflow of a job at its leader: the watches over its assigned parts, and the offer that its workers get. Owned
// by a JobMachine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/desk.h"
#include "cluster/part_watch.h"

namespace muster::cluster {

class WorkflowMachine {
 public:
  // Does what is due for its parts; when to look again.
  base::Instant step(Desk& desk, JobId id, const LedgerJob& job, std::uint32_t workflow);

  // The watch over a part; null before it was provisioned.
  PartWatch* watch(std::uint32_t part) { return part < watches_.size() ? &watches_[part] : nullptr; }
  const PartWatch* watch(std::uint32_t part) const { return part < watches_.size() ? &watches_[part] : nullptr; }

  // When its parts have been on offer for too long, all together, without all of them being accepted; kNever while none
  // is: parts that wait for cores wait as long as it takes.
  base::Instant dispatch_over_at(const Desk& desk) const;
  bool offering() const { return offering_since_ != base::kNever; }
  // The context does not fit into a dispatch.
  bool context_too_large() const { return too_large_; }

 private:
  // What the workers are offered; nothing while the context is being read.
  bool prepare(Desk& desk, const LedgerJob& job, std::uint32_t workflow);

  void time_offers(const Desk& desk, bool offering, bool waiting);

  std::vector<PartWatch> watches_;
  base::Instant offering_since_ = base::kNever;
  base::Duration offered_before_{};  // since all its parts last ran
  std::optional<std::string> context_;
  bool too_large_ = false;
};

}  // namespace muster::cluster
