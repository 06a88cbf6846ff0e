// The implementation of world.h.
#include "cluster/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/message_codec.h"
#include "model/result_codec.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::uint64_t iterations_of(const Slice& slice) {
  return 100ull * slice.cores;
}

std::string result_of(const PartId& part, const Slice& slice) {
  model::WorkflowResult result;
  result.name = fmt::format("w{}", part.workflow);
  result.state = model::WorkflowState::kCompleted;
  result.iterations = iterations_of(slice);
  model::Provided provided;
  provided.key = "token";
  provided.values = {fmt::format("\"{}.{}\"", part.workflow, part.part)};
  result.provided.push_back(provided);
  std::string bytes;
  model::encode(result, bytes);
  return bytes;
}

}  // namespace

BodyHash test_hash(std::string_view bytes) {
  BodyHash hash{{1, 2, 3, bytes.size()}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto& word = hash.words[i % 3];
    word = base::mix(word ^ (static_cast<std::uint8_t>(bytes[i]) + 256 * i));
  }
  return hash;
}

World::World(const WorldOptions& options) : options_(options), random_(options.seed) {
  for (std::size_t i = 0; i < options.managers; ++i) nodes_[manager_id(i)].is_manager = true;
  for (std::size_t i = 0; i < options.workers; ++i) nodes_[worker_id(i)].is_manager = false;
  for (auto& [id, node] : nodes_) start(id);
  choose_leader();
}

void World::run_for(base::Duration span) {
  const base::Instant end = now_ + span;
  while (!events_.empty() && events_.top().at <= end && broken.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = std::max(now_, event.at);
    event.act();
  }
  now_ = end;
}

bool World::run_until(const std::function<bool()>& holds, base::Duration limit) {
  const base::Instant end = now_ + limit;
  while (now_ < end && broken.empty()) {
    if (holds()) return true;
    run_for(milliseconds(50));
  }
  return holds();
}

JobId World::submit(const JobOutline& outline) {
  const JobId job{++next_job_};
  std::string bundle = fmt::format("bundle of {}", next_job_);
  Submit submit;
  submit.job = job;
  submit.client = ClientId{7};
  submit.bundle = {test_hash(bundle), bundle.size()};
  submit.outline = outline;
  bundles_[submit.bundle.hash] = std::move(bundle);
  submits_[job] = submit;
  ask_again(job);
  return job;
}

void World::cancel(JobId job) {
  if (cancelled.contains(job) && (cancelled[job].done || cancelled[job].answer == Answer::kEnded)) return;
  send(kClientId, some_manager(), Cancel{job, ClientId{7}, 0, "ada", "a test"});
  after(milliseconds(500), [this, job] { cancel(job); });
}

void World::crash(NodeId id) {
  Node& node = nodes_.at(id);
  if (!node.up) return;
  node.up = false;
  ++node.life;
  node.manager.reset();
  node.worker.reset();
  node.executors.clear();
  node.armed = base::kNever;
  if (!node.is_manager) node.disk.clear();
  tell_membership(id, Liveness::kDead, seconds(5));
  after(milliseconds(300), [this] { choose_leader(); });
}

void World::restart(NodeId id) {
  if (nodes_.at(id).up) return;
  start(id);
  tell_membership(id, Liveness::kAlive, seconds(1));
  after(milliseconds(300), [this] { choose_leader(); });
}

void World::cut(NodeId id) {
  Node& node = nodes_.at(id);
  if (node.cut) return;
  node.cut = true;
  node.cut_since = now_;
  tell_membership(id, Liveness::kDead, seconds(5));
  after(milliseconds(700), [this] { choose_leader(); });
}

void World::heal(NodeId id) {
  nodes_.at(id).cut = false;
  tell_membership(id, Liveness::kAlive, seconds(1));
  after(milliseconds(300), [this] { choose_leader(); });
}

const Ledger& World::ledger() {
  for (auto& [id, node] : nodes_) {
    if (node.is_manager && node.up && node.applied == log_.size()) return node.manager->ledger();
  }
  for (auto& [id, node] : nodes_) {
    if (node.is_manager && node.up) return node.manager->ledger();
  }
  static const Ledger kNone;
  return kNone;
}

std::size_t World::running() const {
  std::size_t count = 0;
  for (const auto& [id, node] : nodes_) count += node.executors.size();
  return count;
}

bool World::all_cores_free() {
  const bool in_ledger =
      std::ranges::all_of(ledger().workers(), [](const auto& each) { return each.second.used == 0; });
  return in_ledger && running() == 0;
}

