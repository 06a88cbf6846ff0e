// The implementation of gate_world.h.
#include "cluster/gate_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/gate_command_codec.h"
#include "cluster/message_codec.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ClientId kWorldClient{7};

}  // namespace

GateWorld::GateWorld(const GateWorldOptions& options) : options_(options), random_(options.seed) {
  for (std::size_t i = 0; i < options.gates; ++i) gates_[gate_id(i)];
  std::uint64_t next = 11;
  for (const std::string& name : options.datacenters) {
    places_[name];
    for (std::uint64_t i = 0; i < 2; ++i) home_[NodeId{next + i}] = name;
    next += 10;
  }
  for (auto& [id, node] : gates_) start(id);
  choose_leader();
  ClientSettings settings;
  settings.client = kWorldClient;
  settings.self = {kClientNode, Life{1}};
  for (const auto& [id, node] : gates_) settings.gates.push_back(id);
  settings.seed = random_.next();
  settings.hash = test_hash;
  client_.emplace(settings, now_);
  tell_managers();
  run_for(seconds(3));
}

void GateWorld::run_for(base::Duration span) {
  const base::Instant end = now_ + span;
  while (!events_.empty() && events_.top().at <= end && broken.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = std::max(now_, event.at);
    event.act();
  }
  now_ = end;
}

bool GateWorld::run_until(const std::function<bool()>& holds, base::Duration limit) {
  const base::Instant end = now_ + limit;
  while (now_ < end && broken.empty()) {
    if (holds()) return true;
    run_for(milliseconds(50));
  }
  return holds();
}

JobId GateWorld::submit(std::vector<std::string> datacenters, std::uint32_t count, bool reroute) {
  JobRequest request;
  request.job = JobId{++next_job_};
  request.bytes = fmt::format("bundle of {}", next_job_);
  request.bundle = {test_hash(request.bytes), request.bytes.size()};
  request.outline.name = "shop";
  WorkflowOutline workflow;
  workflow.name = "browse";
  request.outline.workflows = {workflow};
  request.datacenters = std::move(datacenters);
  request.count = count;
  request.reroute = reroute;
  const JobId job = request.job;
  with_client([&](Client& client) { client.submit(std::move(request), now_); });
  return job;
}

void GateWorld::with_client(const std::function<void(Client&)>& what) {
  what(*client_);
  for (Effect& effect : client_->take()) {
    if (auto* out = std::get_if<Send>(&effect)) {
      send(kClientNode, out->to, out->message);
    } else if (auto* stored = std::get_if<StoreBody>(&effect)) {
      after(milliseconds(1), [this, hash = stored->body.hash] {
        with_client([&](Client& client) { client.body_stored(hash, true, now_); });
      });
    }
  }
  if (const auto told = client_->update(now_)) update(*told);
  arm_client();
}

const ClientAnswer* GateWorld::answer(JobId job, ClientAnswer::About about) const {
  for (auto at = answers.rbegin(); at != answers.rend(); ++at) {
    if (at->job == job && at->about == about) return &*at;
  }
  return nullptr;
}

std::size_t GateWorld::owner_of(JobId job) const {
  return static_cast<std::size_t>(base::number(truth_.job(job)->owner.node) - base::number(gate_id(0)));
}

void GateWorld::crash(NodeId id) {
  Node& node = gates_.at(id);
  if (!node.up) return;
  node.up = false;
  ++node.life;
  node.brain.reset();
  node.armed = base::kNever;
  tell_gates(id, false, seconds(5));
  after(milliseconds(10), [this, id] { with_client([&](Client& client) { client.disconnected(id, now_); }); });
  after(milliseconds(300), [this] { choose_leader(); });
}

void GateWorld::restart(NodeId id) {
  if (gates_.at(id).up) return;
  start(id);
  tell_gates(id, true, seconds(1));
  after(milliseconds(300), [this] { choose_leader(); });
}

void GateWorld::cut(NodeId id) {
  const auto at = gates_.find(id);
  if (at == gates_.end()) {
    cut_.insert(id);
    return;
  }
  if (at->second.cut) return;
  at->second.cut = true;
  at->second.cut_since = now_;
  tell_gates(id, false, seconds(5));
  after(milliseconds(700), [this] { choose_leader(); });
}

