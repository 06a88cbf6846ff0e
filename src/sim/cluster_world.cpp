#include "sim/cluster_world.h"

#include <algorithm>

#include "cluster/message_codec.h"
#include "sim/cluster_oracle_cancel.h"
#include "sim/cluster_program.h"

namespace muster::sim {

using cluster::JobId;
using Role = ClusterMap::Role;

namespace {

constexpr base::Duration kAskAgain = std::chrono::seconds(2);
constexpr base::Duration kFreshJobs = std::chrono::seconds(5);
constexpr base::Duration kLook = std::chrono::seconds(1);
constexpr base::Duration kEcho = std::chrono::milliseconds(500);
constexpr double kLatestEcho = 6;         // seconds after that
constexpr double kLatestKeptBack = 0.02;  // seconds after another manager leads the job
constexpr double kLatestRelease = 1;      // seconds after contact has lapsed; a worker asks for it that often
// How long the job that is to be cancelled may take to begin, and then to end.
constexpr base::Duration kPatience = std::chrono::seconds(10);

}  // namespace

void ClusterWorld::begin(Kernel& kernel) {
  shared_ = std::make_unique<ClusterShared>(kernel, setup_);
  const ClusterMap& map = shared_->map;
  if (!map.gates().empty()) groups_.push_back({"the gates", map.gates(), &shared_->gates});
  for (const base::NodeId node : map.gates()) kernel.add(node, 0);
  for (std::uint32_t place = 0; place < map.datacenters(); ++place) {
    groups_.push_back({ClusterMap::name(place), map.managers(place), shared_->managers[place].get()});
    for (const base::NodeId node : map.managers(place)) kernel.add(node, place + 1);
    for (const base::NodeId node : map.workers(place)) kernel.add(node, place + 1);
  }
  for (const base::NodeId node : map.clients()) {
    kernel.add(node, 0);
    users_.push_back(std::make_unique<ClusterUser>(kernel, shared_->log, shared_->runs, map.gates().empty()));
  }
  for (const base::NodeId node : kernel.nodes()) kernel.start(node);
  for (const base::NodeId node : map.clients()) {
    often(setup_.submit, [this, node] { submit(node, 0); });
    often(setup_.submit, [this, node] { bother(node); });
  }
  often(setup_.drain, [this] { drain_somebody(); });
  often(setup_.change, [this] { change_managers(); });
  if (setup_.echoes) often(kEcho, [this] { echo(shared_->echoes.take(), kLatestEcho); });
  often(setup_.lapse, [this] { hold_up_next_ = true; });
  ask_again();
}

std::unique_ptr<Process> ClusterWorld::boot(base::NodeId node) {
  switch (ClusterMap::role(node)) {
    case Role::kGate:
      return std::make_unique<GateProcess>(*shared_);
    case Role::kManager:
      return std::make_unique<ManagerProcess>(*shared_, node);
    case Role::kWorker:
      return std::make_unique<WorkerProcess>(*shared_);
    case Role::kClient:
      break;
  }
  return std::make_unique<ClientProcess>(*shared_, user(node));
}

void ClusterWorld::observe(base::NodeId node) {
  shared_->runs.observe(node);
  if (setup_.echoes) echo(shared_->echoes.take_kept_back(), kLatestKeptBack);
  const Role role = ClusterMap::role(node);
  if (role == Role::kWorker && hold_up_next_) hold_up(node);
  if (role != Role::kGate && role != Role::kManager) return;
  const cores::Raft* const it = raft(node);
  if (it == nullptr) return;
  (role == Role::kGate ? shared_->gates : *shared_->managers[ClusterMap::datacenter(node)]).observe(node, *it);
  if (role == Role::kGate) {
    check_leases(node);
    shared_->resources.observe(node, static_cast<const GateProcess*>(process(node))->brain());
  } else {
    shared_->resources.observe(node, static_cast<const ManagerProcess*>(process(node))->brain());
  }
}

void ClusterWorld::went_down(base::NodeId node) {
  const Role role = ClusterMap::role(node);
  if (role == Role::kWorker) shared_->runs.went_down(node);
  if (role == Role::kGate) shared_->gates.went_down(node);
  if (role == Role::kManager) shared_->managers[ClusterMap::datacenter(node)]->went_down(node);
}

// Of each group nodes in a random order until there is a majority of every configuration that may be in force; of the
// workers at least half; of the clients all.
std::vector<base::NodeId> ClusterWorld::healthy_core(base::Random& random) {
  if (setup_.everybody_heals || random.below(4) == 0) return kernel_->nodes();
  const auto shuffled = [&random](std::vector<base::NodeId> nodes) {
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.below(i)]);
    return nodes;
  };
  std::vector<base::NodeId> core = shared_->map.clients();
  for (const Group& group : groups_) {
    const std::vector<cores::RaftMembers> configurations = group.oracle->possible_members();
    for (const base::NodeId node : shuffled(group.nodes)) {
      const bool enough = std::ranges::all_of(configurations, [&core](const cores::RaftMembers& members) {
        const auto inside = std::ranges::count_if(core, [&](base::NodeId each) { return members.is_voter(each); });
        return static_cast<std::size_t>(inside) >= quorum_of(members);
      });
      if (enough) break;
      core.push_back(node);
    }
  }
  for (std::uint32_t place = 0; place < shared_->map.datacenters(); ++place) {
    const std::vector<base::NodeId> workers = shuffled(shared_->map.workers(place));
    const std::size_t healthy = workers.size() / 2 + random.below(workers.size() / 2 + 1);
    core.insert(core.end(), workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(healthy));
  }
  return core;
}