void World::at(base::Instant when, std::function<void()> act) {
  events_.push({when, ++order_, std::move(act)});
}

base::Duration World::some(int least_ms, int most_ms) {
  return milliseconds(least_ms) + base::Duration(static_cast<std::int64_t>(
                                      random_.below(static_cast<std::uint64_t>(most_ms - least_ms) * 1'000'000 + 1)));
}

void World::start(NodeId id) {
  Node& node = nodes_.at(id);
  node.up = true;
  const Process self{id, Life{node.life}};
  if (node.is_manager) {
    ManagerSettings settings;
    settings.self = self;
    settings.cluster = "test";
    settings.environment = "unit";
    settings.seed = random_.next();
    settings.hash = test_hash;
    std::vector<BodyRef> bodies;
    for (const auto& [hash, bytes] : node.disk) bodies.push_back({hash, bytes.size()});
    node.manager.emplace(settings, bodies, now_);
    node.applied = 0;
    after(milliseconds(1), [this, id] { apply_all(id); });
  } else {
    WorkerSettings settings;
    settings.self = self;
    settings.cluster = "test";
    settings.environment = "unit";
    settings.cores = options_.cores;
    for (std::size_t i = 0; i < options_.managers; ++i) settings.managers.push_back(manager_id(i));
    settings.hash = test_hash;
    node.worker.emplace(settings, now_);
  }
  arm(id);
}

LogStanding World::standing_of(NodeId id) const {
  LogStanding standing;
  for (std::size_t i = 0; i < options_.managers; ++i) standing.voters.push_back(manager_id(i));
  const Node& node = nodes_.at(id);
  standing.leader = leader_;
  standing.term = term_;
  // For a while one that was cut off does not know it.
  const bool believes = !node.cut || now_ - node.cut_since < milliseconds(600);
  // Like Raft's: behind by no more than a moment.
  const bool recent = node.applied == log_.size() || now_ - committed_at_[node.applied] < milliseconds(300);
  standing.caught_up = believes && leader_ != kNoNode && (node.cut || recent);
  if (!believes) standing.leader = kNoNode;
  return standing;
}

void World::choose_leader() {
  const auto able = [&](NodeId id) {
    const auto at = nodes_.find(id);
    return at != nodes_.end() && at->second.up && !at->second.cut;
  };
  std::vector<NodeId> there;
  for (std::size_t i = 0; i < options_.managers; ++i) {
    if (able(manager_id(i))) there.push_back(manager_id(i));
  }
  const bool quorum = there.size() >= options_.managers / 2 + 1;
  if (!quorum) {
    leader_ = kNoNode;
  } else if (!able(leader_)) {
    leader_ = there[random_.below(there.size())];
    ++term_;
  }
  for (const NodeId id : there) apply_all(id);
}

void World::commit(const std::string& entry) {
  log_.push_back(entry);
  committed_at_.push_back(now_);
  for (const auto& [id, node] : nodes_) {
    if (!node.is_manager) continue;
    after(id == leader_ ? base::Duration(milliseconds(1)) : some(2, 10), [this, to = id] { apply_all(to); });
  }
}

void World::apply_all(NodeId id) {
  Node& node = nodes_.at(id);
  if (!node.up || node.cut) return;
  // A manager that starts anew sometimes gets a snapshot rather than all entries.
  if (node.applied == 0 && log_.size() > 20 && random_.below(2) == 0) {
    for (auto& [other, from] : nodes_) {
      if (!from.is_manager || !from.up || from.applied <= 20 || other == id) continue;
      const std::string bytes = from.manager->snapshot();
      node.applied = from.applied;
      call(id, [&](Node& to) {
        if (!to.manager->restored(bytes, now_)) broken.push_back("a snapshot could not be restored");
      });
      break;
    }
  }
  while (node.applied < log_.size()) {
    const std::string entry = log_[node.applied++];
    call(id, [&](Node& to) { to.manager->applied(to.applied, entry, now_); });
    check_ledger(node);
  }
  call(id, [](Node&) {});
}

void World::check_ledger(const Node& node) {
  const std::uint64_t digest = node.manager->ledger().digest();
  const auto [known, added] = digests_.emplace(node.applied, digest);
  if (!added && known->second != digest) broken.push_back(fmt::format("ledgers differ after entry {}", node.applied));
}

void World::call(NodeId id, const std::function<void(Node&)>& what) {
  Node& node = nodes_.at(id);
  if (!node.up) return;
  if (node.is_manager) node.manager->standing(standing_of(id), now_);
  what(node);
  carry_out(id, node.is_manager ? node.manager->take() : node.worker->take());
  arm(id);
}