void GateWorld::heal(NodeId id) {
  cut_.erase(id);
  const auto at = gates_.find(id);
  if (at == gates_.end()) return;
  at->second.cut = false;
  tell_gates(id, true, seconds(1));
  after(milliseconds(300), [this] { choose_leader(); });
}

void GateWorld::pause(NodeId id, base::Duration span) {
  gates_.at(id).paused_until = now_ + span;
  tell_gates(id, false, seconds(5));
  after(milliseconds(700), [this] { choose_leader(); });
  after(span, [this, id] {
    tell_gates(id, true, seconds(1));
    choose_leader();
    call(id, [&](Gate& gate) { gate.wake(now_); });
    apply_all(id);
  });
}

void GateWorld::drain(NodeId id) {
  call(id, [&](Gate& gate) { gate.drain(now_); });
}

NodeId GateWorld::manager_id(const std::string& datacenter, std::size_t i) const {
  std::size_t left = i;
  for (const auto& [id, name] : home_) {
    if (name == datacenter && left-- == 0) return id;
  }
  return kNoNode;
}

void GateWorld::cut_datacenter(const std::string& name) {
  places_.at(name).cut = true;
  for (std::size_t i = 0; i < 2; ++i) cut(manager_id(name, i));
  after(seconds(8), [this, name] {
    if (!places_.at(name).cut) return;
    for (const auto& [id, node] : gates_) {
      for (std::size_t i = 0; i < 2; ++i) {
        call(id, [&](Gate& gate) { gate.manager_died(manager_id(name, i), now_); });
      }
    }
  });
}

void GateWorld::heal_datacenter(const std::string& name) {
  places_.at(name).cut = false;
  for (std::size_t i = 0; i < 2; ++i) heal(manager_id(name, i));
}

std::size_t GateWorld::begun(JobId job) const {
  std::size_t count = 0;
  for (const auto& [name, place] : places_) count += place.runs.contains(job) ? 1 : 0;
  return count;
}

void GateWorld::at(base::Instant when, std::function<void()> act) {
  events_.push({when, ++order_, std::move(act)});
}

base::Duration GateWorld::some(int least_ms, int most_ms) {
  return milliseconds(least_ms) + base::Duration(static_cast<std::int64_t>(
                                      random_.below(static_cast<std::uint64_t>(most_ms - least_ms) * 1'000'000 + 1)));
}

bool GateWorld::gone(NodeId id) const {
  if (cut_.contains(id)) return true;
  const auto at = gates_.find(id);
  return at != gates_.end() && (at->second.cut || !at->second.up);
}

void GateWorld::start(NodeId id) {
  Node& node = gates_.at(id);
  node.up = true;
  GateSettings settings;
  settings.self = {id, Life{node.life}};
  settings.seed = random_.next();
  settings.hash = test_hash;
  std::vector<BodyRef> bodies;
  for (const auto& [hash, bytes] : node.disk) bodies.push_back({hash, bytes.size()});
  node.brain.emplace(settings, bodies, now_);
  node.applied = 0;
  node.armed = base::kNever;
  for (const auto& [other, each] : gates_) {
    if (other != id && !gone(other)) node.brain->gate(other, true, now_);
  }
  after(milliseconds(1), [this, id] { apply_all(id); });
  arm(id);
}

LogStanding GateWorld::standing_of(NodeId id) const {
  LogStanding standing;
  for (const auto& [gate, node] : gates_) standing.voters.push_back(gate);
  const Node& node = gates_.at(id);
  standing.leader = leader_;
  standing.term = term_;
  // For a while one that was cut off does not know it.
  const bool believes = !node.cut || now_ - node.cut_since < milliseconds(600);
  standing.caught_up = believes && leader_ != kNoNode && (node.cut || node.applied == log_.size());
  if (!believes) standing.leader = kNoNode;
  return standing;
}

void GateWorld::choose_leader() {
  std::vector<NodeId> there;
  for (const auto& [id, node] : gates_) {
    if (!gone(id) && node.paused_until <= now_) there.push_back(id);
  }
  if (there.size() < gates_.size() / 2 + 1) {
    leader_ = kNoNode;
  } else if (std::ranges::find(there, leader_) == there.end()) {
    leader_ = there[random_.below(there.size())];
    ++term_;
  }
  for (const NodeId id : there) apply_all(id);
}

