#include "sim/cluster_user.h"

#include <algorithm>

namespace muster::sim {

using cluster::Answer;
using cluster::Counts;
using cluster::JobId;
using About = cluster::ClientAnswer::About;

namespace {

// A follower may lag behind a moment; and an answer may be older than the acknowledgement: a stream that is held back
// brings it when its cut has healed, and it is taken for the answer to a later question.
constexpr base::Duration kSpread = kMostPatience + std::chrono::seconds(5);

bool above(const Counts& some, const Counts& others) {
  return some.iterations > others.iterations || some.ok > others.ok || some.failed > others.failed;
}

}  // namespace

ClusterUser::Job& ClusterUser::add(cluster::JobRequest request) {
  Job job;
  job.asked = kernel_->elapsed();
  const JobId id = request.job;
  job.request = std::move(request);
  return jobs_.insert_or_assign(id, std::move(job)).first->second;
}

void ClusterUser::session_begins(JobId job) {
  std::erase_if(shown_, [job](const auto& each) { return each.first.first == job; });
  std::erase_if(results_, [job](const auto& each) { return std::get<0>(each) == job; });
}

void ClusterUser::told(const cluster::ClientUpdate& update) {
  for (const cluster::ClientAnswer& answer : update.answers) told(answer);
  for (const auto& [job, progress] : update.progress) told(job, progress);
  for (const cluster::WorkflowEnded& result : update.results) told(result);
  for (const cluster::JobEnd& end : update.ends) told(end);
}

void ClusterUser::told(const cluster::ClientAnswer& answer) {
  const auto found = jobs_.find(answer.job);
  if (found == jobs_.end() || !answer.answer) return;
  Job& job = found->second;
  const std::uint64_t name = cluster::number(answer.job);
  kernel_->trace("a user is told of job {}, to question {}: {}", name, static_cast<int>(answer.about),
                 cluster::to_text(*answer.answer));
  if (answer.about == About::kSubmit && (*answer.answer == Answer::kAccepted || *answer.answer == Answer::kEnded)) {
    if (job.acknowledged) kernel_->hit("job submitted again");
    acknowledge(job);
  }
  if (*answer.answer == Answer::kConflict)
    kernel_->violate("13", fmt::format("job {} is said to be another client's", name));
  const bool long_known = job.acknowledged && kernel_->elapsed() - job.acknowledged_at > kSpread;
  if (*answer.answer == Answer::kUnknownJob && long_known)
    kernel_->violate("14", fmt::format("job {} was acknowledged, and now it is not known", name));
  if (answer.about == About::kFollow && *answer.answer == Answer::kEnded) {
    const bool ended = direct_ ? log_->ended(0, answer.job) : log_->ended_at_gates(answer.job);
    if (!ended) kernel_->violate("16", fmt::format("job {} is said to have ended, and has not", name));
    job.forgotten = true;
    kernel_->hit("end forgotten before it was told");
  }
  if (answer.status) {
    for (const cluster::WorkflowStatus& status : answer.status->workflows) check_counts("east", answer.job, status);
    for (const cluster::DatacenterStatus& place : answer.status->datacenters) check_counts(answer.job, place);
  }
  if (answer.about == About::kCancel && answer.cancel && answer.cancel->done) kernel_->hit("cancellation confirmed");
}

void ClusterUser::acknowledge(Job& job) {
  if (!job.acknowledged) job.acknowledged_at = kernel_->elapsed();
  job.acknowledged = true;
}

void ClusterUser::told(const cluster::WorkflowEnded& result) {
  if (!results_.insert({result.job, result.datacenter, result.status.workflow}).second)
    kernel_->violate("12", fmt::format("the end of workflow {} of job {} at {} is shown twice", result.status.workflow,
                                       cluster::number(result.job), result.datacenter));
  check_counts(direct_ ? "east" : result.datacenter, result.job, result.status);
  const bool over = direct_ ? log_->ended(0, result.job) : log_->ended_at_gates(result.job);
  if (!over) kernel_->hit("workflow told before the end");
}

void ClusterUser::told(const cluster::JobEnd& end) {
  const auto found = jobs_.find(end.job);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const std::uint64_t name = cluster::number(end.job);
  kernel_->trace("a user is told that job {} ended as {}", name, cluster::to_text(end.state));
  if (!cluster::terminal(end.state)) kernel_->violate("16", fmt::format("job {} ends in a state that is no end", name));
  if (job.ended && *job.ended != end.state)
    kernel_->violate("16", fmt::format("job {} ended as {} and now as {}", name, cluster::to_text(*job.ended),
                                       cluster::to_text(end.state)));
  const auto known = direct_ ? log_->end(0, end.job) : log_->end_at_gates(end.job);
  if (known != end.state)
    kernel_->violate("16", fmt::format("a user is told that job {} ended as {}; in the log it is {}", name,
                                       cluster::to_text(end.state), known ? cluster::to_text(*known) : "open"));
  if (job.cancelled && end.state != cluster::JobState::kCancelled) kernel_->hit("cancellation raced with the end");
  if (!job.cancelled && end.state == cluster::JobState::kCancelled)
    kernel_->violate("failed-cause", fmt::format("job {} is cancelled, which nobody asked for", name));
  if (job.ended) return;
  job.ended = end.state;
  acknowledge(job);
  kernel_->hit(std::string("user told ").append(cluster::to_text(end.state)));
  kernel_->measure("job seconds", base::seconds(kernel_->elapsed() - job.asked));
  if (direct_) {
    for (const cluster::WorkflowStatus& status : end.workflows) check_counts("east", end.job, status);
  }
  for (const cluster::DatacenterStatus& place : end.datacenters) {
    if (place.lost) kernel_->hit("datacenter lost");
    check_counts(end.job, place);
  }
  direct_ ? check_all_told_directly(end.job, job) : check_all_told(end);
  if (!direct_) compare_totals(end);
}

// Nobody else knows what was counted and lost before.
bool ClusterUser::led_by_one(const cluster::JobEnd& end) const {
  return log_->gate_epoch(end.job) == 1 && std::ranges::all_of(end.datacenters, [&](const auto& place) {
           return log_->epoch(ClusterMap::datacenter(place.name), end.job) == 1;
         });
}

// Totals are not repeated: the last of them may be lost with a gate, and then they lag behind or still have what is
// lost. Where one gate and one manager led the job they have no more than is held, be they ever so old: a part counts
// no more than its result will, and it is not run again before its loss is known.
void ClusterUser::compare_totals(const cluster::JobEnd& end) {
  const bool all_lost = std::ranges::all_of(end.datacenters, &cluster::DatacenterStatus::lost);
  if (all_lost && !end.datacenters.empty()) {
    for (const auto& [of, shown] : shown_) {
      if (of.first != end.job || shown.counts == Counts{}) continue;
      kernel_->hit(shown.lost == shown.counts ? "counts of a lost datacenter shown as lost" : "loss not shown");
    }
  }
  if (end.state != cluster::JobState::kCompleted || end.datacenters.empty()) return;
  for (std::uint32_t i = 0; i < end.datacenters[0].workflows; ++i) {
    Counts held;
    for (const cluster::DatacenterStatus& place : end.datacenters)
      held.add(log_->counted(ClusterMap::datacenter(place.name), end.job, i));
    const Shown shown = shown_[{end.job, i}];
    const auto left = shown.counts.since(shown.lost);
    kernel_->hit(left == held                  ? "last totals shown are those held"
                 : left && !above(*left, held) ? "last totals shown lag behind"
                                               : "last totals shown have more");
    if ((!left || above(*left, held)) && led_by_one(end))
      kernel_->violate("18", fmt::format("{} iterations of workflow {} of job {} were shown last, {} of them as lost; "
                                         "the logs hold {}",
                                         shown.counts.iterations, i, cluster::number(end.job), shown.lost.iterations,
                                         held.iterations));
  }
}

void ClusterUser::check_all_told_directly(JobId id, const Job& job) {
  const std::size_t workflows = job.request.outline.workflows.size();
  for (std::uint32_t i = 0; i < workflows; ++i) {
    if (results_.contains({id, "", i})) continue;
    kernel_->violate("12", fmt::format("job {} has ended, and its user was not told of the end of its workflow {}",
                                       cluster::number(id), i));
  }
}

void ClusterUser::check_all_told(const cluster::JobEnd& end) {
  const std::uint64_t name = cluster::number(end.job);
  if (end.results != log_->results_at_gates(end.job))
    kernel_->violate("12", fmt::format("job {} is told to have ended with {} ends of workflows; the gates' log has {}",
                                       name, end.results, log_->results_at_gates(end.job)));
  const auto first = results_.lower_bound({end.job, "", 0});
  const auto told =
      std::count_if(first, results_.end(), [&](const auto& each) { return std::get<0>(each) == end.job; });
  if (static_cast<std::size_t>(told) < end.results)
    kernel_->violate("12", fmt::format("job {} has ended with {} ends of workflows, of which its user was told {}",
                                       name, end.results, told));
  const auto completed = [](const auto& place) { return place.state == cluster::JobState::kCompleted; };
  if (end.state == cluster::JobState::kCompleted &&
      (end.datacenters.empty() || !std::ranges::all_of(end.datacenters, completed)))
    kernel_->violate("16", fmt::format("job {} is told to have completed, and not where", name));
  for (const cluster::DatacenterStatus& place : end.datacenters) {
    if (!completed(place)) continue;
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < place.workflows; ++i) seen += results_.contains({end.job, place.name, i}) ? 1 : 0;
    if (place.workflows == 0 || place.workflows_ended != place.workflows || seen != place.workflows)
      kernel_->violate("12", fmt::format("job {} is told to have completed at {} with {} of {} workflows, of which its "
                                         "user was told {}",
                                         name, place.name, place.workflows_ended, place.workflows, seen));
  }
}

