#include "sim/cluster_oracle_log.h"

#include <algorithm>

#include "sim/cluster_program.h"

namespace muster::sim {

using cluster::JobId;
using cluster::Ledger;
using cluster::LedgerJob;
using cluster::LedgerPart;
using cluster::PartId;
using cluster::PartPhase;

namespace {

// The longest way to each workflow through what it depends on.
std::vector<std::uint32_t> depths(const cluster::JobOutline& outline) {
  std::vector<std::uint32_t> depth(outline.workflows.size(), 0);
  for (std::size_t round = 0; round < depth.size(); ++round) {
    for (std::size_t i = 0; i < depth.size(); ++i) {
      for (const std::uint32_t on : outline.workflows[i].depends) depth[i] = std::max(depth[i], depth[on] + 1);
    }
  }
  return depth;
}

JobId job_of(const cluster::Command& command) {
  return std::visit(
      [](const auto& each) -> JobId {
        if constexpr (requires { each.job; }) {
          return each.job;
        } else if constexpr (requires { each.part.job; }) {
          return each.part.job;
        } else {
          return JobId{};
        }
      },
      command);
}

}  // namespace

// What one command did, by the ledger that came of it, entered into the account.
struct ClusterLog::Effect {
  ClusterLog& log;
  Place& place;
  std::uint32_t datacenter;
  std::uint64_t index;
  const Ledger& after;
  const std::vector<base::NodeId>& voters;

  void violate(const char* law, std::string sentence) const {
    log.kernel_->violate(law, fmt::format("{} in {}, entry {}", sentence, ClusterMap::name(datacenter), index));
  }