void ClusterWorld::heal(const std::vector<base::NodeId>& core) {
  core_ = core;
  std::ranges::sort(core_);
  healing_ = true;
  shared_->echoes.end();
  healed_at_ = kernel_->elapsed();
  cancels_late_ = kernel_->random().below(2) == 0;
  time_cancellation();
}

bool ClusterWorld::settled() {
  if (kernel_->elapsed() - healed_at_ <= kFreshJobs + 2 * kAskAgain || !missing().empty()) return false;
  // A hand-over may be under way; it is over in a moment.
  return std::ranges::all_of(groups_, [this](const Group& group) {
    const base::NodeId leading = leader(group);
    return leading != base::kNoNode && in_core(leading);
  });
}

void ClusterWorld::end() {
  if (!healing_ || kernel_->violated()) return;
  for (const Group& group : groups_) {
    const base::NodeId leading = leader(group);
    if (leading == base::kNoNode || !in_core(leading))
      kernel_->violate("4", fmt::format("nobody of the healthy nodes leads {} {:.0f} s after the others broke",
                                        group.name, base::seconds(kernel_->elapsed() - healed_at_)));
  }
  if (const std::string work = missing_work(true); !work.empty()) kernel_->violate("15", work);
  if (const std::string cores = missing_cores(); !cores.empty()) kernel_->violate("cores", cores);
  if (const std::string bodies = missing_bodies(); !bodies.empty()) kernel_->violate("bodies", bodies);
  kernel_->measure("seconds until drained", base::seconds(kernel_->elapsed() - healed_at_));
}

base::NodeId ClusterWorld::target(base::Random& random) {
  if (random.below(3) != 0) return leader(groups_[random.below(groups_.size())]);
  const std::uint32_t place = static_cast<std::uint32_t>(random.below(shared_->map.datacenters()));
  for (const base::NodeId worker : shared_->map.workers(place)) {
    if (shared_->runs.busy(worker)) return worker;
  }
  return base::kNoNode;
}

