#include "sim/cluster_worker.h"

#include <algorithm>
#include <span>
#include <utility>

namespace muster::sim {

using cluster::PartOutcome;

namespace {

constexpr base::Duration kBeat = std::chrono::milliseconds(250);
constexpr base::Duration kHealth = std::chrono::seconds(1);
constexpr base::Duration kQuiet = std::chrono::seconds(12);
constexpr base::Duration kLongQuiet = std::chrono::seconds(45);  // longer than a manager waits without extensions
constexpr base::Duration kAskEvery = std::chrono::seconds(4);

}  // namespace

bool WorkerProcess::begin(Host& host) {
  const std::uint32_t place = ClusterMap::datacenter(host.self());
  cluster::WorkerSettings settings;
  settings.self = self(host);
  settings.cluster = "sim";
  settings.environment = "test";
  settings.cores = shared_->setup.cores;
  settings.managers = shared_->map.founders(place);
  settings.seed = host.random().next();
  settings.hash = hash_body;
  settings.options = shared_->setup.worker;
  brain_.emplace(settings, host.now());
  const model::NodeState state =
      cluster::state_of_worker(brain_->state(), settings.cores, settings.cores, 0, brain_->parts());
  join(host, false, kFirstPlaceGroup + place, shared_->setup.lan, shared_->map.managers(place), state);
  return true;
}

void WorkerProcess::on_message(Host& host, base::NodeId from, const cluster::Message& message) {
  if (const auto* order = std::get_if<cluster::Dispatch>(&message)) offer_ = *order, leaving_ = draining_ || critical_;
  if (const auto* answer = std::get_if<cluster::HeartbeatAnswer>(&message)) {
    const bool contact =
        answer->contact == cluster::Contact::kAdmitted || answer->contact == cluster::Contact::kPending;
    const base::Instant sent{base::Duration(answer->sent)};
    if (contact && answer->life == self(host).life && sent <= host.now()) shared_->runs.contact(host.self(), sent);
  }
  thinks_ = true;
  brain_->receive(from, message, host.now());
}

void WorkerProcess::on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) {
  thinks_ = true;
  brain_->body_stored(hash, ok, host.now());
}

void WorkerProcess::on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) {
  thinks_ = true;
  brain_->body_read(hash, std::move(bytes), host.now());
}

void WorkerProcess::on_wake(Host& host) {
  if (host.now() >= health_due_) {
    health_due_ = host.now() + kHealth;
    critical_ = critical(host);
    brain_->health(0.1, 0.1, critical_ ? cores::LocalHealth::kMaxScore : score(), host.now());
    tell_state(host, cluster::state_of_worker(brain_->state(), shared_->setup.cores, brain_->free_cores(),
                                              brain_->cores_done(), brain_->parts()));
  }
  for (auto at = executors_.begin(); at != executors_.end();) {
    const auto next = std::next(at);
    const auto key = at->first;
    if (!step(host, key, at->second)) executors_.erase(key);
    at = next;
  }
  thinks_ = true;
  brain_->wake(host.now());
  if (brain_->crowded()) shared_->kernel.hit("worker without room for fences");
}

void WorkerProcess::drain(Host& host) {
  for (cluster::Effects effects = brain_->take(); !effects.empty(); effects = brain_->take()) {
    for (const cluster::Effect& effect : effects) {
      const auto* const out = std::get_if<cluster::Send>(&effect);
      if (out == nullptr) continue;
      if (std::holds_alternative<cluster::Heartbeat>(out->message)) asked_ = host.now();
      if (const auto* answer = std::get_if<cluster::DispatchAnswer>(&out->message)) answers(host, *answer);
      const auto* const stopped = std::get_if<cluster::PartStopped>(&out->message);
      if (stopped != nullptr && stopped->alone)
        shared_->runs.excuses(host.self(), {stopped->part, stopped->fence}, cluster::Loss::kAlone);
    }
    perform(host, std::move(effects));
  }
  offer_.reset();
  if (std::exchange(thinks_, false)) shared_->runs.thought(host.self());
  if (brain_->superseded()) {
    shared_->kernel.hit("worker superseded");
    host.halt("superseded");
  } else if (draining_ && brain_->drained()) {
    shared_->kernel.hit("worker drained");
    host.halt("drained");
  }
}