  void operator()(const cluster::JobAccepted& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || job->accepted != index) return;
    Job made;
    made.accepted = index;
    made.layers = depths(command.outline);
    made.states.assign(made.layers.size(), cluster::WorkflowState::kPending);
    if (!place.jobs.emplace(command.job, std::move(made)).second)
      violate("13", fmt::format("job {} is accepted a second time", cluster::number(command.job)));
    log.check_body("a bundle", command.bundle, voters);
  }
  void operator()(const cluster::JobOwner& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || job->owner != command.owner || job->epoch != command.epoch) return;
    std::uint64_t& epoch = place.jobs[command.job].epoch;
    if (command.epoch < epoch)
      violate("11", fmt::format("the epoch of job {} falls from {} to {}", cluster::number(command.job), epoch,
                                command.epoch));
    if (command.epoch > epoch) log.kernel_->hit("job taken over by another manager");
    epoch = command.epoch;
  }
  void operator()(const cluster::Provision& command) const {
    for (const cluster::Assignment& each : command.parts) {
      const PartId id{command.job, command.workflow, each.part};
      const LedgerPart* const part = after.part(id);
      const cluster::Fence fence{command.epoch, each.attempt};
      if (part == nullptr || part->phase != PartPhase::kAssigned || part->fence != fence) continue;
      if (part->worker != each.worker) continue;
      if (place.held.contains(id) && place.issued[id] == fence) continue;  // repeated
      give(id, fence, each);
    }
  }
  void give(const PartId& id, const cluster::Fence& fence, const cluster::Assignment& each) const {
    const std::uint64_t name = cluster::number(id.job);
    if (place.issued[id] >= fence)
      violate("11", fmt::format("part {}.{} of job {} gets the fence {}.{} again", id.workflow, id.part, name,
                                fence.epoch, fence.attempt));
    place.issued[id] = fence;
    if (place.held.contains(id))
      violate("provision-once",
              fmt::format("part {}.{} of job {} gets cores while it has some", id.workflow, id.part, name));
    const Worker& worker = place.workers[each.worker.node];
    if (!worker.admitted || worker.life != each.worker.life)
      violate("provision-once", fmt::format("job {} gets cores of worker {}, which is not admitted", name,
                                            base::number(each.worker.node)));
    place.held[id] = {each.worker, each.cores};
    std::uint32_t& used = place.used[each.worker];
    used += each.cores;
    if (used > log.setup_.cores)
      violate("provision-once", fmt::format("worker {} has given {} cores of {}", base::number(each.worker.node), used,
                                            log.setup_.cores));
    if (place.jobs[id.job].cancelled)
      violate("cancelled", fmt::format("job {} gets cores after its cancellation", name));
    if (!log.open(datacenter, id.job, id.workflow))
      violate("layers", fmt::format("job {} gets cores for workflow {} before its layer is open", name, id.workflow));
    if (fence.attempt > 1) log.kernel_->hit("part run again");
  }
  void operator()(const cluster::PartLost& command) const {
    const auto held = place.held.find(command.part);
    const LedgerPart* const part = after.part(command.part);
    if (held == place.held.end() || part == nullptr || part->phase == PartPhase::kAssigned) return;
    if (place.issued[command.part] != command.fence) {
      violate("9", fmt::format("a part of job {} is lost under a fence that is not its last",
                               cluster::number(command.part.job)));
    }
    const auto* const attempt = log.runs_->attempt(datacenter, {command.part, command.fence});
    if (attempt != nullptr && attempt->live && log.runs_->trusted(attempt->worker))
      violate("part-once",
              fmt::format("part {}.{} of job {} is said to be lost and runs on worker {}", command.part.workflow,
                          command.part.part, cluster::number(command.part.job), base::number(attempt->worker)));
    log.kernel_->hit(std::string("loss ").append(cluster::to_text(command.loss)));
    log.free(place, command.part);
  }
  void operator()(const cluster::LayerContext& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || job->open_layer <= command.layer || job->context_version != command.version) return;
    Job& known = place.jobs[command.job];
    if (known.closed > command.layer) return;
    known.closed = command.layer + 1;
    for (std::size_t i = 0; i < known.layers.size(); ++i) {
      if (known.layers[i] <= command.layer && !cluster::terminal(job->workflows[i].state))
        violate("layers", fmt::format("layer {} of job {} is closed while workflow {} runs", command.layer,
                                      cluster::number(command.job), i));
    }
    log.check_body("a context", command.body, voters);
    log.kernel_->hit("layer closed");
  }
  void operator()(const cluster::ResultHeld& command) const {
    const LedgerPart* const part = after.part(command.part);
    if (part == nullptr || part->phase != PartPhase::kEnded) return;
    const auto counted = place.counted.find(command.part);
    if (counted != place.counted.end()) {
      if (counted->second != part->counts)
        violate("12", fmt::format("a result of part {}.{} of job {} counts twice", command.part.workflow,
                                  command.part.part, cluster::number(command.part.job)));
      log.kernel_->hit("result repeated");
      return;
    }
    if (part->fence != command.fence || part->result != command.body || part->outcome != command.outcome) return;
    place.counted.emplace(command.part, part->counts);
    const auto* const attempt = log.runs_->attempt(datacenter, {command.part, command.fence});
    // A worker may find that the time of a part was over before its executor does.
    const bool overdue = command.outcome == cluster::PartOutcome::kTimeout;
    const bool true_result = attempt != nullptr && !attempt->live && (attempt->outcome == command.outcome || overdue) &&
                             attempt->counts == part->counts &&
                             (command.body.size == 0 || attempt->body == command.body.hash);
    if (!true_result)
      violate("12", fmt::format("part {}.{} of job {} has a result that no executor under fence {}.{} gave",
                                command.part.workflow, command.part.part, cluster::number(command.part.job),
                                command.fence.epoch, command.fence.attempt));
    if (command.body.size > 0) log.check_body("a result", command.body, voters);
    log.free(place, command.part);
  }
  void operator()(const cluster::JobEnded& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || !job->end) return;
    Job& known = place.jobs[command.job];
    if (known.end) return;
    known.end = job->end->state;
    const base::NodeId worker = log.runs_->runs(datacenter, command.job);
    if (worker != base::kNoNode)
      violate("cancelled", fmt::format("job {} has ended and runs on worker {}", cluster::number(command.job),
                                       base::number(worker)));
    for (const auto& [part, held] : place.held) {
      if (part.job != command.job) continue;
      violate("cores", fmt::format("job {} has ended and holds cores", cluster::number(command.job)));
      break;
    }
    log.kernel_->hit(std::string("job ").append(cluster::to_text(*known.end)));
    log.check_failure(datacenter, command.job, *job);
  }
  void operator()(const cluster::CancelRequested& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || !job->cancel) return;
    Job& known = place.jobs[command.job];
    if (job->end && !known.cancelled) log.kernel_->hit("cancellation came after the end");
    if (!known.cancelled) known.cancelled_at = log.kernel_->elapsed();
    known.cancelled = true;
  }
  void operator()(const cluster::WorkerAdmitted& command) const {
    const auto found = after.workers().find(command.worker.node);
    if (found == after.workers().end() || found->second.evicted || found->second.life != command.worker.life) return;
    Worker& worker = place.workers[command.worker.node];
    if (worker.life > command.worker.life)
      violate("11", fmt::format("worker {} is admitted in a life that is over", base::number(command.worker.node)));
    worker = {command.worker.life, true};
  }
  void operator()(const cluster::WorkerEvicted& command) const {
    const auto found = after.workers().find(command.worker.node);
    if (found != after.workers().end() && !found->second.evicted) return;
    place.workers[command.worker.node].admitted = false;
    log.kernel_->hit("worker evicted");
  }
  void operator()(const cluster::JobForgotten& command) const {
    if (after.job(command.job) != nullptr) return;
    const auto found = place.jobs.find(command.job);
    if (found == place.jobs.end()) return;
    if (!found->second.end)
      violate("14", fmt::format("job {} is forgotten before its end", cluster::number(command.job)));
    if (!found->second.forgotten) log.kernel_->hit("job forgotten");
    found->second.forgotten = true;
  }
  void operator()(const cluster::Configuration&) const {}
};

