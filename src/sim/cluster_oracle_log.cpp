#include "sim/cluster_oracle_log.h"

#include <algorithm>

#include "cluster/context.h"
#include "cluster/job_status.h"
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

}  // namespace

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

std::uint64_t epoch_of(const cluster::Command& command) {
  return std::visit(
      [](const auto& each) -> std::uint64_t {
        if constexpr (requires { each.epoch; }) return each.epoch;
        return 0;
      },
      command);
}

// What one command did, by the ledger that came of it, entered into the account.
struct ClusterLog::Effect {
  ClusterLog& log;
  Place& place;
  std::uint32_t datacenter;
  std::uint64_t index;
  const Ledger& after;
  const std::vector<base::NodeId>& voters;
  Proposal proposal;

  void violate(const char* law, std::string sentence) const {
    log.kernel_->violate(law, fmt::format("{} in {}, entry {}", sentence, ClusterMap::name(datacenter), index));
  }

  void operator()(const cluster::JobAccepted& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || job->accepted != index) return;
    Job made;
    made.accepted = index;
    made.accepted_at = log.kernel_->elapsed();
    made.owner = command.owner;
    made.layers = depths(command.outline);
    made.provided.resize(made.layers.size());
    for (const cluster::WorkflowOutline& each : command.outline.workflows) made.depends.push_back(each.depends);
    made.states.assign(made.layers.size(), cluster::WorkflowState::kPending);
    if (!place.jobs.emplace(command.job, std::move(made)).second)
      violate("13", fmt::format("job {} is accepted a second time", cluster::number(command.job)));
    log.check_body("a bundle", command.bundle, voters, proposal);
  }
  void operator()(const cluster::JobOwner&) const {}
  // What took effect was decided by who leads the job.
  void check_epoch(const char* what, JobId job, std::uint64_t epoch) const {
    const std::uint64_t current = log.epoch(datacenter, job);
    if (epoch != current)
      violate("9", fmt::format("{} of job {} takes effect under epoch {}, which is at {}", what, cluster::number(job),
                               epoch, current));
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
  // Whoever lost a part does not get it again, and nobody does after too many losses or refusals.
  void check_losses(const PartId& id, const cluster::Process& worker) const {
    const auto found = place.losses.find(id);
    if (found == place.losses.end()) return;
    if (found->second.with.contains(worker))
      violate("failed-cause", fmt::format("part {}.{} of job {} goes again to worker {}, which lost it", id.workflow,
                                          id.part, cluster::number(id.job), base::number(worker.node)));
    if (found->second.counted > kMostLosses)
      violate("failed-cause", fmt::format("part {}.{} of job {} is run again after {} losses", id.workflow, id.part,
                                          cluster::number(id.job), found->second.counted));
    if (found->second.refused > kMostRefusals)
      violate("failed-cause", fmt::format("part {}.{} of job {} is offered again after {} refusals", id.workflow,
                                          id.part, cluster::number(id.job), found->second.refused));
  }
  void give(const PartId& id, const cluster::Fence& fence, const cluster::Assignment& each) const {
    const std::uint64_t name = cluster::number(id.job);
    check_epoch("a provision", id.job, fence.epoch);
    if (place.issued[id] >= fence)
      violate("11", fmt::format("part {}.{} of job {} gets the fence {}.{} again", id.workflow, id.part, name,
                                fence.epoch, fence.attempt));
    place.issued[id] = fence;
    if (auto& provided = place.jobs.at(id.job).provided.at(id.workflow); !provided) provided = log.kernel_->elapsed();
    place.given[{id, fence}] = {each.worker, each.cores};
    check_losses(id, each.worker);
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
    check_epoch("a loss", command.part.job, command.epoch);
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
    Losses& losses = place.losses[command.part];
    losses.last = log.kernel_->elapsed();
    switch (command.loss) {
      case cluster::Loss::kRefused:
        ++losses.refused;
        losses.refusals.emplace_back(log.kernel_->elapsed(), held->second.first.node);
        if (losses.refusals.size() > kMostRefusals) losses.refusals.pop_front();
        break;
      case cluster::Loss::kWorkerDied:
      case cluster::Loss::kNotRunning:
      case cluster::Loss::kStuck:
        ++losses.counted;
        losses.with.insert(held->second.first);
        break;
      case cluster::Loss::kAlone:
      case cluster::Loss::kDraining:
        if (!log.runs_->excused(datacenter, {command.part, command.fence}, command.loss))
          violate("failed-cause",
                  fmt::format("a loss of part {}.{} of job {} counts for nothing, as '{}', which its worker never said",
                              command.part.workflow, command.part.part, cluster::number(command.part.job),
                              cluster::to_text(command.loss)));
        break;
      case cluster::Loss::kOverdue:
      case cluster::Loss::kCancelled:
        break;
    }
    log.free(place, command.part);
    if (part->phase == PartPhase::kEnded) place.over.insert(command.part);
  }
  void operator()(const cluster::LayerContext& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || job->open_layer <= command.layer || job->context_version != command.version) return;
    Job& known = place.jobs[command.job];
    if (known.closed > command.layer) return;
    known.closed = command.layer + 1;
    known.layer_over.reset();
    check_epoch("a context", command.job, command.epoch);
    for (std::size_t i = 0; i < known.layers.size(); ++i) {
      if (known.layers[i] <= command.layer && !cluster::terminal(job->workflows[i].state))
        violate("layers", fmt::format("layer {} of job {} is closed while workflow {} runs", command.layer,
                                      cluster::number(command.job), i));
    }
    log.check_body("a context", command.body, voters, proposal);
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
    place.over.insert(command.part);
    if (command.outcome == cluster::PartOutcome::kCompleted) place.completed.insert(command.part);
    const auto* const attempt = log.runs_->attempt(datacenter, {command.part, command.fence});
    const bool true_result = attempt != nullptr && !attempt->live &&
                             (attempt->outcome == command.outcome || overdue(command, *attempt)) &&
                             attempt->counts == part->counts &&
                             attempt->body == (command.body.size == 0 ? cluster::kNoBody : command.body.hash);
    if (!true_result)
      violate("12", fmt::format("part {}.{} of job {} has a result that no executor under fence {}.{} gave",
                                command.part.workflow, command.part.part, cluster::number(command.part.job),
                                command.fence.epoch, command.fence.attempt));
    if (command.body.size > 0) {
      place.left[command.part] = {command.body, log.kernel_->elapsed()};
      log.check_body("a result", command.body, voters, proposal);
    }
    log.free(place, command.part);
  }
  // A worker may find that the time of a part was over before its executor does, and then stops it.
  bool overdue(const cluster::ResultHeld& command, const ClusterRuns::Attempt& attempt) const {
    const auto& limit = after.job(command.part.job)->outline.workflows[command.part.workflow].run_limit;
    return command.outcome == cluster::PartOutcome::kTimeout && limit &&
           attempt.outcome.value_or(cluster::PartOutcome::kCancelled) == cluster::PartOutcome::kCancelled &&
           (log.lasted(attempt.began, *limit) || !log.runs_->keeps_time(attempt.worker));
  }
  // How it has to end by the results that are held, each looked at by itself.
  cluster::JobState due_end(JobId id, const Job& known, const LedgerJob& job) const {
    if (known.cancelled_as) return *known.cancelled_as;
    std::size_t good = 0;
    for (std::uint32_t i = 0; i < job.workflows.size(); ++i) {
      const auto parts = static_cast<std::uint32_t>(job.workflows[i].parts.size());
      std::uint32_t completed = 0;
      for (std::uint32_t part = 0; part < parts; ++part) completed += place.completed.contains({id, i, part}) ? 1 : 0;
      if (parts > 0 && completed == parts) ++good;
    }
    if (good == job.workflows.size()) return cluster::JobState::kCompleted;
    return good == 0 ? cluster::JobState::kFailed : cluster::JobState::kPartial;
  }
  void operator()(const cluster::JobEnded& command) const {
    const LedgerJob* const job = after.job(command.job);
    if (job == nullptr || !job->end) return;
    Job& known = place.jobs[command.job];
    if (known.end) return;
    known.end = job->end->state;
    known.ended_at = log.kernel_->elapsed();
    check_epoch("the end", command.job, command.epoch);
    if (const cluster::JobState due = due_end(command.job, known, *job); known.end != due)
      violate("16", fmt::format("job {} ends as {}, where its results and what was asked for say {}",
                                cluster::number(command.job), cluster::to_text(*known.end), cluster::to_text(due)));
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
    if (!known.cancelled && command.epoch != 0) check_epoch("that a leader gives up", command.job, command.epoch);
    if (!known.cancelled) {
      known.cancelled_at = log.kernel_->elapsed();
      known.cancelled_as = command.end_as;
      if (command.requester == cluster::kItself) log.check_given_up(datacenter, command, *job);
    }
    known.cancelled = true;
    log.note_over(place, command.job, *job);
  }
  void operator()(const cluster::WorkerAdmitted& command) const {
    const auto found = after.workers().find(command.worker.node);
    if (found == after.workers().end() || found->second.evicted || found->second.life != command.worker.life) return;
    Worker& worker = place.workers[command.worker.node];
    if (worker.life > command.worker.life)
      violate("11", fmt::format("worker {} is admitted in a life that is over", base::number(command.worker.node)));
    if (!worker.admitted || worker.life != command.worker.life) worker.since = log.kernel_->elapsed();
    worker.admission = found->second.admission;
    worker.life = command.worker.life;
    worker.admitted = true;
  }
  void operator()(const cluster::WorkerEvicted& command) const {
    const auto found = after.workers().find(command.worker.node);
    if (found != after.workers().end() && !found->second.evicted) return;
    Worker& worker = place.workers[command.worker.node];
    if (worker.admitted) worker.since = log.kernel_->elapsed();
    worker.admitted = false;
    log.kernel_->hit("worker evicted");
  }
  void operator()(const cluster::JobForgotten& command) const {
    if (after.job(command.job) != nullptr) return;
    const auto found = place.jobs.find(command.job);
    if (found == place.jobs.end()) return;
    if (!found->second.end)
      violate("14", fmt::format("job {} is forgotten before its end", cluster::number(command.job)));
    const bool kept = !log.lasted(found->second.ended_at, log.setup_.manager.keep_unacknowledged);
    if (kept && !found->second.taken && log.runs_->managers_keep_time(datacenter, found->second.ended_at))
      violate("14", fmt::format("job {} is forgotten though nobody has taken its end", cluster::number(command.job)));
    if (!found->second.forgotten) log.kernel_->hit("job forgotten");
    found->second.forgotten = true;
  }
  void operator()(const cluster::Configuration&) const {}
  void operator()(const cluster::CoresDone& command) const {
    const auto held = place.held.find(command.part);
    const LedgerPart* const part = after.part(command.part);
    if (held == place.held.end() || part == nullptr || part->phase != PartPhase::kAssigned) return;
    if (part->fence != command.fence || part->given_back != command.cores) return;
    auto& [worker, cores] = held->second;
    const std::uint32_t left = place.given.at({command.part, command.fence}).second - command.cores;
    if (left >= cores) return;  // repeated
    check_epoch("a return of cores", command.part.job, command.epoch);
    const ClusterRuns::Key key{command.part, command.fence};
    const auto* const attempt = log.runs_->attempt(datacenter, key);
    if (attempt == nullptr || (attempt->live && log.runs_->cores_of(worker.node, key) > left))
      violate("cores", fmt::format("part {}.{} of job {} has given {} cores back, and runs on more than {}",
                                   command.part.workflow, command.part.part, cluster::number(command.part.job),
                                   command.cores, left));
    place.used[worker] -= cores - left;
    cores = left;
    log.kernel_->hit("cores given back early");
  }
};