void GateWorld::commit(const std::string& entry) {
  log_.push_back(entry);
  const auto decoded = decode_gate_entry(entry);
  if (!decoded) return broken.push_back("an entry could not be decoded: " + decoded.error().message);
  truth_.apply(log_.size(), *decoded);
  for (const auto& [id, node] : gates_) {
    after(id == leader_ ? base::Duration(milliseconds(1)) : some(2, 10), [this, to = id] { apply_all(to); });
  }
}

void GateWorld::apply_all(NodeId id) {
  Node& node = gates_.at(id);
  if (gone(id) || node.paused_until > now_) return;
  // A gate that starts anew sometimes gets a snapshot rather than all entries.
  if (node.applied == 0 && log_.size() > 20 && random_.below(2) == 0) {
    std::string bytes;
    for (auto& [other, from] : gates_) {
      if (other == id || !from.up || from.applied <= 20) continue;
      bytes = from.brain->snapshot();
      node.applied = from.applied;
      break;
    }
    if (!bytes.empty()) {
      call(id, [&](Gate& gate) {
        if (!gate.restored(bytes, now_)) broken.push_back("a snapshot could not be restored");
      });
    }
  }
  while (node.applied < log_.size() && node.up) {
    const std::string entry = log_[node.applied++];
    call(id, [&, index = node.applied](Gate& gate) { gate.applied(index, entry, now_); });
    const std::uint64_t digest = node.brain->ledger().digest();
    const auto [known, added] = digests_.emplace(node.applied, digest);
    if (!added && known->second != digest) broken.push_back(fmt::format("ledgers differ at {}", node.applied));
  }
  call(id, [&](Gate& gate) { gate.wake(now_); });
}

void GateWorld::call(NodeId id, const std::function<void(Gate&)>& what) {
  Node& node = gates_.at(id);
  if (!node.up || node.paused_until > now_) return;
  node.brain->standing(standing_of(id), now_);
  what(*node.brain);
  carry_out(id, node.brain->take());
  check_leases();
  arm(id);
}

void GateWorld::carry_out(NodeId id, Effects effects) {
  for (Effect& effect : effects) {
    if (auto* out = std::get_if<Send>(&effect)) {
      check(id, out->message);
      send(id, out->to, out->message);
    } else if (auto* proposal = std::get_if<Propose>(&effect)) {
      // A leader that is cut off appends, but never commits.
      if (id == leader_ && !gates_.at(id).cut) commit(proposal->entry);
    } else if (auto* stored = std::get_if<StoreBody>(&effect)) {
      after(some(1, 3), [this, id, life = gates_.at(id).life, body = std::move(*stored)] {
        Node& node = gates_.at(id);
        if (node.life != life || !node.up) return;
        node.disk[body.body.hash] = body.bytes;
        call(id, [&](Gate& gate) { gate.body_stored(body.body.hash, true, now_); });
      });
    } else if (auto* wanted = std::get_if<ReadBody>(&effect)) {
      after(some(1, 2), [this, id, hash = wanted->body.hash] {
        Node& node = gates_.at(id);
        const auto found = node.disk.find(hash);
        std::optional<std::string> bytes;
        if (found != node.disk.end()) bytes = found->second;
        call(id, [&](Gate& gate) { gate.body_read(hash, bytes, now_); });
      });
    } else if (auto* dropped = std::get_if<DropBody>(&effect)) {
      gates_.at(id).disk.erase(dropped->hash);
    } else if (auto* note = std::get_if<Note>(&effect)) {
      ++noted[note->what];
    }
  }
}

void GateWorld::arm(NodeId id) {
  Node& node = gates_.at(id);
  const base::Instant due = node.brain->deadline();
  if (due == base::kNever || (node.armed <= due && node.armed > now_)) return;
  // At least a little later: a brain that is due again and again at one time would stop the clock.
  node.armed = std::max({due, node.paused_until, now_ + base::Duration(std::chrono::microseconds(100))});
  at(node.armed, [this, id, life = node.life] {
    Node& to = gates_.at(id);
    if (to.life != life || !to.up) return;
    to.armed = base::kNever;
    call(id, [&](Gate& gate) { gate.wake(now_); });
  });
}