void ClusterLog::committed(std::uint32_t datacenter, std::uint64_t index, const cluster::Entry& entry,
                           const Ledger& after, const std::vector<base::NodeId>& voters) {
  Effect effect{*this, places_[datacenter], datacenter, index, after, voters};
  std::visit(effect, entry.command);
  check_job(datacenter, job_of(entry.command), after);
  if (after.queued() > 50)
    kernel_->violate("27", fmt::format("{} jobs wait for cores in {}", after.queued(), ClusterMap::name(datacenter)));
}

void ClusterLog::committed(std::uint64_t index, const cluster::GateEntry& entry, const cluster::GateLedger& after,
                           const std::vector<base::NodeId>& voters) {
  JobId id{};
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command)) {
    id = submitted->job;
    const cluster::GateLedgerJob* const job = after.job(id);
    if (job == nullptr || job->submitted != index) return;
    if (!gate_jobs_.emplace(id, GateJob{index, 1, std::nullopt}).second)
      kernel_->violate("13", fmt::format("job {} is submitted a second time, entry {}", cluster::number(id), index));
    if (!gate_jobs_.at(id).end) open_gate_jobs_.insert(id);
    check_body("a bundle", submitted->bundle, voters);
  } else if (const auto* moved = std::get_if<cluster::LeaseMoved>(&entry.command)) {
    id = moved->job;
    const cluster::GateLedgerJob* const job = after.job(id);
    if (job != nullptr && job->epoch == moved->epoch && job->owner == moved->to) {
      const auto [known, fresh] = gate_jobs_.try_emplace(id);
      if (fresh) open_gate_jobs_.insert(id);
      if (known->second.epoch < moved->epoch) kernel_->hit("job taken over by another gate");
    }
  } else {
    std::visit(
        [&id](const auto& each) {
          if constexpr (requires { each.fence.job; }) id = each.fence.job;
          if constexpr (requires { each.job; }) id = each.job;
        },
        entry.command);
  }
  const cluster::GateLedgerJob* const job = after.job(id);
  const auto known = gate_jobs_.find(id);
  if (known == gate_jobs_.end()) return;
  if (job == nullptr) {
    if (!known->second.end)
      kernel_->violate("14", fmt::format("the gates forget job {} before its end", cluster::number(id)));
    return;
  }
  if (job->epoch < known->second.epoch)
    kernel_->violate("11", fmt::format("the gates' epoch of job {} falls from {} to {}", cluster::number(id),
                                       known->second.epoch, job->epoch));
  known->second.epoch = job->epoch;
  if (known->second.end && job->end != known->second.end)
    kernel_->violate("16", fmt::format("job {} had ended at the gates, and now it is otherwise", cluster::number(id)));
  if (job->end && !known->second.end) kernel_->hit(std::string("gates' job ").append(cluster::to_text(*job->end)));
  known->second.end = job->end;
  if (job->end) {
    open_gate_jobs_.erase(id);
  } else {
    open_gate_jobs_.insert(id);
  }
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  for (const cluster::GateResult& result : job->results) {
    if (!seen.insert({result.slot, result.offer, result.status.workflow}).second)
      kernel_->violate("12", fmt::format("the gates have the end of workflow {} of job {} twice",
                                         result.status.workflow, cluster::number(id)));
  }
}

