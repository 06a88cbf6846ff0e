// The time side of leases, which the ledger does not know. As holder: a lease lasts from when the grant or renewal that
// was applied had been SENT, a little less than its duration, and is asked for at the moment of every effect. As one of
// the others: it is over a little more than its duration after it was APPLIED here, which is later on any clock. So the
// two never overlap while clocks drift by no more than GateOptions::drift. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_options.h"
#include "cluster/ids.h"

namespace muster::cluster {

class GateLeases {
 public:
  GateLeases(Process self, const GateOptions& options);

  // This process asks the log for a grant or a renewal; `sequence` names the proposal. At most as many are remembered
  // as can be under way.
  void sent(std::uint64_t sequence, base::Instant now);

  // An entry was applied to the ledger; for jobs that it concerns, what they are now.
  void applied(const GateEntry& entry, const GateLedger& ledger, base::Instant now);
  // The ledger is another one (a snapshot): whatever changed counts from now.
  void installed(const GateLedger& ledger, base::Instant now);

  // Whether this process holds the job's lease now: to be asked at every effect.
  bool holds(JobId job, std::uint64_t epoch, base::Instant now) const;
  // When it ends unless renewed; nothing if it is not held.
  std::optional<base::Instant> held_until(JobId job, std::uint64_t epoch) const;

  // Whether the lease of another, or of a former life, is over for sure.
  bool expired(JobId job, base::Instant now) const;
  base::Instant expires_at(JobId job) const;
  // The same for a datacenter's: when it is lost unless heard of. kNever if it holds none.
  base::Instant slot_expires_at(JobId job, std::uint32_t slot) const;

  // When the next one to expire does: jobs whose lease nobody renews.
  base::Instant next_expiry() const;
  std::vector<JobId> expired_jobs(base::Instant now) const;

  base::Duration holder_time() const { return holder_; }

 private:
  struct Watched {
    std::uint64_t renewal = 0;
    base::Instant since{};
    std::uint64_t epoch = 0;                 // of the lease held below
    base::Instant held_until{};              // by this process; the epoch of the clock: never held
    std::vector<std::uint64_t> heard;        // per slot
    std::vector<base::Instant> heard_since;  // kNever: not accepted, or ended
  };

  bool watch(JobId id, const GateLedgerJob& job, base::Instant now);  // whether it was renewed
  void grant(JobId id, const GateLedgerJob& job, std::uint64_t epoch, base::Instant sent_at);
  void drop(JobId id);

  Process self_;
  base::Duration holder_;   // what the holder counts
  base::Duration watcher_;  // what the others count
  std::map<JobId, Watched> watched_;
  std::map<std::uint64_t, base::Instant> sent_;
};

}  // namespace muster::cluster