void ClusterLog::committed(std::uint32_t datacenter, std::uint64_t index, const cluster::Entry& entry,
                           const Ledger& after, const std::vector<base::NodeId>& voters) {
  if (const std::uint64_t under = epoch_of(entry.command);
      under != 0 && under < epoch(datacenter, job_of(entry.command)))
    kernel_->hit("old proposal let go by");
  Effect effect{*this, places_[datacenter], datacenter, index, after, voters, {entry.proposer, entry.sequence}};
  std::visit(effect, entry.command);
  Named& named = named_[datacenter];
  named.voters = voters;
  named.bodies.clear();
  for (const auto& [hash, body] : after.bodies()) named.bodies.push_back(hash);
  check_job(datacenter, job_of(entry.command), after);
  if (after.queued() > 50)
    kernel_->violate("27", fmt::format("{} jobs wait for cores in {}", after.queued(), ClusterMap::name(datacenter)));
}

const std::pair<cluster::Process, std::uint32_t>* ClusterLog::provision(std::uint32_t datacenter, const PartId& part,
                                                                        const cluster::Fence& fence) const {
  const auto found = places_[datacenter].given.find({part, fence});
  return found == places_[datacenter].given.end() ? nullptr : &found->second;
}

bool ClusterLog::gives(base::NodeId worker, const PartId& part, const cluster::Fence& fence) const {
  const Place& place = places_[ClusterMap::datacenter(worker)];
  const auto held = place.held.find(part);
  return held != place.held.end() && held->second.first.node == worker && place.issued.at(part) == fence;
}