// Repetitions may meet other voters than the first one did.
void ClusterLog::proposed(const cluster::Entry& entry, const std::vector<base::NodeId>& voters) {
  std::uint64_t& last = proposed_[entry.proposer];
  if (entry.sequence <= last) return;
  last = entry.sequence;
  if (const auto* accepted = std::get_if<cluster::JobAccepted>(&entry.command))
    check_proposed("a bundle", accepted->bundle, voters);
  if (const auto* context = std::get_if<cluster::LayerContext>(&entry.command))
    check_proposed("a context", context->body, voters);
  if (const auto* held = std::get_if<cluster::ResultHeld>(&entry.command))
    check_proposed("a result", held->body, voters);
}

void ClusterLog::proposed(const cluster::GateEntry& entry, const std::vector<base::NodeId>& voters) {
  std::uint64_t& last = proposed_[entry.proposer];
  if (entry.sequence <= last) return;
  last = entry.sequence;
  if (const auto* submitted = std::get_if<cluster::JobSubmitted>(&entry.command))
    check_proposed("a bundle", submitted->bundle, voters);
  if (const auto* received = std::get_if<cluster::WorkflowReceived>(&entry.command)) {
    for (const cluster::BodyRef& body : received->status.results) check_proposed("a result", body, voters);
  }
}

void ClusterLog::drops(base::NodeId node, const cluster::BodyHash& body, bool named) {
  if (named && keeps(node, body))
    kernel_->violate("bodies", fmt::format("node {} drops a body that its ledger names", base::number(node)));
}

bool ClusterLog::keeps(base::NodeId node, const cluster::BodyHash& body) const {
  const auto found = bodies_.find(node);
  return found != bodies_.end() && found->second.contains(body);
}

bool ClusterLog::provisioned(std::uint32_t datacenter, const PartId& part, const cluster::Fence& fence) const {
  const auto found = places_[datacenter].issued.find(part);
  return found != places_[datacenter].issued.end() && found->second >= fence;
}

std::uint64_t ClusterLog::epoch(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  return found == places_[datacenter].jobs.end() ? 0 : found->second.epoch;
}

std::uint64_t ClusterLog::gate_epoch(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found == gate_jobs_.end() ? 0 : found->second.epoch;
}

bool ClusterLog::ended_at_gates(JobId job) const {
  const auto found = gate_jobs_.find(job);
  return found != gate_jobs_.end() && found->second.end.has_value();
}

bool ClusterLog::ended(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  return found != places_[datacenter].jobs.end() && found->second.end.has_value();
}