void ClusterWorld::overload(base::NodeId node, base::Duration length) {
  const auto load = [this, node](resilience::Load as) {
    if (ClusterMap::role(node) == Role::kManager)
      ask<ManagerProcess>(node, [as](ManagerProcess& it, Host&) { it.brain().loaded(as); });
    if (ClusterMap::role(node) == Role::kGate)
      ask<GateProcess>(node, [as](GateProcess& it, Host&) { it.brain().loaded(as); });
  };
  // What is shed depends on how bad it is.
  static constexpr resilience::Load kLoads[] = {resilience::Load::kBusy, resilience::Load::kStressed,
                                                resilience::Load::kOverloaded, resilience::Load::kOverloaded};
  load(kLoads[kernel_->random().below(std::size(kLoads))]);
  kernel_->after(length, [load] { load(resilience::Load::kHealthy); });
  for (int i = 0; i < 12; ++i) {
    for (const base::NodeId client : shared_->map.clients()) bother(client);
  }
  if (!healing_) submit(shared_->map.clients()[0], 0);
}

std::string ClusterWorld::describe(Channel /*channel*/, std::string_view bytes) {
  if (bytes.empty()) return "nothing";
  if (bytes.front() == 'R') return "raft";
  if (bytes.front() != 'M') return "membership";
  const auto message = cluster::decode_message(bytes.substr(1));
  if (!message) return fmt::format("{} bytes of nonsense", bytes.size());
  return std::string(cluster::name_of(*message));
}

ClusterProcess* ClusterWorld::process(base::NodeId node) const {
  auto* const it = static_cast<ClusterProcess*>(kernel_->process(node));
  return it != nullptr && it->running() ? it : nullptr;
}

const cores::Raft* ClusterWorld::raft(base::NodeId node) const {
  if (node == base::kNoNode) return nullptr;
  const ClusterProcess* const it = process(node);
  return it == nullptr ? nullptr : static_cast<const LoggedProcess*>(it)->raft();
}

base::NodeId ClusterWorld::leader(const Group& group) const {
  base::NodeId best = base::kNoNode;
  cores::RaftTerm term = 0;
  for (const base::NodeId node : group.nodes) {
    const cores::Raft* const it = raft(node);
    if (it == nullptr || !it->leads() || it->term() < term) continue;
    best = node;
    term = it->term();
  }
  return best;
}

template <class Kind, class What>
void ClusterWorld::ask(base::NodeId node, What what) {
  if (node == base::kNoNode || !kernel_->up(node)) return;
  kernel_->post(node, [what = std::move(what)](Process& process, Host& host) {
    auto& it = static_cast<Kind&>(process);
    it.act(host, [&] { what(it, host); });
  });
}

void ClusterWorld::often(base::Duration mean, std::function<void()> action) {
  if (mean <= base::Duration::zero()) return;
  const double wait = base::seconds(mean) * kernel_->random().exponential();
  kernel_->after(base::from_seconds(wait), [this, mean, action = std::move(action)] {
    if (healing_) return;
    action();
    often(mean, action);
  });
}

// Leases of one job are disjoint in true time, as far as clocks can be trusted.
void ClusterWorld::check_leases(base::NodeId gate) {
  const auto holds = [this](base::NodeId node, JobId job) {
    const auto* const it = static_cast<const GateProcess*>(process(node));
    return it != nullptr && it->brain().acts_for(job, kernel_->clock_of(node)).has_value();
  };
  const auto* const own = static_cast<const GateProcess*>(process(gate));
  if (own == nullptr || !shared_->gates_keep_time()) return;
  const base::Instant now = kernel_->clock_of(gate);
  for (const JobId job : shared_->log.gate_jobs()) {
    if (!own->brain().acts_for(job, now)) continue;
    for (const base::NodeId other : shared_->map.gates()) {
      if (other == gate || !holds(other, job)) continue;
      kernel_->violate("8", fmt::format("gates {} and {} both hold the lease of job {}", base::number(gate),
                                        base::number(other), cluster::number(job)));
    }
  }
}

