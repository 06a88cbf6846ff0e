#include "sim/cluster_oracle_leases.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cluster_map.h"

namespace muster::sim {

using cluster::JobId;

namespace {

// A lease, said once more; and what clocks that keep to 1 % may take from it.
constexpr base::Duration kLease = std::chrono::seconds(30);
constexpr base::Duration kLeastLease = std::chrono::milliseconds(29'600);

}  // namespace

// Ends and answers tell the epoch that is in force, and progress that the job is run.
void ClusterLeases::hears(const cluster::Process& gate, base::NodeId manager, const cluster::Message& message) {
  const auto note = [&](JobId job, std::uint64_t epoch, bool alive) {
    Heard& heard = heard_[{gate, job, ClusterMap::name(ClusterMap::datacenter(manager))}];
    if (epoch < heard.epoch) return;
    heard.epoch = epoch;
    if (alive) heard.at = kernel_->clock_of(gate.node);
  };
  if (const auto* push = std::get_if<cluster::WindowPush>(&message)) note(push->job, push->epoch, true);
  if (const auto* result = std::get_if<cluster::WorkflowEnded>(&message)) note(result->job, result->epoch, true);
  if (const auto* answer = std::get_if<cluster::StatusAnswer>(&message)) note(answer->job, answer->epoch, false);
  if (const auto* end = std::get_if<cluster::JobEnd>(&message)) note(end->job, end->epoch, false);
}

void ClusterLeases::proposed(const cluster::GateEntry& entry, const cluster::GateLedger& known) {
  const base::Instant now = kernel_->clock_of(entry.proposer.node);
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    if (submitted->owner == entry.proposer) sent_.try_emplace(submitted->renewal, now);
  } else if (const auto* rows = std::get_if<cluster::LeasesRenewed>(&entry.command)) {
    for (const cluster::Renewal& row : rows->rows) sent_.try_emplace(row.renewal, now);
  } else if (const auto* move = std::get_if<cluster::LeaseMoved>(&entry.command)) {
    std::uint64_t& epoch = given_up_[{entry.proposer, move->job}];
    if (move->to != entry.proposer) epoch = std::max(epoch, move->epoch - 1);
  } else if (const auto* lost = std::get_if<cluster::SlotLost>(&entry.command)) {
    // What was heard since then undoes no proposal that is under way.
    if (entry.sequence > proposed_[entry.proposer]) check_lost(entry, *lost, known);
  }
  std::uint64_t& last = proposed_[entry.proposer];
  last = std::max(last, entry.sequence);
}

void ClusterLeases::committed(const cluster::GateEntry& entry, const cluster::GateLedger& after, bool in_time) {
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    const cluster::GateLedgerJob* const job = after.job(submitted->job);
    // A proposal may be in the log twice.
    if (job == nullptr || job->renewal != submitted->renewal || leases_.contains(submitted->job)) return;
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

void ClusterLeases::check_lost(const cluster::GateEntry& entry, const cluster::SlotLost& command,
                               const cluster::GateLedger& known) {
  const cluster::GateLedgerJob* const job = known.job(command.fence.job);
  if (command.loss != cluster::SlotLoss::kUnheard || job == nullptr || command.fence.slot >= job->slots.size()) return;
  const std::string& datacenter = job->slots[command.fence.slot].datacenter;
  kernel_->hit("datacenter unheard of");
  const auto heard = heard_.find({entry.proposer, command.fence.job, datacenter});
  if (heard == heard_.end() || heard->second.at == base::Instant::min()) return;
  const base::Duration ago = kernel_->clock_of(entry.proposer.node) - heard->second.at;
  if (ago < kLease)
    kernel_->violate("failed-cause",
                     fmt::format("gate {} gives job {} at {} up for lost, of which it heard {:.3f} s ago",
                                 base::number(entry.proposer.node), cluster::number(command.fence.job), datacenter,
                                 base::seconds(ago)));
}

void ClusterLeases::renewed(Lease& lease, cluster::RenewalId renewal) {
  lease.last = renewal;
  const auto sent = sent_.find(renewal);
  if (sent == sent_.end()) return;
  lease.sent = std::max(lease.sent.value_or(sent->second), sent->second);
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
