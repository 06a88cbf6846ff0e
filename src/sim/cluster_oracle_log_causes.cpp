// Why jobs fail, and why managers give them up: what is named must have been so, for as long as they promise to wait.
#include <algorithm>
#include <set>
#include <string_view>

#include "sim/cluster_oracle_log.h"
#include "sim/cluster_program.h"

namespace muster::sim {

using cluster::JobId;
using cluster::LedgerJob;
using cluster::LedgerPart;
using cluster::PartPhase;

namespace {

// What was proposed may be so old when it takes effect.
constexpr base::Duration kUnderWay = std::chrono::seconds(10);

}  // namespace

void ClusterLog::check_given_up(std::uint32_t datacenter, const cluster::CancelRequested& command,
                                const LedgerJob& job) {
  const Place& place = places_[datacenter];
  const Job& known = place.jobs.at(command.job);
  const auto waited = [&](base::Duration since, base::Duration limit) {
    return lasted(since, limit) || !runs_->managers_keep_time(datacenter, since);
  };
  // Nobody has been there for long of whom this does not hold.
  const auto everybody = [&](auto&& holds) {
    return std::ranges::all_of(place.workers, [&](const auto& each) {
      const auto& [node, worker] = each;
      return !worker.admitted || kernel_->elapsed() - worker.since <= kUnderWay ||
             holds(cluster::Process{node, worker.life});
    });
  };
  // When the last of them went, but for those that could not help.
  const auto last_gone = [&](const std::set<cluster::Process>& helpless) {
    base::Duration last{};
    for (const auto& [node, worker] : place.workers) {
      if (!worker.admitted && !helpless.contains({node, worker.life})) last = std::max(last, worker.since);
    }
    return last;
  };
  const std::string_view reason = command.reason;
  bool true_reason = false;
  if (reason == cluster::given_up::kTimeLimit) {
    true_reason = job.outline.time_limit && waited(known.accepted_at, *job.outline.time_limit);
  } else if (reason == cluster::given_up::kNotDispatched) {
    for (std::size_t i = 0; i < known.provided.size(); ++i) {
      const auto& since = known.provided[i];
      if (!since || cluster::terminal(known.states[i])) continue;
      true_reason = true_reason || waited(*since, setup_.manager.dispatch_timeout);
    }
  } else if (reason == cluster::given_up::kNoWorker) {
    true_reason = waited(std::max(known.accepted_at, last_gone({})), setup_.manager.no_worker_limit) &&
                  everybody([](const cluster::Process&) { return false; });
  } else if (reason == cluster::given_up::kNobodyMayTake) {
    // One without losses could go to any of them.
    const auto lost = [&](const auto& each) {
      const auto& [part, losses] = each;
      if (part.job != command.job || place.held.contains(part) || place.counted.contains(part)) return false;
      const base::Duration since = std::max({known.accepted_at, losses.last, last_gone(losses.with)});
      return waited(since, setup_.manager.no_worker_limit) &&
             everybody([&](const cluster::Process& worker) { return losses.with.contains(worker); });
    };
    true_reason = std::ranges::any_of(place.losses, lost);
  } else if (reason == cluster::given_up::kContextNotKept) {
    true_reason = known.layer_over && waited(*known.layer_over, setup_.manager.barrier_timeout);
  }  // Contexts of simulated jobs are small.
  kernel_->hit("given up: " + command.reason);
  if (true_reason) return;
  kernel_->violate("failed-cause", fmt::format("job {} is given up in {}, which is not so: {}",
                                               cluster::number(command.job), ClusterMap::name(datacenter), reason));
}

// One that is refused by one or two workers must not be offered to them in haste until that is too often.
bool ClusterLog::hasty(const Losses& losses) const {
  std::set<base::NodeId> by;
  for (const auto& [at, node] : losses.refusals) by.insert(node);
  return by.size() <= 2 && losses.refusals.back().first - losses.refusals.front().first < std::chrono::seconds(1);
}

// A job fails for a reason: an error of its own, a part lost too often, a time that was over.
void ClusterLog::check_failure(std::uint32_t datacenter, JobId id, const LedgerJob& job) {
  if (job.end->state != cluster::JobState::kFailed && job.end->state != cluster::JobState::kPartial) return;
  for (std::uint32_t i = 0; i < job.workflows.size(); ++i) {
    const cluster::LedgerWorkflow& workflow = job.workflows[i];
    if (workflow.state != cluster::WorkflowState::kFailed) continue;
    if (may_fail(id, i, setup_.trouble) || job.outline.workflows[i].run_limit) continue;
    for (std::uint32_t part = 0; part < workflow.parts.size(); ++part) {
      const LedgerPart& row = workflow.parts[part];
      if (row.phase != PartPhase::kEnded || row.outcome != cluster::PartOutcome::kFailed) continue;
      kernel_->hit("part given up");
      // Lost more than three times, or refused more than five times; what its worker stopped alone counts for nothing.
      const Losses& losses = places_[datacenter].losses[{id, i, part}];
      if (losses.counted > kMostLosses || (losses.refused > kMostRefusals && !hasty(losses))) continue;
      kernel_->violate(
          "failed-cause",
          fmt::format("part {}.{} of job {} has failed in attempt {} though it was lost {} times and "
                      "refused {} times: {}",
                      i, part, cluster::number(id), row.fence.attempt, losses.counted, losses.refused, row.reason));
    }
  }
}

}  // namespace muster::sim