JobId ClusterWorld::submit(base::NodeId client, std::uint64_t kind) {
  base::Random& random = kernel_->random();
  const JobId id{(++next_job_) | kind};
  cluster::JobRequest request = draw_job(id, random);
  if (!shared_->map.gates().empty()) {
    const std::uint64_t where = random.below(4);
    if (where == 0) request.datacenters = {ClusterMap::name(static_cast<std::uint32_t>(random.below(2)))};
    if (where == 1) request.datacenters = {ClusterMap::name(0), ClusterMap::name(1)};
    if (where >= 2) request.count = static_cast<std::uint32_t>(1 + random.below(2));
    if (where == 3) request.datacenters = {ClusterMap::name(static_cast<std::uint32_t>(next_job_ % 2))};
    request.reroute = random.below(3) == 0;
  }
  user(client).add(std::move(request));
  ask<ClientProcess>(client, [this, client, id](ClientProcess& it, Host& host) {
    it.brain().submit(user(client).jobs().at(id).request, host.now());
  });
  if (kind == 0 && random.unit() < setup_.cancels) {
    const double wait = 12 * random.unit();
    kernel_->after(base::from_seconds(wait), [this, client, id] { maybe_cancel(client, id); });
  }
  return id;
}

// Asks for what is known already: status, the list of datacenters, the same job again.
void ClusterWorld::bother(base::NodeId client) {
  auto& jobs = user(client).jobs();
  if (jobs.empty()) return;
  auto at = jobs.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(kernel_->random().below(jobs.size())));
  const std::uint64_t what = kernel_->random().below(4);
  ask<ClientProcess>(client, [this, client, id = at->first, request = at->second.request,
                              ended = at->second.ended.has_value(), what](ClientProcess& it, Host& host) {
    if (what == 0) it.brain().datacenters(host.now());
    if (what == 1 && !ended) {
      if (it.brain().statistics(id) == nullptr) user(client).session_begins(id);  // it was given up
      it.brain().submit(request, host.now());
    }
    if (what >= 2) it.brain().status(id, host.now());
  });
}

void ClusterWorld::maybe_cancel(base::NodeId client, JobId job) {
  if (!user(client).jobs().at(job).ended && !healing_) cancel(client, job);
}

void ClusterWorld::cancel(base::NodeId client, JobId job) {
  user(client).jobs().at(job).cancelled = true;
  ask<ClientProcess>(client, [job](ClientProcess& it, Host& host) {
    it.brain().cancel(job, "ada", "not needed any more", host.now());
  });
  kernel_->hit("cancellation asked");
}

void ClusterWorld::time_cancellation() {
  const base::NodeId client = shared_->map.clients()[0];
  const bool begun = cancels_late_ && kernel_->elapsed() - healed_at_ > kFreshJobs;
  if (begun && long_job_ == JobId{}) long_job_ = submit(client, kLongJob);
  if (long_job_ != JobId{}) cancel_long_job(client);
  check_cancelled(*kernel_, shared_->log, shared_->runs, core_, healed_at_);
  shared_->limits.check(healed_at_);
  kernel_->after(kLook, [this] { time_cancellation(); });
}

// Again and again, as people do: what is asked before the job is known anywhere comes to nothing.
void ClusterWorld::cancel_long_job(base::NodeId client) {
  const ClusterUser::Job& job = user(client).jobs().at(long_job_);
  const bool runs = runs_on(shared_->runs, long_job_, core_);
  const bool wanted = runs || kernel_->elapsed() - job.acknowledged_at > kPatience;
  if (!job.acknowledged || job.ended || !wanted || kernel_->elapsed() < cancel_again_) return;
  if (runs) kernel_->hit("running job cancelled after all was healed");
  cancel_again_ = kernel_->elapsed() + kPatience;
  cancel(client, long_job_);
}

void ClusterWorld::drain_somebody() {
  base::Random& random = kernel_->random();
  const std::vector<base::NodeId>& nodes = kernel_->nodes();
  const base::NodeId node = nodes[random.below(nodes.size())];
  switch (ClusterMap::role(node)) {
    case Role::kGate:
      ask<GateProcess>(node, [](GateProcess& it, Host& host) { it.drain_out(), it.brain().drain(host.now()); });
      break;
    case Role::kManager:
      ask<ManagerProcess>(node, [](ManagerProcess& it, Host& host) { it.drain_out(), it.brain().drain(host.now()); });
      break;
    case Role::kWorker:
      ask<WorkerProcess>(node,
                         [](WorkerProcess& it, Host& host) { it.drain_out(), it.brain().drain(true, host.now()); });
      break;
    case Role::kClient:
      break;
  }
}

