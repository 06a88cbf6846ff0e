#include "sim/raft_world.h"

#include <algorithm>
#include <variant>

#include "cores/raft_codec.h"

namespace muster::sim {

namespace {

// How long a living node may leave a request unanswered once all is healed.
constexpr base::Duration kAnswerBound = std::chrono::seconds(5);
// What must be acknowledged before a healed group counts as working.
constexpr std::uint64_t kEnoughAnswers = 5;
constexpr base::Duration kLookForLeader = std::chrono::milliseconds(1);

std::string in_words(const cores::RaftVoteRequest& it) {
  return fmt::format("{}vote? for term {}, log {}/{}{}", it.pre ? "pre-" : "", it.asked, it.last_index, it.last_term,
                     it.transfer ? ", transfer" : "");
}
std::string in_words(const cores::RaftVoteReply& it) {
  return fmt::format("{}vote {} for term {}", it.pre ? "pre-" : "", it.granted ? "granted" : "refused", it.asked);
}
std::string in_words(const cores::RaftAppend& it) {
  return fmt::format("append {} behind {}/{}, commit {}", it.entries.size(), it.prev_index, it.prev_term, it.commit);
}
std::string in_words(const cores::RaftAppendReply& it) {
  return fmt::format("append {} at {}, hint {}/{}", it.accepted ? "accepted" : "refused", it.index, it.hint_index,
                     it.hint_term);
}
std::string in_words(const cores::RaftSnapshotPart& it) {
  return fmt::format("snapshot {}/{}: {} bytes at {} of {}", it.index, it.snapshot_term, it.data.size(), it.offset,
                     it.total_bytes);
}
std::string in_words(const cores::RaftSnapshotReply& it) {
  return fmt::format("snapshot {} {}", it.index, it.done ? "done" : fmt::format("wants {}", it.next));
}
std::string in_words(const cores::RaftTimeoutNow&) {
  return "ask for votes now";
}
std::string in_words(const cores::RaftLoan& it) {
  return fmt::format("loan of {} behind {}/{}", it.entries.size(), it.prev_index, it.prev_term);
}

}  // namespace

void RaftWorld::begin(Kernel& kernel) {
  oracle_ = std::make_unique<RaftOracle>(kernel);
  injector_ = std::make_unique<Injector>(kernel, *this);
  for (std::uint32_t i = 1; i <= setup_.voters + setup_.spares; ++i) {
    kernel.add(base::NodeId{i}, i % 2);
    if (i <= setup_.voters) founders_.push_back(base::NodeId{i});
  }
  oracle_->founded(founders_);
  if (setup_.chained) {
    on_answer_ = [this](RaftProcess& process, Host& host, const RaftProcess::Asked& asked,
                        const cores::RaftAnswer& answer) {
      const bool refused = answer.outcome == cores::RaftOutcome::kRefused;
      if (asked.kind == RaftProcess::Asked::Kind::kPropose && !refused)
        process.propose(host, ++operations_, setup_.command_bytes);
    };
  }
  for (const base::NodeId node : kernel.nodes()) kernel.start(node);
  act_often(setup_.propose, true, [this] { propose(addressee()); });
  act_often(setup_.read, true, [this] { read(addressee()); });
  act_often(setup_.change, false, [this] { change_somebody(); });
  act_often(setup_.transfer, false, [this] { transfer(addressee(), anybody()); });
  act_often(setup_.compact, true, [this] { compact(anybody()); });
  if (setup_.script) setup_.script(*this);
}

std::unique_ptr<Process> RaftWorld::boot(base::NodeId node) {
  RaftProcessOptions options;
  options.raft = setup_.raft;
  options.state_bytes = setup_.state_bytes;
  if (std::ranges::find(founders_, node) != founders_.end()) options.founders = founders_;
  return std::make_unique<RaftProcess>(options, *kernel_, *oracle_, on_answer_);
}

void RaftWorld::observe(base::NodeId name) {
  const RaftProcess* const process = node(name);
  if (process != nullptr && process->running()) oracle_->observe(name, process->raft());
}

// Nodes in a random order until there is a majority of every configuration that may be in force.
std::vector<base::NodeId> RaftWorld::healthy_core(base::Random& random) {
  std::vector<base::NodeId> order = kernel_->nodes();
  if (setup_.everybody_heals || random.below(3) == 0) return order;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const std::vector<cores::RaftMembers> configurations = oracle_->possible_members();
  std::vector<base::NodeId> core;
  for (const base::NodeId name : order) {
    const bool enough = std::ranges::all_of(configurations, [&core](const cores::RaftMembers& members) {
      const auto inside = std::ranges::count_if(core, [&](base::NodeId each) { return members.is_voter(each); });
      return static_cast<std::size_t>(inside) >= quorum_of(members);
    });
    if (enough) break;
    core.push_back(name);
  }
  return core;
}

void RaftWorld::heal(const std::vector<base::NodeId>& core) {
  core_ = core;
  healing_ = true;
  healed_at_ = kernel_->elapsed();
  acknowledged_before_ = oracle_->acknowledgements();
  committed_before_ = oracle_->committed();
}

bool RaftWorld::settled() {
  if (oracle_->acknowledgements() < acknowledged_before_ + kEnoughAnswers) return false;
  if (goal_ == 0) goal_ = oracle_->last_acknowledged();
  const cores::Raft* const leading = raft(leader());
  if (leading == nullptr) return false;
  return std::ranges::all_of(core_, [&](base::NodeId name) {
    const RaftProcess* const process = node(name);
    if (!leading->members().contains(name)) return true;
    return process != nullptr && process->running() && process->applied() >= goal_;
  });
}

void RaftWorld::end() {
  if (healing_) {
    check_settled();
    check_answered();
  }
  if (setup_.finish && !kernel_->violated()) setup_.finish(*this);
}

base::NodeId RaftWorld::target(base::Random& /*random*/) {
  return leader();
}

void RaftWorld::overload(base::NodeId name, base::Duration length) {
  const auto bursts = std::min<std::int64_t>(20, 1 + length / std::chrono::milliseconds(100));
  for (std::int64_t i = 0; i < bursts; ++i)
    kernel_->after(std::chrono::milliseconds(100) * i, [this, name] { propose(name, 50); });
}

std::string RaftWorld::describe(Channel /*channel*/, std::string_view bytes) {
  const auto message = cores::decode_raft_message(bytes);
  if (!message) return fmt::format("{} bytes of nonsense", bytes.size());
  return fmt::format("[{}] {}", message->term,
                     std::visit([](const auto& body) { return in_words(body); }, message->body));
}

const cores::Raft* RaftWorld::raft(base::NodeId name) const {
  if (name == base::kNoNode) return nullptr;
  const RaftProcess* const process = node(name);
  return process != nullptr && process->running() ? &process->raft() : nullptr;
}

base::NodeId RaftWorld::leader() const {
  base::NodeId best = base::kNoNode;
  cores::RaftTerm term = 0;
  for (const base::NodeId name : kernel_->nodes()) {
    const cores::Raft* const it = raft(name);
    if (it == nullptr || !it->leads() || it->term() < term) continue;
    best = name;
    term = it->term();
  }
  return best;
}

base::NodeId RaftWorld::anybody() {
  return kernel_->nodes()[kernel_->random().below(kernel_->nodes().size())];
}

base::NodeId RaftWorld::voter_beside(base::NodeId name) {
  std::vector<base::NodeId> others = oracle_->committed_members().voters;
  std::erase(others, name);
  return others.empty() ? base::kNoNode : others[kernel_->random().below(others.size())];
}

void RaftWorld::every(base::Duration mean, std::function<void()> action) {
  act_often(mean, false, std::move(action));
}

void RaftWorld::propose(base::NodeId name, std::uint32_t count) {
  ask(name, [this, count](RaftProcess& process, Host& host) {
    for (std::uint32_t i = 0; i < count; ++i)
      process.propose(host, ++operations_, 8 + kernel_->random().below(setup_.command_bytes));
  });
}

void RaftWorld::read(base::NodeId name) {
  ask(name, [](RaftProcess& process, Host& host) { process.read(host); });
}

void RaftWorld::change(base::NodeId name, const cores::RaftChange& change) {
  ask(name, [this, change](RaftProcess& process, Host& host) {
    // A paused node must not change members once the core was chosen by them.
    if (!healing_) process.change(host, change);
  });
}

void RaftWorld::transfer(base::NodeId name, base::NodeId to) {
  ask(name, [to](RaftProcess& process, Host& host) { process.transfer(host, to); });
}

void RaftWorld::compact(base::NodeId name) {
  ask(name, [](RaftProcess& process, Host& host) { process.compact(host); });
}

void RaftWorld::isolate(base::NodeId name, base::Duration length) {
  if (healing_ || name == base::kNoNode) return;
  NodeSet alone, others;
  for (const base::NodeId each : kernel_->nodes()) (each == name ? alone : others).add(kernel_->index(each));
  Network& network = kernel_->network();
  const std::uint32_t there = network.cut(alone, others);
  const std::uint32_t back = network.cut(others, alone);
  kernel_->after(length, [&network, there, back] {
    network.mend(there);
    network.mend(back);
  });
}

void RaftWorld::forge(base::NodeId from, base::NodeId to, const cores::RaftMessage& message) {
  std::string bytes;
  cores::encode(message, bytes);
  Network& network = kernel_->network();
  network.forge(from, network.address(kernel_->index(from)), kernel_->index(to), Channel::kStream, std::move(bytes),
                true);
}

void RaftWorld::crash_for(base::NodeId name, base::Duration length) {
  if (healing_ || name == base::kNoNode || !kernel_->up(name)) return;
  kernel_->crash(name);
  kernel_->after(length, [this, name] {
    if (!healing_) kernel_->restart(name, false);
  });
}

void RaftWorld::await_leader(cores::RaftTerm beyond, base::Duration bound, std::function<void(base::Duration)> found,
                             std::function<void()> missed) {
  const base::Duration begun = kernel_->elapsed();
  // Whatever is on the agenda holds it; it holds itself only weakly.
  const auto look = std::make_shared<std::function<void()>>();
  *look = [this, beyond, bound, begun, found = std::move(found), missed = std::move(missed),
           again = std::weak_ptr(look)] {
    const cores::Raft* const leading = raft(leader());
    if (leading != nullptr && leading->term() > beyond) return found(kernel_->elapsed() - begun);
    if (kernel_->elapsed() - begun >= bound) return missed();
    kernel_->after(kLookForLeader, [self = again.lock()] { (*self)(); });
  };
  (*look)();
}

void RaftWorld::ask(base::NodeId name, std::function<void(RaftProcess&, Host&)> what) {
  if (name == base::kNoNode || !kernel_->up(name)) return;
  kernel_->post(name, [what = std::move(what)](Process& process, Host& host) {
    auto& it = static_cast<RaftProcess&>(process);
    if (it.running()) what(it, host);
  });
}

void RaftWorld::act_often(base::Duration mean, bool also_healed, std::function<void()> action) {
  if (mean <= base::Duration::zero()) return;
  const double wait = base::seconds(mean) * kernel_->random().exponential();
  kernel_->after(base::from_seconds(wait), [this, mean, also_healed, action = std::move(action)] {
    if (healing_ && !also_healed) return;
    action();
    act_often(mean, also_healed, action);
  });
}

void RaftWorld::change_somebody() {
  using Kind = cores::RaftChange::Kind;
  const base::NodeId somebody = anybody();
  const cores::RaftMembers& members = oracle_->committed_members();
  Kind kind = Kind::kAddLearner;
  if (members.is_learner(somebody)) kind = kernel_->random().below(4) == 0 ? Kind::kRemove : Kind::kPromote;
  if (members.is_voter(somebody)) {
    // A group of one or two can be stuck for good by a single broken node; that is no failure of its.
    if (members.voters.size() <= 2) return;
    kind = Kind::kRemove;
  }
  change(addressee(), {.kind = kind, .node = somebody});
}

base::NodeId RaftWorld::addressee() {
  const base::NodeId leading = leader();
  return leading != base::kNoNode && kernel_->random().below(8) != 0 ? leading : anybody();
}

void RaftWorld::check_settled() {
  if (settled()) return;
  const cores::Raft* const leading = raft(leader());
  if (leading == nullptr || std::ranges::find(core_, leading->self()) == core_.end()) {
    kernel_->violate(
        "4", fmt::format("nobody of the {} healthy nodes of {} leads {:.0f} s after the others broke", core_.size(),
                         kernel_->nodes().size(), base::seconds(kernel_->elapsed() - healed_at_)));
  } else if (node(leading->self())->applied() < std::min(oracle_->last_acknowledged(), committed_before_)) {
    kernel_->violate("log-restart", fmt::format("entry {} was acknowledged and the leader has only {}",
                                                oracle_->last_acknowledged(), node(leading->self())->applied()));
  } else {
    kernel_->violate(
        "log-progress",
        fmt::format("after heal {} operations were acknowledged and entries went from {} to {}, but not all "
                    "of the core has applied them",
                    oracle_->acknowledgements() - acknowledged_before_, committed_before_, oracle_->committed()));
  }
}

void RaftWorld::check_answered() {
  for (const base::NodeId name : core_) {
    const RaftProcess* const process = node(name);
    if (process == nullptr) continue;
    for (const auto& [request, asked] : process->unanswered()) {
      if (kernel_->now() - asked.at < kAnswerBound) continue;
      kernel_->violate("log-progress",
                       fmt::format("node {} has not answered request {} in {:.1f} s", base::number(name), request,
                                   base::seconds(kernel_->now() - asked.at)));
      return;
    }
  }
}

}  // namespace muster::sim
