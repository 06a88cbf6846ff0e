#include "cluster/gate_leases.h"

namespace muster::cluster {
namespace {

// The table tells nodes apart, the ledger processes: all that counts is whether a holder is this process.
constexpr base::NodeId kSelf{1};
constexpr base::NodeId kAnother{2};

cores::LeaseOptions lease_options(const GateOptions& options) {
  return {.length = options.lease,
          .renew_every = options.lease / options.renewals_per_lease,
          .drift = options.drift,
          .max_leases = kMaxGateJobs * (kMaxDatacenters + 1)};
}

}  // namespace

GateLeases::GateLeases(Process self, std::uint64_t seed, const GateOptions& options)
    : self_(self), random_(seed), table_(kSelf, random_.next(), lease_options(options)) {}

std::optional<RenewalId> GateLeases::submitting(JobId job, base::Instant now) {
  return table_.propose({job, kWhole}, now);
}

void GateLeases::sync(JobId id, const GateLedgerJob* job, base::Instant now) {
  const auto at = known_.find(id);
  if (job == nullptr || job->end) {
    if (at == known_.end()) return;
    for (std::uint32_t slot = 0; slot < at->second.heard.size(); ++slot) table_.ended({id, slot});
    table_.ended({id, kWhole});
    known_.erase(at);
    return;
  }
  Known& known = at == known_.end() ? known_[id] : at->second;
  const bool moved = known.epoch != job->epoch;
  known.owner = job->owner;
  known.epoch = job->epoch;
  if (moved) {
    table_.granted({id, kWhole}, holder(job->owner), job->epoch, job->renewal, now);
  } else if (known.renewal != job->renewal) {
    table_.renewed({id, kWhole}, job->epoch, job->renewal, now);
  }
  known.renewal = job->renewal;
  known.heard.resize(job->slots.size());
  for (std::uint32_t slot = 0; slot < job->slots.size(); ++slot) {
    std::optional<RenewalId> heard;
    if (job->slots[slot].phase == SlotPhase::kAccepted) heard = job->slots[slot].heard;
    sync_slot({id, slot}, known, heard, moved, now);
    known.heard[slot] = heard;
  }
}

void GateLeases::sync(const GateLedger& ledger, base::Instant now) {
  std::vector<JobId> gone;
  for (const auto& [id, known] : known_) {
    if (ledger.job(id) == nullptr) gone.push_back(id);
  }
  for (const JobId id : gone) sync(id, nullptr, now);
  for (const auto& [id, job] : ledger.jobs()) sync(id, &job, now);
}

bool GateLeases::holds(JobId job, std::uint64_t epoch, base::Instant now) const {
  return table_.valid({job, kWhole}, now) == epoch;
}

void GateLeases::give_up(JobId job) {
  table_.give_up({job, kWhole});
}

GateLeases::Due GateLeases::due(base::Instant now, bool may_renew) {
  Due found;
  const auto due = table_.due(now, may_renew);
  for (const auto& lease : due.renew) {
    if (lease.key.slot == kWhole) found.renew.push_back({lease.key.job, lease.epoch, lease.renewal, 0});
  }
  for (const auto& lease : due.expired) {
    if (lease.key.slot == kWhole) {
      found.expired.push_back(lease.key.job);
    } else if (lease.holder == kSelf) {
      found.unheard.push_back({lease.key.job, lease.key.slot});
    }
  }
  return found;
}

void GateLeases::sync_slot(const Key& key, const Known& known, std::optional<RenewalId> heard, bool moved,
                           base::Instant now) {
  const std::optional<RenewalId> before = known.heard[key.slot];
  if (!heard) {
    if (before) table_.ended(key);
  } else if (!before || moved) {
    table_.granted(key, holder(known.owner), known.epoch, *heard, now);
  } else if (*before != *heard) {
    table_.renewed(key, known.epoch, *heard, now);
  }
}

base::NodeId GateLeases::holder(const Process& owner) const {
  return owner == self_ ? kSelf : kAnother;
}

}  // namespace muster::cluster