base::Instant WorkerProcess::next() const {
  base::Instant due = std::min(brain_->deadline(), health_due_);
  for (const auto& [key, executor] : executors_)
    due = std::min({due, executor.beat_due, executor.stop_due, executor.limit, executor.ask_due});
  return due;
}

bool WorkerProcess::carry_out(Host& host, cluster::Effect& effect) {
  if (const auto* begun = std::get_if<cluster::StartExecutor>(&effect)) {
    start_executor(host, *begun);
  } else if (const auto* ended = std::get_if<cluster::StopExecutor>(&effect)) {
    stop_executor(host, *ended);
  }
  return true;
}

void WorkerProcess::answers(Host& host, const cluster::DispatchAnswer& answer) {
  using Reply = cluster::DispatchReply;
  const ClusterRuns::Key key{answer.part, answer.fence};
  if (answer.reply == Reply::kAlone) shared_->runs.excuses(host.self(), key, cluster::Loss::kAlone);
  if (answer.reply == Reply::kDraining) shared_->runs.excuses(host.self(), key, cluster::Loss::kDraining);
  if (!offer_ || offer_->part != answer.part || offer_->fence != answer.fence) return;
  const cluster::Process worker = self(host);
  if (answer.reply == Reply::kAlone &&
      offer_->admission < shared_->log.admission(ClusterMap::datacenter(worker.node), worker) &&
      shared_->runs.contact_left(worker.node) > base::Duration::zero() &&
      !shared_->log.gives(worker.node, offer_->part, offer_->fence))
    shared_->kernel.hit("dispatch from before an admission refused");
  const bool refused = answer.reply == Reply::kStaleFence || answer.reply == Reply::kStaleLife ||
                       answer.reply == Reply::kOtherMajor || answer.reply == Reply::kTooMany;
  if (!refused) shared_->runs.accepted(host.self(), host.life(), *offer_);
  if (answer.reply == Reply::kAccepted) shared_->runs.taken_on(host.self(), host.life(), *offer_, leaving_);
}

void WorkerProcess::start_executor(Host& host, const cluster::StartExecutor& order) {
  const Key key{order.part, order.fence};
  shared_->runs.started(host.self(), host.life(), order);
  shared_->log.starts(host.self(), order);
  shared_->log.claims(host.self(), order);
  if (host.contents(body_file(order.bundle.hash)).size() != order.bundle.size)
    shared_->kernel.violate("bodies", fmt::format("worker {} runs job {} without its bundle", base::number(host.self()),
                                                  cluster::number(order.part.job)));
  shared_->kernel.hit("executor started");
  Executor executor;
  executor.slice = order.slice;
  executor.cores = order.cores;
  const ClusterSetup& setup = shared_->setup;
  const bool long_one = order.part.workflow == 0 && setup.longest_first > base::Duration::zero();
  executor.program =
      program_of(order.part, order.fence.attempt, setup.trouble, long_one ? setup.longest_first : setup.longest_part);
  executor.began = host.now();
  executor.beat_due = host.now() + kBeat;
  if (order.run_limit > base::Duration::zero()) executor.limit = host.now() + order.run_limit;
  if (executor.program.conduct == Conduct::kQuiet) {
    executor.program.length += (order.part.part + order.part.workflow) % 2 == 0 ? kQuiet : kLongQuiet;
    executor.ask_due = host.now() + kAskEvery;
  }
  executors_.insert_or_assign(key, executor);
}

void WorkerProcess::stop_executor(Host& host, const cluster::StopExecutor& order) {
  const auto found = executors_.find({order.part, order.fence});
  if (found == executors_.end()) return;
  Executor& executor = found->second;
  shared_->runs.told_to_stop(host.self(), found->first);
  const bool obeys = executor.program.conduct != Conduct::kHangs && executor.program.conduct != Conduct::kDeaf;
  if (order.kill) {
    executor.killed = true;
    executor.stop_due = host.now() + std::chrono::milliseconds(2);
    shared_->kernel.hit("executor killed");
  } else if (obeys) {
    executor.stop_due = host.now() + std::chrono::milliseconds(5 + host.random().below(200));
  }
}

