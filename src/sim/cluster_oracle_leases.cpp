#include "sim/cluster_oracle_leases.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

using cluster::JobId;

namespace {

// A lease, said once more; and what clocks that keep to 1 % may take from it.
constexpr base::Duration kLease = std::chrono::seconds(30);
constexpr base::Duration kLeastLease = std::chrono::milliseconds(29'600);

}  // namespace

void ClusterLeases::proposed(const cluster::GateEntry& entry) {
  const base::Instant now = kernel_->clock_of(entry.proposer.node);
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    if (submitted->owner == entry.proposer) sent_.try_emplace(submitted->renewal, now);
  } else if (const auto* rows = std::get_if<cluster::LeasesRenewed>(&entry.command)) {
    for (const cluster::Renewal& row : rows->rows) sent_.try_emplace(row.renewal, now);
  } else if (const auto* move = std::get_if<cluster::LeaseMoved>(&entry.command)) {
    std::uint64_t& epoch = given_up_[{entry.proposer, move->job}];
    if (move->to != entry.proposer) epoch = std::max(epoch, move->epoch - 1);
  }
}

void ClusterLeases::committed(const cluster::GateEntry& entry, const cluster::GateLedger& after, bool in_time) {
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    const cluster::GateLedgerJob* const job = after.job(submitted->job);
    if (job == nullptr || job->renewal != submitted->renewal) return;
    renewed(leases_[submitted->job] = {.owner = submitted->owner}, submitted->renewal);
  } else if (const auto* rows = std::get_if<cluster::LeasesRenewed>(&entry.command)) {
    for (const cluster::Renewal& row : rows->rows) {
      const auto found = leases_.find(row.job);
      if (found == leases_.end() || found->second.owner != rows->holder || found->second.epoch != row.epoch) continue;
      renewed(found->second, row.renewal);
    }
  } else if (const auto* move = std::get_if<cluster::LeaseMoved>(&entry.command)) {
    moved(entry, *move, in_time);
  } else if (const auto* forgotten = std::get_if<cluster::GateJobForgotten>(&entry.command)) {
    if (after.job(forgotten->job) == nullptr) leases_.erase(forgotten->job);
  }
}

void ClusterLeases::acts(const cluster::Process& gate, JobId job, std::uint64_t epoch) {
  const auto found = leases_.find(job);
  const bool owned = found != leases_.end() && found->second.owner == gate && found->second.epoch == epoch;
  // Under an epoch that is over it is no matter of leases.
  if (!owned) return;
  const base::Instant now = kernel_->clock_of(gate.node);
  const std::optional<base::Instant> sent = found->second.sent;
  if (!sent || now - *sent >= kLease)
    kernel_->violate(
        "10", fmt::format("gate {} orders something for job {} under epoch {}; {}", base::number(gate.node),
                          cluster::number(job), epoch,
                          sent ? fmt::format("its last renewal was sent {:.3f} s ago", base::seconds(now - *sent))
                               : "no renewal of its own is in the log"));
  const auto given_up = given_up_.find({gate, job});
  if (given_up != given_up_.end() && given_up->second >= epoch)
    kernel_->violate("10", fmt::format("gate {} orders something for job {} under epoch {}, which it has handed over",
                                       base::number(gate.node), cluster::number(job), epoch));
}

void ClusterLeases::renewed(Lease& lease, cluster::RenewalId renewal) {
  lease.last = renewal;
  const auto sent = sent_.find(renewal);
  if (sent == sent_.end()) return;
  lease.sent = std::max(lease.sent.value_or(sent->second), sent->second);
  sent_.erase(sent);
}

// Whoever gets a job that another still holds gets it too early.
void ClusterLeases::moved(const cluster::GateEntry& entry, const cluster::LeaseMoved& command, bool in_time) {
  const auto found = leases_.find(command.job);
  if (found == leases_.end()) return;
  Lease& lease = found->second;
  if (command.epoch != lease.epoch + 1 || command.last != lease.last) return;
  const bool by_another = entry.proposer.node != lease.owner.node;
  if (by_another && in_time && lease.sent && lives(lease.owner)) {
    const base::Duration held = kernel_->clock_of(lease.owner.node) - *lease.sent;
    if (held < kLeastLease)
      kernel_->violate("8", fmt::format("job {} goes from gate {} to gate {}, {:.3f} s after the first sent its last "
                                        "renewal",
                                        cluster::number(command.job), base::number(lease.owner.node),
                                        base::number(command.to.node), base::seconds(held)));
    kernel_->hit("lease lapsed while its holder lived");
  }
  lease = {.owner = command.to, .epoch = command.epoch};
  renewed(lease, command.renewal);
}

bool ClusterLeases::lives(const cluster::Process& gate) const {
  const auto life = lives_.find(gate.node);
  return life != lives_.end() && life->second == gate.life && kernel_->up(gate.node);
}

}  // namespace muster::sim
