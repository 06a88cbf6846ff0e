#include "cluster/gate_leases.h"

#include <algorithm>

namespace muster::cluster {
namespace {

base::Duration times(base::Duration duration, double factor) {
  return base::from_seconds(base::seconds(duration) * factor);
}

}  // namespace

GateLeases::GateLeases(Process self, const GateOptions& options)
    : self_(self),
      holder_(times(options.lease, 1 - options.drift)),
      watcher_(times(options.lease, 1 + options.drift)) {}

void GateLeases::sent(std::uint64_t sequence, base::Instant now) {
  if (sent_.size() >= kMaxProposals) sent_.erase(sent_.begin());
  sent_.emplace(sequence, now);
}

void GateLeases::applied(const GateEntry& entry, const GateLedger& ledger, base::Instant now) {
  std::optional<base::Instant> sent_at;
  if (entry.proposer == self_) {
    if (const auto at = sent_.find(entry.sequence); at != sent_.end()) {
      sent_at = at->second;
      sent_.erase(at);
    }
  }
  const auto concerns = [&](JobId id, std::uint64_t epoch, bool grants) {
    const GateLedgerJob* job = ledger.job(id);
    if (job == nullptr || job->end) return drop(id);
    // A repetition that changed nothing restarts nobody else's count, so it must not lengthen the holder's.
    if (watch(id, *job, now) && grants && sent_at) grant(id, *job, epoch, *sent_at);
  };
  std::visit(
      [&](const auto& command) {
        using T = std::decay_t<decltype(command)>;
        if constexpr (std::is_same_v<T, LeasesRenewed>) {
          for (const Renewal& row : command.rows) concerns(row.job, row.epoch, command.holder == self_);
        } else if constexpr (std::is_same_v<T, JobSubmitted>) {
          concerns(command.job, 1, command.owner == self_);
        } else if constexpr (requires { command.fence.job; }) {
          concerns(command.fence.job, 0, false);
        } else {
          concerns(command.job, 0, false);
        }
      },
      entry.command);
}

void GateLeases::installed(const GateLedger& ledger, base::Instant now) {
  std::erase_if(watched_, [&](const auto& entry) {
    const GateLedgerJob* job = ledger.job(entry.first);
    return job == nullptr || job->end.has_value();
  });
  for (const auto& [id, job] : ledger.jobs()) {
    if (!job.end) watch(id, job, now);
  }
}

bool GateLeases::holds(JobId job, std::uint64_t epoch, base::Instant now) const {
  const auto until = held_until(job, epoch);
  return until && now < *until;
}

std::optional<base::Instant> GateLeases::held_until(JobId job, std::uint64_t epoch) const {
  const auto at = watched_.find(job);
  if (at == watched_.end() || at->second.epoch != epoch || epoch == 0) return std::nullopt;
  return at->second.held_until;
}

bool GateLeases::expired(JobId job, base::Instant now) const {
  return expires_at(job) <= now;
}

base::Instant GateLeases::expires_at(JobId job) const {
  const auto at = watched_.find(job);
  return at == watched_.end() ? base::kNever : at->second.since + watcher_;
}

base::Instant GateLeases::slot_expires_at(JobId job, std::uint32_t slot) const {
  const auto at = watched_.find(job);
  if (at == watched_.end() || slot >= at->second.heard_since.size()) return base::kNever;
  const base::Instant since = at->second.heard_since[slot];
  return since == base::kNever ? base::kNever : since + watcher_;
}

base::Instant GateLeases::next_expiry() const {
  base::Instant next = base::kNever;
  for (const auto& [id, watched] : watched_) next = std::min(next, watched.since + watcher_);
  return next;
}

std::vector<JobId> GateLeases::expired_jobs(base::Instant now) const {
  std::vector<JobId> found;
  for (const auto& [id, watched] : watched_) {
    if (watched.since + watcher_ <= now) found.push_back(id);
  }
  return found;
}

bool GateLeases::watch(JobId id, const GateLedgerJob& job, base::Instant now) {
  Watched& watched = watched_[id];
  const bool renewed = watched.renewal != job.renewal;
  if (renewed) {
    watched.renewal = job.renewal;
    watched.since = now;
  }
  watched.heard.resize(job.slots.size());
  watched.heard_since.resize(job.slots.size(), base::kNever);
  for (std::size_t i = 0; i < job.slots.size(); ++i) {
    const GateSlot& slot = job.slots[i];
    if (slot.phase != SlotPhase::kAccepted) {
      watched.heard_since[i] = base::kNever;
    } else if (watched.heard[i] != slot.heard || watched.heard_since[i] == base::kNever) {
      watched.heard[i] = slot.heard;
      watched.heard_since[i] = now;
    }
  }
  return renewed;
}

// Only if the entry took effect: the job is this process's under the epoch that it asked for.
void GateLeases::grant(JobId id, const GateLedgerJob& job, std::uint64_t epoch, base::Instant sent_at) {
  if (job.owner != self_ || job.epoch != epoch) return;
  Watched& watched = watched_.at(id);
  const base::Instant until = sent_at + holder_;
  watched.held_until = watched.epoch == epoch ? std::max(watched.held_until, until) : until;
  watched.epoch = epoch;
}

void GateLeases::drop(JobId id) {
  watched_.erase(id);
}

}  // namespace muster::cluster