bool WorkerProcess::step(Host& host, const Key& key, Executor& executor) {
  const base::Instant now = host.now();
  const cluster::Counts all = counts_of(key.first.job, key.first.workflow, executor.slice);
  if (now >= executor.stop_due) {
    end_executor(host, key, executor,
                 executor.killed ? std::nullopt : std::optional<PartOutcome>(PartOutcome::kCancelled));
    return false;
  }
  if (now >= executor.limit && executor.program.conduct != Conduct::kHangs) {
    end_executor(host, key, executor, PartOutcome::kTimeout);
    return false;
  }
  const bool over = now - executor.began >= executor.program.length;
  const bool half_way = now - executor.began >= executor.program.length / 2;
  if (executor.program.conduct == Conduct::kCrashes && half_way) {
    shared_->kernel.hit("executor crashed");
    end_executor(host, key, executor, std::nullopt);
    return false;
  }
  if (executor.program.conduct == Conduct::kFails && half_way) {
    end_executor(host, key, executor, PartOutcome::kFailed);
    return false;
  }
  if (over && executor.program.conduct != Conduct::kHangs) {
    executor.counts = all;
    end_executor(host, key, executor, PartOutcome::kCompleted);
    return false;
  }
  if (now >= executor.ask_due) {
    executor.ask_due = now + kAskEvery;
    cluster::ExtensionAsk ask;
    ask.part = key.first;
    ask.fence = key.second;
    ask.progress = base::seconds(now - executor.began) / base::seconds(executor.program.length);
    ask.estimated_end = executor.program.length - (now - executor.began);
    ask.active = static_cast<std::uint32_t>(executors_.size());
    brain_->executor_asks(ask, now);
  }
  if (now < executor.beat_due) return true;
  executor.beat_due = now + kBeat;
  const bool silent = executor.program.conduct == Conduct::kHangs || executor.program.conduct == Conduct::kQuiet;
  if (silent) return true;
  executor.counts =
      counts_after(all, base::seconds(now - executor.began) / std::max(0.001, base::seconds(executor.program.length)));
  shared_->runs.counted(host.self(), key, executor.counts);
  cluster::PartProgress progress;
  progress.part = key.first;
  progress.fence = key.second;
  progress.beat = ++executor.beat;
  progress.vus = 1;
  progress.counts = executor.counts;
  if (executor.counts.iterations > 0) progress.latency.record(std::chrono::milliseconds(3), executor.counts.iterations);
  brain_->executor_progress(progress, now);
  leave_cores(host, key, executor);
  return true;
}

// In the second half of its time, evenly.
void WorkerProcess::leave_cores(Host& host, const Key& key, Executor& executor) {
  const auto& [part, fence] = key;
  if ((part.part + part.workflow + fence.attempt) % 3 != 0 || executor.cores.size() < 2) return;
  const double share = base::seconds(host.now() - executor.began) / base::seconds(executor.program.length);
  if (share < 0.5) return;
  const auto wanted = static_cast<std::size_t>(2 * (1 - std::min(share, 1.0)) * executor.slice.cores);
  while (executor.cores.size() > std::max<std::size_t>(1, wanted)) {
    const std::uint32_t core = executor.cores.back();
    executor.cores.pop_back();
    shared_->runs.leaves(host.self(), core);
    brain_->executor_leaves(part, fence, {&core, 1}, host.now());
  }
}

void WorkerProcess::end_executor(Host& host, const Key& key, const Executor& executor,
                                 std::optional<PartOutcome> outcome) {
  cluster::ExecutorEnd end;
  end.part = key.first;
  end.fence = key.second;
  end.outcome = outcome;
  end.counts = executor.counts;
  cluster::BodyHash body = cluster::kNoBody;
  if (outcome == PartOutcome::kCompleted) {
    end.result = result_of(key.first, key.second, executor.counts);
    body = hash_body(end.result);
  } else if (outcome == PartOutcome::kFailed) {
    end.reason = "an error of its own";
  }
  shared_->runs.ended(host.self(), end, body);
  brain_->executor_ended(std::move(end), host.now());
}

}  // namespace muster::sim
