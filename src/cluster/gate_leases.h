// The leases of jobs, and of jobs at datacenters, in time: cores/lease.h kept in step with the gates' ledger, which
// knows no time. A lease is held by a process: one of a former life of this gate is another's. Ask holds() at the
// moment of every effect in the name of a job. Owned by the gate.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_options.h"
#include "cluster/ids.h"
#include "cores/lease.h"

namespace muster::cluster {

class GateLeases {
 public:
  GateLeases(Process self, std::uint64_t seed, const GateOptions& options);

  // This process is about to propose the submission of a job: the name of the grant. Nothing if there are too many.
  std::optional<RenewalId> submitting(JobId job, base::Instant now);
  // A name for a grant to another.
  RenewalId fresh() { return RenewalId{random_.next()}; }

  // What the ledger says of the job now (null: nothing any more). To be called for every job that an entry concerned,
  // after each entry, and for all jobs after a snapshot.
  void sync(JobId id, const GateLedgerJob* job, base::Instant now);
  void sync(const GateLedger& ledger, base::Instant now);

  // Whether this process holds the lease now, under this epoch.
  bool holds(JobId job, std::uint64_t epoch, base::Instant now) const;
  // Before this process proposes that another get the job: it does not act in its name from now on.
  void give_up(JobId job);

  struct Slot {
    JobId job{};
    std::uint32_t slot = 0;
  };
  struct Due {
    std::vector<Renewal> renew;  // own leases, to be proposed now; without what was heard
    std::vector<JobId> expired;  // leases of others that are over for sure
    std::vector<Slot> unheard;   // datacenters' leases that are over
  };
  Due due(base::Instant now, bool may_renew = true);
  base::Instant deadline() const { return table_.deadline(); }

 private:
  static constexpr std::uint32_t kWhole = UINT32_MAX;
  struct Key {
    JobId job{};
    std::uint32_t slot = kWhole;  // kWhole: the job itself

    auto operator<=>(const Key&) const = default;
  };
  struct Known {
    Process owner;
    std::uint64_t epoch = 0;
    RenewalId renewal{};
    std::vector<std::optional<RenewalId>> heard;  // per slot that is accepted
  };

  void sync_slot(const Key& key, const Known& known, std::optional<RenewalId> heard, bool moved, base::Instant now);
  base::NodeId holder(const Process& owner) const;

  Process self_;
  base::Random random_;
  cores::LeaseTable<Key> table_;
  std::map<JobId, Known> known_;
};

}  // namespace muster::cluster
