#include "sim/cluster_oracle_talk.h"

#include <algorithm>
#include <string>

namespace muster::sim {

namespace {

constexpr std::uint32_t kMostExtensions = 5;
constexpr base::Duration kLongestExtension = std::chrono::seconds(30);
constexpr base::Duration kShortestExtension = std::chrono::seconds(1);

}  // namespace

void ClusterTalk::leaves(base::NodeId from, base::NodeId to, const cluster::Message& message) {
  std::visit([&](const auto& each) { on(from, to, each); }, message);
}

void ClusterTalk::noted(const cluster::Note& note) {
  kernel_->hit(std::string("noted ").append(cluster::to_text(note.what)));
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::Dispatch& message) {
  const auto* const given = log_->provision(ClusterMap::datacenter(from), message.part, message.fence);
  const cluster::Process worker{to, message.worker_life};
  if (given != nullptr && (given->first != worker || given->second != message.slice.cores))
    kernel_->violate("5", fmt::format("manager {} dispatches part {}.{} of job {} to worker {} with {} cores; the log "
                                      "gave it {} cores of worker {}",
                                      base::number(from), message.part.workflow, message.part.part,
                                      cluster::number(message.part.job), base::number(to), message.slice.cores,
                                      given->second, base::number(given->first.node)));
  if (given == nullptr)
    kernel_->violate("5", fmt::format("manager {} dispatches part {}.{} of job {} under fence {}.{}, which no majority "
                                      "has on disk",
                                      base::number(from), message.part.workflow, message.part.part,
                                      cluster::number(message.part.job), message.fence.epoch, message.fence.attempt));
  if (message.epoch > log_->epoch(ClusterMap::datacenter(from), message.part.job))
    kernel_->violate(
        "11", fmt::format("manager {} acts under epoch {} that the log never gave", base::number(from), message.epoch));
}

// That a datacenter may run the job is committed before it is told so.
void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::Submit& message) {
  if (ClusterMap::role(from) != ClusterMap::Role::kGate) return;
  const std::string datacenter = ClusterMap::name(ClusterMap::datacenter(to));
  if (!log_->offered(message.job, datacenter))
    kernel_->violate("5", fmt::format("gate {} gives job {} to {}, which no majority has on disk", base::number(from),
                                      cluster::number(message.job), datacenter));
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::SubmitAnswer& message) {
  kernel_->hit(std::string("submit answered ").append(cluster::to_text(message.answer)));
  if (message.answer != cluster::Answer::kAccepted) return;
  const bool gate = ClusterMap::role(from) == ClusterMap::Role::kGate;
  const bool known = gate ? log_->submitted(message.job) : log_->accepted(ClusterMap::datacenter(from), message.job);
  if (!known)
    kernel_->violate("5", fmt::format("node {} acknowledges job {} to node {}, which no majority has on disk",
                                      base::number(from), cluster::number(message.job), base::number(to)));
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::Cancel& message) {
  if (ClusterMap::role(from) != ClusterMap::Role::kGate || !log_->forgotten_at_gates(message.job)) return;
  if (!log_->ended(ClusterMap::datacenter(to), message.job)) kernel_->hit("forgotten job cancelled by a gate");
}

void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::OwnerAsk& message) {
  if (!log_->ended(ClusterMap::datacenter(from), message.job)) kernel_->hit("owner of a running job asked for");
}

void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::CancelAnswer& message) {
  const bool gate = ClusterMap::role(from) == ClusterMap::Role::kGate;
  if (message.answer != cluster::Answer::kAccepted) return;
  const bool known =
      gate ? log_->cancelled_at_gates(message.job) : log_->cancelled(ClusterMap::datacenter(from), message.job);
  if (!known)
    kernel_->violate("5", fmt::format("node {} confirms the cancellation of job {}, which no majority has on disk",
                                      base::number(from), cluster::number(message.job)));
}

// Its worker deletes the result then.
void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::ResultAck& message) {
  if (log_->settled(ClusterMap::datacenter(from), message.part, message.fence)) return;
  kernel_->violate("5", fmt::format("manager {} acknowledges to worker {} a result of part {}.{} of job {} under fence "
                                    "{}.{}, which no majority has on disk",
                                    base::number(from), base::number(to), message.part.workflow, message.part.part,
                                    cluster::number(message.part.job), message.fence.epoch, message.fence.attempt));
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::JobEnd& message) {
  check_end(from, message.job, message.state);
  if (ClusterMap::role(from) == ClusterMap::Role::kGate) {
    check_losses(from, to, message);
  } else {
    check_totals(from, to, message);
  }
}

void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::WindowPush& message) {
  const base::NodeId follower = ClusterMap::role(from) == ClusterMap::Role::kGate ? to : base::kNoNode;
  for (const cluster::TotalRow& row : message.totals)
    pushed_[{from, follower, message.job, message.datacenter, row.workflow}] = {to, message.epoch, row.counts,
                                                                                row.lost};
}

void ClusterTalk::booted(base::NodeId node) {
  std::erase_if(pushed_, [node](const auto& each) { return std::get<0>(each.first) == node; });
}

void ClusterTalk::parted(base::NodeId gate, base::NodeId client) {
  std::erase_if(pushed_,
                [&](const auto& each) { return std::get<0>(each.first) == gate && std::get<1>(each.first) == client; });
}