std::optional<base::Duration> ClusterLog::cancelled(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  if (found == places_[datacenter].jobs.end() || !found->second.cancelled) return std::nullopt;
  return found->second.cancelled_at;
}

bool ClusterLog::open(std::uint32_t datacenter, JobId job, std::uint32_t workflow) const {
  const auto found = places_[datacenter].jobs.find(job);
  if (found == places_[datacenter].jobs.end() || workflow >= found->second.layers.size()) return false;
  return found->second.layers[workflow] <= found->second.closed;
}

std::vector<std::pair<std::uint32_t, JobId>> ClusterLog::unended() const {
  std::vector<std::pair<std::uint32_t, JobId>> open;
  for (std::uint32_t datacenter = 0; datacenter < 2; ++datacenter) {
    for (const auto& [id, job] : places_[datacenter].jobs) {
      if (!job.end) open.emplace_back(datacenter, id);
    }
  }
  return open;
}

std::uint64_t ClusterLog::cores_held() const {
  std::uint64_t cores = 0;
  for (const Place& place : places_) {
    for (const auto& [part, held] : place.held) cores += held.second;
  }
  return cores;
}

void ClusterLog::free(Place& place, const PartId& part) {
  const auto held = place.held.find(part);
  if (held == place.held.end()) return;
  place.used[held->second.first] -= held->second.second;
  place.held.erase(held);
}

void ClusterLog::check_job(std::uint32_t datacenter, JobId id, const Ledger& after) {
  const LedgerJob* const job = after.job(id);
  const auto known = places_[datacenter].jobs.find(id);
  if (job == nullptr || known == places_[datacenter].jobs.end()) return;
  Job& account = known->second;
  if (job->accepted != account.accepted)
    kernel_->violate("13", fmt::format("job {} is another than it was", cluster::number(id)));
  if (account.end && (!job->end || job->end->state != *account.end))
    kernel_->violate("16", fmt::format("job {} had ended as {} and now it is otherwise", cluster::number(id),
                                       cluster::to_text(*account.end)));
  for (std::size_t i = 0; i < account.states.size() && i < job->workflows.size(); ++i) {
    const cluster::WorkflowState state = job->workflows[i].state;
    if (account.states[i] == state) continue;
    const bool over = cluster::terminal(account.states[i]);
    const bool back = state == cluster::WorkflowState::kPending;
    if (over || back)
      kernel_->violate("16", fmt::format("workflow {} of job {} goes from {} to {}", i, cluster::number(id),
                                         cluster::to_text(account.states[i]), cluster::to_text(state)));
    account.states[i] = state;
  }
}

std::size_t ClusterLog::holders(const cluster::BodyRef& body, const std::vector<base::NodeId>& voters) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(voters, [&](base::NodeId node) { return keeps(node, body.hash); }));
}

// Members may have changed between the proposal and now: what counts is that every majority has somebody who holds it.
void ClusterLog::check_body(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters) {
  const std::size_t found = holders(body, voters);
  if (found < voters.size() - voters.size() / 2)
    kernel_->violate("bodies", fmt::format("the log names {} that is on {} disks of {}", what, found, voters.size()));
}

void ClusterLog::check_proposed(const char* what, const cluster::BodyRef& body,
                                const std::vector<base::NodeId>& voters) {
  const std::size_t found = body.size == 0 ? voters.size() : holders(body, voters);
  if (found < voters.size() / 2 + 1)
    kernel_->violate("bodies", fmt::format("{} is proposed that is on {} disks of {}", what, found, voters.size()));
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
      const std::size_t lost = runs_->fruitless(datacenter, {id, i, part});
      // Attempts that no executor ever ran were refused or never answered; those are counted apart.
      if (row.fence.attempt >= 4 || lost >= 4) continue;
      kernel_->violate("failed-cause",
                       fmt::format("part {}.{} of job {} has failed in attempt {} after {} were lost: {}", i, part,
                                   cluster::number(id), row.fence.attempt, lost, row.reason));
    }
  }
}

}  // namespace muster::sim