void ClusterWorld::echo(std::vector<ClusterEchoes::Echo> echoes, double latest) {
  for (ClusterEchoes::Echo& each : echoes) {
    const double wait = latest * kernel_->random().unit();
    kernel_->after(base::from_seconds(wait), [this, each = std::move(each)] {
      base::NodeId to = each.to;
      if (each.proposal) to = leader(groups_[groups_.size() == 1 ? 0 : 1 + ClusterMap::datacenter(to)]);
      if (to == base::kNoNode || !kernel_->up(to)) return;
      kernel_->hit(each.proposal ? "old proposal came again" : "old dispatch came again");
      kernel_->network().forge(each.sender, each.from, kernel_->index(to), Channel::kStream, each.frame, true,
                               each.sent);
    });
  }
}

// A worker that runs something and has just asked whether its managers are there hears their answer only after its
// contact has lapsed: it was asked for in time, and must not make it forget that.
void ClusterWorld::hold_up(base::NodeId worker) {
  const auto* const it = static_cast<const WorkerProcess*>(process(worker));
  const base::Duration left = shared_->runs.contact_left(worker);
  const bool asked = it != nullptr && it->asked() == kernel_->clock_of(worker);
  if (!asked || left == base::Duration::zero() || !shared_->runs.busy(worker) || healing_) return;
  hold_up_next_ = false;
  kernel_->trace("worker {} is held up until its contact has lapsed", base::number(worker));
  kernel_->pause(worker);
  kernel_->after(left + base::from_seconds(kLatestRelease * kernel_->random().unit()), [this, worker] {
    if (!healing_) kernel_->resume(worker);
  });
}

// Members of a datacenter's managers come and go: one that is none is added, one of four is removed.
void ClusterWorld::change_managers() {
  using Kind = cores::RaftChange::Kind;
  if (shared_->setup.spares == 0) return;
  const std::uint32_t place = static_cast<std::uint32_t>(kernel_->random().below(shared_->map.datacenters()));
  const auto& managers = shared_->map.managers(place);
  const cores::RaftMembers& members = shared_->managers[place]->committed_members();
  cores::RaftChange change{.kind = Kind::kRemove, .node = managers[kernel_->random().below(managers.size())]};
  for (const base::NodeId node : managers) {
    if (members.contains(node) && !members.is_learner(node)) continue;
    change = {.kind = members.is_learner(node) ? Kind::kPromote : Kind::kAddLearner, .node = node};
  }
  if (change.kind == Kind::kRemove && members.voters.size() <= shared_->setup.managers) return;
  for (const Group& group : groups_) {
    if (group.oracle != shared_->managers[place].get()) continue;
    ask<ManagerProcess>(leader(group), [this, change](ManagerProcess& it, Host& host) {
      // A paused node must not change members once the core was chosen by them.
      if (!healing_) it.change(host, change);
    });
  }
}

void ClusterWorld::ask_again() {
  for (const base::NodeId client : shared_->map.clients()) {
    ask<ClientProcess>(client, [](ClientProcess& it, Host& host) { it.ask_again(host); });
    if (healing_ && kernel_->elapsed() - healed_at_ > kFreshJobs && !fresh_under_way(user(client)))
      submit(client, kCleanJob);
  }
  kernel_->after(kAskAgain, [this] { ask_again(); });
}

// Whether a job that was submitted after the healing has completed, or still may.
bool ClusterWorld::fresh_under_way(const ClusterUser& user) {
  return std::ranges::any_of(user.jobs(), [](const auto& each) {
    const bool clean = (cluster::number(each.first) & kCleanJob) != 0;
    return clean && (!each.second.ended || *each.second.ended == cluster::JobState::kCompleted);
  });
}

bool ClusterWorld::in_core(base::NodeId node) const {
  return std::ranges::binary_search(core_, node);
}

std::string ClusterWorld::missing() const {
  std::string what = missing_work(false);
  if (what.empty()) what = missing_cores();
  return what.empty() ? missing_bodies() : what;
}