std::uint64_t ClusterLog::admission(std::uint32_t datacenter, const cluster::Process& worker) const {
  const auto& workers = places_[datacenter].workers;
  const auto found = workers.find(worker.node);
  const bool in = found != workers.end() && found->second.admitted && found->second.life == worker.life;
  return in ? found->second.admission : 0;
}

std::uint64_t ClusterLog::epoch(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  return found == places_[datacenter].jobs.end() ? 0 : found->second.epoch;
}

std::optional<cluster::JobState> ClusterLog::end(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  return found == places_[datacenter].jobs.end() ? std::nullopt : found->second.end;
}

bool ClusterLog::cancelled(std::uint32_t datacenter, JobId job) const {
  const auto found = places_[datacenter].jobs.find(job);
  return found != places_[datacenter].jobs.end() && found->second.cancelled;
}

bool ClusterLog::settled(std::uint32_t datacenter, const PartId& part, const cluster::Fence& fence) const {
  const Place& place = places_[datacenter];
  const auto issued = place.issued.find(part);
  if (issued == place.issued.end() || issued->second < fence) return false;
  return issued->second > fence || place.over.contains(part);
}

cluster::Counts ClusterLog::counted(std::uint32_t datacenter, JobId job, std::uint32_t workflow) const {
  cluster::Counts sum;
  const auto& counted = places_[datacenter].counted;
  for (auto at = counted.lower_bound({job, workflow, 0});
       at != counted.end() && at->first.job == job && at->first.workflow == workflow; ++at)
    sum.add(at->second);
  return sum;
}