void GateWorld::arm_client() {
  const base::Instant due = client_->deadline();
  if (due == base::kNever || (client_armed_ <= due && client_armed_ > now_)) return;
  client_armed_ = std::max(due, now_ + base::Duration(milliseconds(1)));
  at(client_armed_, [this] {
    client_armed_ = base::kNever;
    with_client([&](Client& client) { client.wake(now_); });
  });
}

// Whatever a gate orders in the name of a job, it orders under the epoch that the log gave last.
void GateWorld::check(NodeId id, const Message& message) {
  JobId job{};
  std::uint64_t epoch = 0;
  if (const auto* submit = std::get_if<Submit>(&message)) {
    job = submit->job;
    epoch = submit->origin_epoch;
  } else if (const auto* cancel = std::get_if<Cancel>(&message)) {
    job = cancel->job;
    epoch = cancel->origin_epoch;
  } else {
    return;
  }
  const GateLedgerJob* known = truth_.job(job);
  if (known == nullptr || known->end || known->epoch == epoch) return;
  broken.push_back(fmt::format("gate {} acts for job {} under epoch {}, which is at {}", base::number(id), number(job),
                               epoch, known->epoch));
}

void GateWorld::check_leases() {
  for (const auto& [job, known] : truth_.jobs()) {
    std::size_t holders = 0;
    for (const auto& [id, node] : gates_) {
      if (node.up && node.brain->acts_for(job, now_)) ++holders;
    }
    if (holders > 1) broken.push_back(fmt::format("{} gates hold the lease of job {}", holders, number(job)));
  }
}

void GateWorld::send(NodeId from, NodeId to, const Message& message) {
  if (gone(from)) return;
  if (const auto down = gates_.find(to); from == kClientNode && down != gates_.end() && !down->second.up) {
    return after(milliseconds(10), [this, to] { with_client([&](Client& client) { client.disconnected(to, now_); }); });
  }
  if (random_.unit() < options_.loss) return;
  std::string bytes;
  encode(message, bytes);
  after(some(1, 5), [this, from, to, bytes = std::move(bytes)] {
    if (gone(from) || gone(to)) return;
    const auto decoded = decode_message(bytes);
    if (!decoded) return broken.push_back("a message could not be decoded: " + decoded.error().message);
    deliver(from, to, *decoded);
  });
}

void GateWorld::deliver(NodeId from, NodeId to, const Message& message) {
  if (to == kClientNode) return with_client([&](Client& client) { client.receive(from, message, now_); });
  if (const auto home = home_.find(to); home != home_.end()) {
    if (places_.at(home->second).deaf) return;
    return std::visit([&](const auto& each) { on(home->second, to, from, each); }, message);
  }
  const auto at = gates_.find(to);
  if (at == gates_.end()) return;
  if (at->second.paused_until > now_) {
    return this->at(at->second.paused_until, [this, from, to, message] { deliver(from, to, message); });
  }
  const ClientId client = from == kClientNode ? kWorldClient : ClientId{};
  call(to, [&](Gate& gate) { gate.receive(from, client, message, now_); });
}

void GateWorld::tell_gates(NodeId about, bool alive, base::Duration wait) {
  after(wait, [this, about, alive] {
    const Node& node = gates_.at(about);
    const bool is_alive = !gone(about) && node.paused_until <= now_;
    if (is_alive != alive) return;
    for (const auto& [id, other] : gates_) {
      if (id == about || gone(id)) continue;
      call(id, [&](Gate& gate) { gate.gate(about, alive, now_); });
    }
  });
}

// What managers say in every ack.
void GateWorld::tell_managers() {
  for (const auto& [manager, name] : home_) {
    if (gone(manager)) continue;
    ManagerReport report;
    report.manager = manager;
    report.datacenter = name;
    report.term = 1;
    report.leader = manager == manager_id(name, 0);
    report.has_quorum = true;
    report.workers = 2;
    report.healthy_workers = 2;
    report.free_cores = places_.at(name).free_cores;
    report.cores = 16;
    for (const auto& [id, node] : gates_) {
      if (!gone(id)) call(id, [&](Gate& gate) { gate.manager(report, now_); });
    }
  }
  after(seconds(1), [this] { tell_managers(); });
}