std::string ClusterWorld::missing_work(bool in_full) const {
  const auto standing = [&](JobId id) { return in_full ? standing_of(id) : std::string(); };
  for (const auto& user : users_) {
    if (!fresh_under_way(*user)) return "no job that was submitted after all was healed has completed";
    for (const auto& [id, job] : user->jobs()) {
      const bool clean = (cluster::number(id) & (kCleanJob | kLongJob)) != 0;
      if (!job.acknowledged && !clean) continue;
      if (!job.ended && !job.forgotten)
        return fmt::format("job {} was {} and its user knows of no end: {}", cluster::number(id),
                           job.acknowledged ? "acknowledged" : "submitted after all was healed, again and again,",
                           standing(id));
    }
  }
  for (const auto& [place, job] : shared_->log.unended())
    return fmt::format("job {} was accepted in {} and has not ended: {}", cluster::number(job), ClusterMap::name(place),
                       standing(job));
  for (const JobId job : shared_->log.gate_jobs())
    return fmt::format("job {} has not ended at the gates: {}", cluster::number(job), standing(job));
  return {};
}

// Where a job stands, as the latest leaders' ledgers have it.
std::string ClusterWorld::standing_of(JobId id) const {
  std::string text;
  for (const Group& group : groups_) {
    const base::NodeId leading = leader(group);
    if (leading == base::kNoNode) continue;
    if (ClusterMap::role(leading) == Role::kGate) {
      const auto* const job = static_cast<const GateProcess*>(process(leading))->brain().ledger().job(id);
      if (job != nullptr)
        text += fmt::format("the gates have it {}, with {} slots; ", job->end ? "ended" : "open", job->slots.size());
      continue;
    }
    const auto* const job = static_cast<const ManagerProcess*>(process(leading))->brain().ledger().job(id);
    if (job == nullptr) continue;
    text += fmt::format("{} has it {}, led by {} under epoch {}, layer {} open, workflows", group.name,
                        job->end ? "ended" : "open", base::number(job->owner.node), job->epoch, job->open_layer);
    for (const cluster::LedgerWorkflow& workflow : job->workflows) text.append(" ").append(to_text(workflow.state));
    text += "; ";
  }
  return text;
}

std::string ClusterWorld::missing_cores() const {
  if (shared_->log.cores_held() > 0) return fmt::format("the ledgers have given {} cores", shared_->log.cores_held());
  for (std::uint32_t place = 0; place < shared_->map.datacenters(); ++place) {
    for (const base::NodeId node : shared_->map.workers(place)) {
      if (!in_core(node)) continue;
      const auto* const it = static_cast<const WorkerProcess*>(process(node));
      if (it == nullptr) return fmt::format("worker {} is down", base::number(node));
      if (it->brain().free_cores() != setup_.cores || shared_->runs.busy(node))
        return fmt::format("worker {} has {} free cores of {}", base::number(node), it->brain().free_cores(),
                           setup_.cores);
    }
  }
  return {};
}

// Whatever a ledger names, every healthy voter has by now.
std::string ClusterWorld::missing_bodies() const {
  for (const Group& group : groups_) {
    const base::NodeId leading = leader(group);
    if (leading == base::kNoNode) continue;
    std::vector<cluster::BodyHash> named;
    if (ClusterMap::role(leading) == Role::kGate) {
      for (const auto& [body, uses] : static_cast<const GateProcess*>(process(leading))->brain().ledger().bodies())
        named.push_back(body.hash);
    } else {
      for (const auto& [hash, body] : static_cast<const ManagerProcess*>(process(leading))->brain().ledger().bodies())
        named.push_back(hash);
    }
    for (const base::NodeId voter : raft(leading)->members().voters) {
      if (!in_core(voter)) continue;
      const auto lacking =
          std::ranges::count_if(named, [&](const cluster::BodyHash& hash) { return !shared_->log.keeps(voter, hash); });
      if (lacking > 0)
        return fmt::format("node {} lacks {} of the {} bodies that {} names", base::number(voter), lacking,
                           named.size(), group.name);
    }
  }
  return {};
}

}  // namespace muster::sim