void World::carry_out(NodeId id, Effects effects) {
  for (Effect& effect : effects) {
    if (auto* out = std::get_if<Send>(&effect)) {
      send(id, out->to, out->message);
    } else if (auto* proposal = std::get_if<Propose>(&effect)) {
      // A leader that is cut off appends, but never commits.
      if (id == leader_ && !nodes_.at(id).cut) commit(proposal->entry);
    } else if (auto* stored = std::get_if<StoreBody>(&effect)) {
      store(id, *stored);
    } else if (auto* wanted = std::get_if<ReadBody>(&effect)) {
      read(id, *wanted);
    } else if (auto* dropped = std::get_if<DropBody>(&effect)) {
      nodes_.at(id).disk.erase(dropped->hash);
    } else if (auto* begun = std::get_if<StartExecutor>(&effect)) {
      start_executor(id, *begun);
    } else if (auto* ended = std::get_if<StopExecutor>(&effect)) {
      stop_executor(id, *ended);
    } else if (auto* note = std::get_if<Note>(&effect)) {
      ++noted[note->what];
    }
  }
}

void World::arm(NodeId id) {
  Node& node = nodes_.at(id);
  const base::Instant due = node.is_manager ? node.manager->deadline() : node.worker->deadline();
  if (due == base::kNever || (node.armed <= due && node.armed > now_)) return;
  // At least a little later: a brain that is due again and again at one time would stop the clock.
  node.armed = std::max(due, now_ + base::Duration(std::chrono::microseconds(100)));
  at(node.armed, [this, id, life = node.life] {
    Node& to = nodes_.at(id);
    if (to.life != life || !to.up) return;
    to.armed = base::kNever;
    call(id, [&](Node& each) {
      if (each.is_manager) {
        each.manager->wake(now_);
      } else {
        each.worker->wake(now_);
      }
    });
  });
}

void World::send(NodeId from, NodeId to, const Message& message) {
  const auto lost = [this](NodeId node) {
    const auto known = nodes_.find(node);
    return known != nodes_.end() && (known->second.cut || !known->second.up);
  };
  if (lost(from) || random_.unit() < options_.loss) return;
  std::string bytes;
  encode(message, bytes);
  after(some(1, 5), [this, from, to, lost, bytes = std::move(bytes)] {
    if (lost(from) || lost(to)) return;
    const auto decoded = decode_message(bytes);
    if (!decoded) return broken.push_back("a message could not be decoded: " + decoded.error().message);
    if (to == kClientId) return client_receives(from, *decoded);
    if (!nodes_.contains(to)) return;
    call(to, [&](Node& node) {
      if (node.is_manager) {
        node.manager->receive(from, *decoded, now_);
      } else {
        node.worker->receive(from, *decoded, now_);
      }
    });
  });
}

void World::client_receives(NodeId from, const Message& message) {
  if (const auto* answer = std::get_if<SubmitAnswer>(&message)) {
    answers[answer->job] = *answer;
  } else if (const auto* wanted = std::get_if<BodyWanted>(&message)) {
    const auto known = bundles_.find(wanted->body.hash);
    if (known == bundles_.end()) return send(kClientId, from, BodyMissing{wanted->body.hash, false});
    send(kClientId, from, BodyPiece{known->first, wanted->offset, known->second.substr(wanted->offset, kBodyPiece)});
  } else if (const auto* end = std::get_if<JobEnd>(&message)) {
    if (deaf) return;
    const auto [known, added] = ends.emplace(end->job, *end);
    if (!added && known->second.state != end->state) broken.push_back("a job ended twice, in different ways");
    send(kClientId, from, EndAck{end->job});
  } else if (const auto* done = std::get_if<CancelAnswer>(&message)) {
    if (!cancelled[done->job].done) cancelled[done->job] = *done;
  }
}

void World::ask_again(JobId job) {
  const auto answer = answers.find(job);
  const bool over =
      answer != answers.end() && (answer->second.answer == Answer::kAccepted ||
                                  answer->second.answer == Answer::kEnded || answer->second.answer == Answer::kInvalid);
  if (over) return;
  send(kClientId, some_manager(), submits_.at(job));
  after(seconds(1), [this, job] { ask_again(job); });
}