std::optional<base::Duration> ClusterLog::cancelled_at(std::uint32_t datacenter, JobId job) const {
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

// A cancellation gives up whatever waits for cores.
void ClusterLog::note_over(Place& place, JobId id, const LedgerJob& job) {
  for (std::uint32_t i = 0; i < job.workflows.size(); ++i) {
    for (std::uint32_t part = 0; part < job.workflows[i].parts.size(); ++part) {
      if (job.workflows[i].parts[part].phase == PartPhase::kEnded) place.over.insert({id, i, part});
    }
  }
}

void ClusterLog::check_job(std::uint32_t datacenter, JobId id, const Ledger& after) {
  const LedgerJob* const job = after.job(id);
  const auto known = places_[datacenter].jobs.find(id);
  if (job == nullptr || known == places_[datacenter].jobs.end()) return;
  Job& account = known->second;
  if (job->accepted != account.accepted)
    kernel_->violate("13", fmt::format("job {} is another than it was", cluster::number(id)));
  if (job->epoch < account.epoch || (job->epoch == account.epoch && job->owner != account.owner))
    kernel_->violate(
        "11", fmt::format("job {} goes from manager {} to {}, and its epoch from {} to {}", cluster::number(id),
                          base::number(account.owner.node), base::number(job->owner.node), account.epoch, job->epoch));
  if (job->epoch > account.epoch) kernel_->hit("job taken over by another manager");
  account.owner = job->owner;
  account.epoch = job->epoch;
  if (account.end && (!job->end || job->end->state != *account.end))
    kernel_->violate("16", fmt::format("job {} had ended as {} and now it is otherwise", cluster::number(id),
                                       cluster::to_text(*account.end)));
  for (std::size_t i = 0; i < account.states.size() && i < job->workflows.size(); ++i) {
    const cluster::WorkflowState state = job->workflows[i].state;
    if (account.states[i] == state) continue;
    if (!cluster::legal(account.states[i], state))
      kernel_->violate("16", fmt::format("workflow {} of job {} goes from {} to {}", i, cluster::number(id),
                                         cluster::to_text(account.states[i]), cluster::to_text(state)));
    account.states[i] = state;
  }
  bool over = true;
  for (std::size_t i = 0; i < account.states.size(); ++i)
    over = over && (account.layers[i] > account.closed || cluster::terminal(account.states[i]));
  if (!over) {
    account.layer_over.reset();
  } else if (!account.layer_over) {
    account.layer_over = kernel_->elapsed();
  }
  const cluster::JobState state = cluster::state_of(*job);
  if (account.state != cluster::JobState::kSubmitted && !cluster::legal(account.state, state))
    kernel_->violate("16", fmt::format("job {} goes from {} to {}", cluster::number(id),
                                       cluster::to_text(account.state), cluster::to_text(state)));
  account.state = state;
}

void ClusterLog::starts(base::NodeId worker, const cluster::StartExecutor& order) {
  const std::uint32_t datacenter = ClusterMap::datacenter(worker);
  if (!open(datacenter, order.part.job, order.part.workflow)) {
    kernel_->violate("layers", fmt::format("worker {} runs workflow {} of job {} before its layer is open",
                                           base::number(worker), order.part.workflow, cluster::number(order.part.job)));
    return;
  }
  const std::string fault = fault_of_context(places_[datacenter], order.part, order.context);
  if (!fault.empty())
    kernel_->violate("layers",
                     fmt::format("worker {} runs part {}.{} of job {} with a context that {}", base::number(worker),
                                 order.part.workflow, order.part.part, cluster::number(order.part.job), fault));
}

void ClusterLog::claims(base::NodeId worker, const cluster::StartExecutor& order) {
  if (gives(worker, order.part, order.fence) || !runs_->trusted(worker)) return;
  kernel_->violate(
      "9", fmt::format("worker {} starts part {}.{} of job {} under fence {}.{}, for which the log gives it "
                       "no cores",
                       base::number(worker), order.part.workflow, order.part.part, cluster::number(order.part.job),
                       order.fence.epoch, order.fence.attempt));
}

std::string ClusterLog::fault_of_context(const Place& place, const PartId& part, std::string_view context) const {
  const std::vector<std::uint32_t>& depends = place.jobs.at(part.job).depends[part.workflow];
  if (depends.empty()) return context.empty() ? "" : "is not empty";
  const auto values = cluster::decode_context(context);
  if (!values) return "cannot be read: " + values.error().message;
  if (!std::ranges::equal(values->rows, depends, {}, &cluster::ContextRow::workflow))
    return fmt::format("has {} rows, which are not those of the {} workflows that it depends on", values->rows.size(),
                       depends.size());
  for (const cluster::ContextRow& row : values->rows) {
    // Of values that several parts provide under one key at no known time, the greatest is the last.
    std::string last;
    for (auto at = place.completed.lower_bound({part.job, row.workflow, 0});
         at != place.completed.end() && at->job == part.job && at->workflow == row.workflow; ++at)
      last = std::max(last, token_of(row.workflow, at->part));
    const bool one = row.provided.size() == 1 && row.provided[0].key == kToken && row.provided[0].values.size() == 1;
    if (!one || last.empty() || row.provided[0].values[0] != last)
      return fmt::format("has something else than what workflow {} provided", row.workflow);
  }
  return {};
}

}  // namespace muster::sim