void GateWorld::update(const ClientUpdate& update) {
  ++updates;
  answers.insert(answers.end(), update.answers.begin(), update.answers.end());
  for (const WorkflowEnded& result : update.results) {
    auto& seen = results[result.job];
    if (std::ranges::any_of(seen, [&](const WorkflowEnded& other) {
          return other.datacenter == result.datacenter && other.status.workflow == result.status.workflow;
        })) {
      broken.push_back("a result was shown twice");
    }
    seen.push_back(result);
  }
  for (const JobEnd& end : update.ends) {
    if (!ends.emplace(end.job, end).second) broken.push_back("an end was shown twice");
  }
  for (const auto& [job, progress] : update.progress) {
    std::uint64_t sum = 0;
    std::uint64_t lost = 0;
    for (const auto& [workflow, totals] : progress.totals) {
      sum += totals.counts.iterations;
      lost += totals.lost.iterations;
      if (totals.latency.count() != totals.counts.iterations) broken.push_back("a histogram lacks what was counted");
    }
    if (sum < shown[job]) broken.push_back(fmt::format("totals fell from {} to {}", shown[job], sum));
    shown[job] = sum;
    shown_as_lost[job] = lost;
  }
  if (update.datacenters) listed = update.datacenters;
  fetched.insert(update.fetched.begin(), update.fetched.end());
}

void GateWorld::on(const std::string& name, NodeId self, NodeId from, const Submit& message) {
  Place& place = places_.at(name);
  SubmitAnswer answer;
  answer.job = message.job;
  answer.epoch = 1;
  answer.leader = manager_id(name, 0);
  const auto known = place.runs.find(message.job);
  if (known == place.runs.end()) {
    if (place.full) {
      answer.answer = Answer::kCapacityExceeded;
      return send(self, from, answer);
    }
    Place::Run run;
    run.client = message.client;
    run.origin = from;
    run.origin_epoch = message.origin_epoch;
    run.bundle = message.bundle;
    place.runs.emplace(message.job, std::move(run));
    return send(self, from, BodyWanted{message.bundle, 0});
  }
  if (!known->second.running && !known->second.end) return send(self, from, BodyWanted{message.bundle, 0});
  answer.answer = known->second.end ? Answer::kEnded : Answer::kAccepted;
  answer.state = known->second.end.value_or(JobState::kRunning);
  send(self, from, answer);
}

void GateWorld::on(const std::string& name, NodeId self, NodeId from, const BodyPiece& message) {
  for (auto& [job, run] : places_.at(name).runs) {
    if (run.bundle.hash == message.hash && !run.running && !run.end) begin_run(name, self, job, from);
  }
}

void GateWorld::on(const std::string& name, NodeId self, NodeId from, const BodyWanted& message) {
  for (const auto& [job, run] : places_.at(name).runs) {
    std::string bytes = result_bytes(name, job);
    if (test_hash(bytes) != message.body.hash) continue;
    return send(self, from, BodyPiece{message.body.hash, 0, std::move(bytes)});
  }
  send(self, from, BodyMissing{message.body.hash, false});
}

void GateWorld::on(const std::string& name, NodeId self, NodeId from, const StatusAsk& message) {
  const Place& place = places_.at(name);
  StatusAnswer answer;
  answer.job = message.job;
  answer.epoch = 1;
  const auto known = place.runs.find(message.job);
  if (known == place.runs.end() || (!known->second.running && !known->second.end)) {
    answer.answer = Answer::kUnknownJob;
  } else if (known->second.forgotten) {
    answer.answer = Answer::kEnded;
    answer.state = known->second.end.value_or(JobState::kFailed);
  } else {
    answer.state = known->second.end.value_or(JobState::kRunning);
    if (known->second.end) answer.workflows = end_of_run(name, message.job).workflows;
  }
  send(self, from, answer);
}

void GateWorld::on(const std::string& name, NodeId self, NodeId from, const Cancel& message) {
  Place& place = places_.at(name);
  CancelAnswer answer;
  answer.job = message.job;
  const auto known = place.runs.find(message.job);
  if (known == place.runs.end()) {
    answer.answer = Answer::kUnknownJob;
  } else if (known->second.end) {
    answer.answer = Answer::kEnded;
  } else {
    auto& waiting = known->second.cancellers;
    if (std::ranges::find(waiting, from) == waiting.end()) waiting.push_back(from);
    after(milliseconds(200), [this, name, job = message.job] { run_ends(name, job, JobState::kCancelled); });
  }
  send(self, from, answer);
}

