#include "sim/cluster_oracle_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

void ClusterLimits::proposes(const cluster::Process& manager, std::uint64_t number, const cluster::JobOwner& command) {
  std::uint64_t& last = proposed_[manager];
  if (number <= last) return;
  last = number;
  const auto jobs = known_.find(manager.node);
  if (jobs == known_.end() || !jobs->second.contains(command.job)) return;
  const base::Duration since = jobs->second.at(command.job);
  const base::Duration known_for = kernel_->elapsed() - since;
  if (command.elapsed >= known_for - known_for / 50 - kKnownEarlier) return;
  if (!runs_->managers_keep_time(ClusterMap::datacenter(manager.node), since)) return;
  kernel_->violate("limit", fmt::format("manager {} gives job {} away as {:.1f} s old, and knows it for {:.1f} s",
                                        base::number(manager.node), cluster::number(command.job),
                                        base::seconds(command.elapsed), base::seconds(known_for)));
}

void ClusterLimits::committed(std::uint32_t datacenter, const cluster::Command& command, const cluster::Ledger& after) {
  cluster::JobId id{};
  if (const auto* accepted = std::get_if<cluster::JobAccepted>(&command)) id = accepted->job;
  if (const auto* owner = std::get_if<cluster::JobOwner>(&command)) id = owner->job;
  const cluster::LedgerJob* const job = after.job(id);
  if (job == nullptr || !job->outline.time_limit) return;
  Led& led = led_[{datacenter, id}];
  if (led.epoch == job->epoch) return;
  if (led.epoch > 0) kernel_->hit("job with a time limit taken over");
  if (const auto* owner = std::get_if<cluster::JobOwner>(&command)) led.age = std::max(led.age, owner->elapsed);
  if (job->elapsed != led.age)
    kernel_->violate("limit", fmt::format("job {} is {:.1f} s old for its ledger, and was given away as {:.1f} s old",
                                          cluster::number(id), base::seconds(job->elapsed), base::seconds(led.age)));
  led = {job->epoch, led.age, kernel_->elapsed(), kernel_->elapsed() + *job->outline.time_limit - led.age};
}

void ClusterLimits::check(base::Duration healed_at) const {
  for (const auto& [key, led] : led_) {
    const auto& [datacenter, id] = key;
    if (kernel_->elapsed() <= std::max(led.until, healed_at) + kGivesUpWithin) continue;
    if (log_->cancelled(datacenter, id) || log_->ended(datacenter, id)) continue;
    if (!runs_->managers_keep_time(datacenter, led.since)) continue;
    kernel_->violate(
        "limit", fmt::format("the time of job {} was over {:.1f} s ago, and {} goes on with it", cluster::number(id),
                             base::seconds(kernel_->elapsed() - led.until), ClusterMap::name(datacenter)));
  }
}

}  // namespace muster::sim