// What is lost of them on the way is lost, and another gate may hear of the end later; but who led the job to its end
// under this epoch knows every result.
void ClusterTalk::check_totals(base::NodeId manager, base::NodeId to, const cluster::JobEnd& message) {
  if (message.state != cluster::JobState::kCompleted) return;
  for (auto at = pushed_.lower_bound({manager, base::kNoNode, message.job, "", 0});
       at != pushed_.end() && std::get<0>(at->first) == manager && std::get<2>(at->first) == message.job; ++at) {
    const auto& [receiver, epoch, counts, lost] = at->second;
    const std::uint32_t workflow = std::get<4>(at->first);
    const std::uint32_t datacenter = ClusterMap::datacenter(manager);
    if (receiver != to || epoch != log_->epoch(datacenter, message.job)) continue;
    kernel_->hit("end told with its totals");
    const cluster::Counts held = log_->counted(datacenter, message.job, workflow);
    if (counts.since(lost) != held)
      kernel_->violate("18", fmt::format("manager {} tells the end of job {}, and of its workflow {} it has told {} "
                                         "iterations with {} lost; the log holds {}",
                                         base::number(manager), cluster::number(message.job), workflow,
                                         counts.iterations, lost.iterations, held.iterations));
  }
}

// Only the owner at the end: a former one may tell the end, too, and knows no more of the totals.
void ClusterTalk::check_losses(base::NodeId gate, base::NodeId client, const cluster::JobEnd& message) {
  for (const cluster::DatacenterStatus& place : message.datacenters) {
    if (!place.lost) continue;
    for (auto at = pushed_.lower_bound({gate, client, message.job, place.name, 0});
         at != pushed_.end() && std::get<0>(at->first) == gate && std::get<1>(at->first) == client &&
         std::get<2>(at->first) == message.job && std::get<3>(at->first) == place.name;
         ++at) {
      const auto& [receiver, epoch, counts, lost] = at->second;
      if (receiver != client || epoch != log_->gate_epoch(message.job)) continue;
      kernel_->hit("loss of a datacenter told with its totals");
      if (counts != lost)
        kernel_->violate("18", fmt::format("gate {} tells that {} was lost to job {}, and of its {} iterations it has "
                                           "told {} as lost",
                                           base::number(gate), place.name, cluster::number(message.job),
                                           counts.iterations, lost.iterations));
    }
  }
}

// Who is behind may say that a job runs which has ended, but not the other way round.
void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::StatusAnswer& message) {
  if (message.answer == cluster::Answer::kAccepted && cluster::terminal(message.state))
    check_end(from, message.job, message.state);
}

void ClusterTalk::check_end(base::NodeId from, cluster::JobId job, cluster::JobState state) {
  const bool gate = ClusterMap::role(from) == ClusterMap::Role::kGate;
  const auto end = gate ? log_->end_at_gates(job) : log_->end(ClusterMap::datacenter(from), job);
  if (end == state) return;
  kernel_->violate("16",
                   fmt::format("node {} says that job {} ended as {}; in the log it is {}", base::number(from),
                               cluster::number(job), cluster::to_text(state), end ? cluster::to_text(*end) : "open"));
}

// A datacenter may forget what it made of the job then.
void ClusterTalk::on(base::NodeId from, base::NodeId to, const cluster::EndAck& message) {
  log_->taken(to, message.job);
  if (ClusterMap::role(from) != ClusterMap::Role::kGate) return;
  const std::string datacenter = ClusterMap::name(ClusterMap::datacenter(to));
  if (!log_->awaited(message.job, datacenter)) return;
  kernel_->violate("5", fmt::format("gate {} acknowledges the end of job {} at {}, which no majority has on disk",
                                    base::number(from), cluster::number(message.job), datacenter));
}

void ClusterTalk::on(base::NodeId, base::NodeId, const cluster::DispatchAnswer& message) {
  kernel_->hit(std::string("dispatch answered ").append(cluster::to_text(message.reply)));
}

void ClusterTalk::asked(base::NodeId manager, const cluster::ExtensionAsk& ask) {
  extensions_[{manager, ask.part, ask.fence}].asked = ask.progress;
}

// Five in all, each half as long as the one before. An executor asks with more progress each time, so what is granted
// for the same progress is told again. Once it shows a sign of life, or another watch begins, all are there again.
void ClusterTalk::on(base::NodeId from, base::NodeId, const cluster::ExtensionAnswer& message) {
  kernel_->hit(message.granted ? "extension granted" : "extension refused");
  Extensions& known = extensions_[{from, message.part, message.fence}];
  const bool anew = message.left + 1 == kMostExtensions && known.granted != 1;
  if (!message.granted || (!anew && known.asked <= known.granted_at)) return;
  known.granted_at = known.asked;
  known.granted = message.left + 1 == kMostExtensions ? 1 : known.granted + 1;  // the first of a watch that is new
  if (message.left == 0) kernel_->hit("last extension granted");
  const base::Duration due = std::max(kShortestExtension, kLongestExtension / (1 << std::min(known.granted, 16u)));
  if (known.granted + message.left != kMostExtensions || message.extended != due)
    kernel_->violate("27", fmt::format("manager {} grants part {}.{} of job {} extension {}, of {:.2f} s, with {} left",
                                       base::number(from), message.part.workflow, message.part.part,
                                       cluster::number(message.part.job), known.granted,
                                       base::seconds(message.extended), message.left));
}

}  // namespace muster::sim