void ClusterUser::told(JobId job, const cluster::ClientProgress& progress) {
  for (const auto& [workflow, totals] : progress.totals) {
    Shown& shown = shown_[{job, workflow}];
    const Counts& now = totals.counts;
    if (now != Counts{}) kernel_->hit("progress shown");
    if (above(shown.counts, now) || above(shown.lost, totals.lost))
      kernel_->violate("17", fmt::format("totals of workflow {} of job {} fall from {} with {} lost to {} with {}",
                                         workflow, cluster::number(job), shown.counts.iterations, shown.lost.iterations,
                                         now.iterations, totals.lost.iterations));
    if (above(totals.lost, now))
      kernel_->violate("18", fmt::format("{} iterations of workflow {} of job {} are shown as lost, of {} in all",
                                         totals.lost.iterations, workflow, cluster::number(job), now.iterations));
    shown = {now, totals.lost};
    const Counts truth = runs_->counted(job, workflow);
    if (above(now, truth))
      kernel_->violate("18", fmt::format("{} iterations of workflow {} of job {} are shown, and {} were run",
                                         now.iterations, workflow, cluster::number(job), truth.iterations));
  }
}

void ClusterUser::check_counts(const std::string& datacenter, JobId job, const cluster::WorkflowStatus& status) {
  if (!cluster::terminal(status.state)) return;
  const Counts held = log_->counted(ClusterMap::datacenter(datacenter), job, status.workflow);
  if (held != status.counts)
    kernel_->violate(
        "18", fmt::format("workflow {} of job {} at {} is told with {} iterations; the log holds {}", status.workflow,
                          cluster::number(job), datacenter, status.counts.iterations, held.iterations));
  if (!log_->told_whole(ClusterMap::datacenter(datacenter), job, status))
    kernel_->violate("12", fmt::format("workflow {} of job {} at {} is told with {} bodies; the log holds {}",
                                       status.workflow, cluster::number(job), datacenter, status.results.size(),
                                       log_->left(ClusterMap::datacenter(datacenter), job, status.workflow).size()));
  if (status.state != cluster::WorkflowState::kCompleted) return;
  const auto truth = runs_->whole(ClusterMap::datacenter(datacenter), job, status.workflow);
  if (!truth || *truth != status.counts)
    kernel_->violate(
        "18", fmt::format("workflow {} of job {} at {} is told with {} iterations; in truth it has {}", status.workflow,
                          cluster::number(job), datacenter, status.counts.iterations, truth ? truth->iterations : 0));
}

// Only once all of its workflows have ended there: what is told before may be any part of it.
void ClusterUser::check_counts(JobId job, const cluster::DatacenterStatus& status) {
  if (status.workflows == 0 || status.workflows_ended != status.workflows) return;
  const std::uint32_t datacenter = ClusterMap::datacenter(status.name);
  Counts held;
  Counts truth;
  for (std::uint32_t i = 0; i < status.workflows; ++i) {
    held.add(log_->counted(datacenter, job, i));
    truth.add(runs_->whole(datacenter, job, i).value_or(Counts{}));
  }
  if (status.state == cluster::JobState::kCompleted && truth != status.counts)
    kernel_->violate("18", fmt::format("job {} is told to have completed at {} with {} iterations; in truth it has {}",
                                       cluster::number(job), status.name, status.counts.iterations, truth.iterations));
  if (held != status.counts)
    kernel_->violate("18", fmt::format("job {} is told with {} iterations at {}; the log there holds {}",
                                       cluster::number(job), status.counts.iterations, status.name, held.iterations));
}

}  // namespace muster::sim