void GateWorld::on(const std::string& name, NodeId, NodeId from, const GateAnnounce& message) {
  announce(name, message.job, from, message.origin_epoch);
}

void GateWorld::on(const std::string& name, NodeId, NodeId, const OwnerIs& message) {
  announce(name, message.job, message.gate, message.origin_epoch);
}

void GateWorld::on(const std::string& name, NodeId, NodeId from, const EndAck& message) {
  Place& place = places_.at(name);
  const auto known = place.runs.find(message.job);
  if (known != place.runs.end() && known->second.end && from == known->second.origin) {
    known->second.acknowledged = true;
  }
}

void GateWorld::announce(const std::string& name, JobId job, NodeId gate, std::uint64_t epoch) {
  Place& place = places_.at(name);
  const auto known = place.runs.find(job);
  if (known == place.runs.end() || epoch < known->second.origin_epoch) return;
  known->second.origin = gate;
  known->second.origin_epoch = epoch;
}

void GateWorld::begin_run(const std::string& name, NodeId self, JobId job, NodeId from) {
  Place::Run& run = places_.at(name).runs.at(job);
  run.running = true;
  SubmitAnswer answer;
  answer.job = job;
  answer.epoch = 1;
  answer.leader = manager_id(name, 0);
  answer.state = JobState::kRunning;
  send(self, from, answer);
  after(milliseconds(250), [this, name, job] { run_goes_on(name, job); });
  after(options_.run, [this, name, job] { run_ends(name, job, JobState::kCompleted); });
}

void GateWorld::run_goes_on(const std::string& name, JobId job) {
  Place::Run& run = places_.at(name).runs.at(job);
  if (run.end) return;
  run.iterations += 10;
  WindowPush push;
  push.job = job;
  push.epoch = 1;
  metrics::CoarseHistogram latency;
  latency.record(milliseconds(3), 10);
  push.windows = {
      {0, static_cast<std::uint64_t>(now_.time_since_epoch() / milliseconds(100)), 1, 1, {10, 10, 0}, latency}};
  metrics::CoarseHistogram all;
  all.record(milliseconds(3), run.iterations);
  push.totals = {{0, {run.iterations, run.iterations, 0}, {}, 4, all}};
  if (!places_.at(name).deaf) send(manager_id(name, 0), run.origin, push);
  after(milliseconds(250), [this, name, job] { run_goes_on(name, job); });
}

void GateWorld::run_ends(const std::string& name, JobId job, JobState state) {
  Place::Run& run = places_.at(name).runs.at(job);
  if (run.end) return;
  run.end = state;
  CancelAnswer done;
  done.job = job;
  done.done = true;
  done.stopped = 1;
  for (const NodeId waiting : run.cancellers) send(manager_id(name, 0), waiting, done);
  push_end(name, job, 0);
}

void GateWorld::push_end(const std::string& name, JobId job, int times) {
  const Place::Run& run = places_.at(name).runs.at(job);
  if (run.acknowledged || run.forgotten) return;
  if (!places_.at(name).deaf) {
    send(manager_id(name, 0), run.origin, end_of_run(name, job));
    if (times > 2) send(manager_id(name, 0), gate_id(random_.below(options_.gates)), OwnerAsk{job});
  }
  after(seconds(2), [this, name, job, times] { push_end(name, job, times + 1); });
}

JobEnd GateWorld::end_of_run(const std::string& name, JobId job) const {
  const Place::Run& run = places_.at(name).runs.at(job);
  JobEnd end;
  end.job = job;
  end.epoch = 1;
  end.state = *run.end;
  const std::string bytes = result_bytes(name, job);
  WorkflowStatus status;
  status.state = *run.end == JobState::kCompleted ? WorkflowState::kCompleted : WorkflowState::kCancelled;
  status.parts = 1;
  status.parts_ended = 1;
  status.counts = {run.iterations, run.iterations, 0};
  status.results = {{test_hash(bytes), bytes.size()}};
  end.workflows = {status};
  return end;
}

std::string GateWorld::result_bytes(const std::string& name, JobId job) const {
  return fmt::format("result of {} at {}", number(job), name);
}

}  // namespace muster::cluster