void World::store(NodeId id, const StoreBody& effect) {
  if (test_hash(effect.bytes) != effect.body.hash) broken.push_back("bytes were stored under another name");
  after(some(1, 3), [this, id, life = nodes_.at(id).life, effect] {
    Node& node = nodes_.at(id);
    if (node.life != life || !node.up) return;
    const bool ok = !node.full;
    if (ok) node.disk[effect.body.hash] = effect.bytes;
    call(id, [&](Node& to) {
      if (to.is_manager) {
        to.manager->body_stored(effect.body.hash, ok, now_);
      } else {
        to.worker->body_stored(effect.body.hash, ok, now_);
      }
    });
  });
}

void World::read(NodeId id, const ReadBody& effect) {
  after(some(1, 2), [this, id, life = nodes_.at(id).life, hash = effect.body.hash] {
    Node& node = nodes_.at(id);
    if (node.life != life || !node.up) return;
    const auto found = node.disk.find(hash);
    std::optional<std::string> bytes;
    if (found != node.disk.end()) bytes = found->second;
    call(id, [&](Node& to) {
      if (to.is_manager) {
        to.manager->body_read(hash, bytes, now_);
      } else {
        to.worker->body_read(hash, bytes, now_);
      }
    });
  });
}

void World::start_executor(NodeId id, const StartExecutor& effect) {
  for (const auto& [other, node] : nodes_) {
    for (const auto& [key, executor] : node.executors) {
      if (key.first == effect.part) {
        broken.push_back(fmt::format("part {}.{} of job {} runs twice: on {} and on {}", effect.part.workflow,
                                     effect.part.part, number(effect.part.job), base::number(other), base::number(id)));
      }
    }
  }
  Node& node = nodes_.at(id);
  std::uint32_t cores = static_cast<std::uint32_t>(effect.cores.size());
  for (const auto& [key, executor] : node.executors) cores += executor.slice.cores;
  if (cores > options_.cores) broken.push_back("a worker runs more than its cores");
  ++started;
  const std::pair key{effect.part, effect.fence};
  node.executors[key] = {effect.slice, now_ + options_.run, 0, false};
  executor_beats(id, node.life, key);
}

void World::stop_executor(NodeId id, const StopExecutor& effect) {
  const std::pair key{effect.part, effect.fence};
  if (nodes_.at(id).hung && !effect.kill) return;
  after(milliseconds(10), [this, id, key] { executor_ends(id, key, PartOutcome::kCancelled); });
}

void World::executor_beats(NodeId id, std::uint64_t life, std::pair<PartId, Fence> key) {
  Node& node = nodes_.at(id);
  const auto found = node.executors.find(key);
  if (node.life != life || found == node.executors.end()) return;
  after(milliseconds(100), [this, id, life, key] { executor_beats(id, life, key); });
  if (node.hung) return;
  Executor& executor = found->second;
  if (now_ >= executor.ends) return executor_ends(id, key, PartOutcome::kCompleted);
  PartProgress progress;
  progress.part = key.first;
  progress.fence = key.second;
  progress.beat = ++executor.beat;
  progress.counts.iterations = executor.beat;
  call(id, [&](Node& to) { to.worker->executor_progress(progress, now_); });
}

void World::executor_ends(NodeId id, const std::pair<PartId, Fence>& key, std::optional<PartOutcome> outcome) {
  Node& node = nodes_.at(id);
  const auto found = node.executors.find(key);
  if (!node.up || found == node.executors.end()) return;
  ExecutorEnd end;
  end.part = key.first;
  end.fence = key.second;
  end.outcome = outcome;
  if (outcome == PartOutcome::kCompleted) {
    end.counts = {iterations_of(found->second.slice), 0, 0};
    end.result = result_of(key.first, found->second.slice);
  }
  node.executors.erase(found);
  call(id, [&](Node& to) { to.worker->executor_ended(std::move(end), now_); });
}

// By SWIM: the managers that are there come to know, unless it has changed again meanwhile.
void World::tell_membership(NodeId about, Liveness liveness, base::Duration wait) {
  after(wait, [this, about, liveness] {
    const Node& subject = nodes_.at(about);
    if ((subject.up && !subject.cut) != (liveness == Liveness::kAlive)) return;
    const NodeRole role = subject.is_manager ? NodeRole::kManager : NodeRole::kWorker;
    for (const auto& [id, node] : nodes_) {
      if (!node.is_manager || node.cut || id == about) continue;
      call(id, [&](Node& to) { to.manager->member(about, role, liveness, {}, now_); });
    }
  });
}

NodeId World::some_manager() {
  return manager_id(random_.below(options_.managers));
}

}  // namespace muster::cluster
