// For tests of Raft: a group of nodes in virtual time with a network and disks that can be made bad. Messages and
// writes go through their bytes. Everything follows from the seed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cores/raft.h"
#include "cores/raft_codec.h"
#include "cores/raft_history.h"
#include "cores/raft_journal.h"

namespace muster::cores {

using Node = std::uint64_t;  // 1, 2 …
using Milliseconds = std::chrono::milliseconds;

struct RaftWeather {
  base::Duration least_delay = Milliseconds(1);
  base::Duration most_delay = Milliseconds(3);
  double loss = 0;
  double doubling = 0;
  base::Duration disk = Milliseconds(1);  // until a write is durable
};

class RaftGroup {
 public:
  // Nodes 1 … `founders` start at once; others are started with join().
  explicit RaftGroup(Node founders, std::uint64_t seed = 1, RaftOptions options = {})
      : options_(options), random_(seed), seed_(seed) {
    std::vector<base::NodeId> voters;
    for (Node node = 1; node <= founders; ++node) voters.push_back(base::NodeId{node});
    founding_ = founding_image(voters);
    for (Node node = 1; node <= founders; ++node) machines_[node].founder = true;
    for (Node node = 1; node <= founders; ++node) start(node);
  }

  RaftWeather weather;
  RaftHistory history;
  std::function<bool(Node from, Node to, const RaftMessage&)> drop;  // true: the message is lost
  std::function<void(Node from, Node to, const RaftMessage&)> on_send;

  Raft& operator[](Node node) { return *machines_.at(node).raft; }
  bool up(Node node) const { return machines_.contains(node) && machines_.at(node).raft != nullptr; }
  base::Instant now() const { return now_; }
  const RaftTestState& state(Node node) const { return machines_.at(node).state; }

  // The node that leads in the latest term; 0: none does.
  Node leader() const {
    Node best = 0;
    for (const auto& [node, machine] : machines_) {
      if (!machine.raft || !machine.raft->leads()) continue;
      if (best == 0 || machine.raft->term() > machines_.at(best).raft->term()) best = node;
    }
    return best;
  }

  // How everybody stands, for the message of a test that failed.
  std::string describe() const {
    std::string text;
    for (const auto& [node, machine] : machines_) {
      if (!machine.raft) continue;
      const Raft& raft = *machine.raft;
      text += fmt::format("\n{}: role {} term {} vote {} leader {} log {}..{} (term {}, durable {}) commit {} voters", node,
                          static_cast<int>(raft.role()), raft.term(), base::number(raft.vote()),
                          base::number(raft.leader()), raft.log().first(), raft.log().last(), raft.log().last_term(),
                          raft.log().durable(), raft.commit());
      for (const base::NodeId voter : raft.members().voters) text += fmt::format(" {}", base::number(voter));
      text += fmt::format(" since {}, learners", raft.log().members_index());
      for (const base::NodeId learner : raft.members().learners) text += fmt::format(" {}", base::number(learner));
    }
    return text;
  }

  void join(Node node) { start(node); }
  void crash(Node node) {
    Machine& machine = machines_.at(node);
    if (!machine.raft) return;
    // The disk may have got any part of what it was given.
    std::string lost;
    for (const Pending& pending : machine.pending) lost += pending.bytes;
    machine.file += lost.substr(0, static_cast<std::size_t>(random_.below(lost.size() + 1)));
    machine.raft.reset();
    ++machine.life;
    history.restarted(node);
  }
  void restart(Node node) {
    crash(node);
    start(node);
  }
  void fail_disk(Node node) {
    Machine& machine = machines_.at(node);
    machine.held.clear();
    machine.raft->disk_failed(now_);
    pump(node);
  }
  void stall_disk(Node node, bool stalled) {
    machines_.at(node).stalled = stalled;
    if (!stalled) write_next(node);
  }

  void cut(Node from, Node to) { cuts_.insert({from, to}); }  // one way
  void isolate(Node node) {
    for (const auto& [other, machine] : machines_) cuts_.insert({node, other}), cuts_.insert({other, node});
  }
  void heal() { cuts_.clear(); }

  RaftRequest propose(Node node, const std::string& command) {
    const RaftRequest request = (*this)[node].propose(command, now_);
    history.proposed(node, request, command);
    pump(node);
    return request;
  }
  RaftRequest read(Node node) {
    const RaftRequest request = (*this)[node].read(now_);
    history.reads(node, request);
    pump(node);
    return request;
  }
  RaftRequest change(Node node, RaftChange::Kind kind, Node whom) {
    const RaftRequest request = (*this)[node].change({kind, base::NodeId{whom}}, now_);
    pump(node);
    return request;
  }
  RaftRequest transfer(Node node, Node to) {
    const RaftRequest request = (*this)[node].transfer(base::NodeId{to}, now_);
    pump(node);
    return request;
  }
  void compact(Node node) {
    const RaftTestState& state = machines_.at(node).state;
    (*this)[node].compact(state.index, RaftHistory::padded(state));
    pump(node);
  }
  void inject(Node from, Node to, const RaftMessage& message) {
    (*this)[to].receive(base::NodeId{from}, message, now_);
    pump(to);
  }

  // The answer to a request of the node's present life, if there is one.
  const RaftAnswer* answer(Node node, RaftRequest request) const {
    const auto& answers = machines_.at(node).answers;
    const auto found = answers.find(request);
    return found == answers.end() ? nullptr : &found->second;
  }

  void run(base::Duration time) {
    run_until([] { return false; }, time);
  }
  bool run_until(const std::function<bool()>& done, base::Duration limit = std::chrono::seconds(10)) {
    const base::Instant end = now_ + limit;
    while (!done()) {
      Node due = 0;
      base::Instant next = events_.empty() ? base::kNever : events_.begin()->first;
      for (const auto& [node, machine] : machines_) {
        if (!machine.raft || machine.raft->deadline() >= next) continue;
        next = machine.raft->deadline();
        due = node;
      }
      if (next > end) {
        now_ = end;
        return done();
      }
      now_ = std::max(now_, next);
      if (due != 0) {
        (*this)[due].wake(now_);
        pump(due);
      } else {
        auto event = events_.extract(events_.begin());
        event.mapped()();
      }
    }
    return true;
  }
  bool elect(base::Duration limit = std::chrono::seconds(10)) {
    return run_until([&] { return leader() != 0; }, limit);
  }

 private:
  struct Pending {
    RaftWrite write;
    std::string bytes;
  };
  struct Machine {
    bool founder = false;
    bool stalled = false;
    std::uint64_t life = 0;
    std::unique_ptr<Raft> raft;
    RaftJournal journal;
    std::string file;
    std::deque<Pending> pending;
    std::vector<RaftSend> held;
    RaftTicket durable = 0;
    RaftTestState state;
    std::map<RaftRequest, RaftAnswer> answers;
  };

  void start(Node node) {
    Machine& machine = machines_[node];
    auto recovered = recover_raft_journal(machine.file);
    if (!recovered) std::abort();
    machine.file.resize(recovered->valid_bytes);
    machine.journal = RaftJournal(recovered->next);
    machine.pending.clear();
    machine.held.clear();
    machine.answers.clear();
    machine.durable = 0;
    machine.state = {};
    machine.stalled = false;
    RaftImage image = machine.file.empty() && machine.founder ? founding_ : std::move(recovered->image);
    history.keeps(node, image.hard);
    machine.raft =
        std::make_unique<Raft>(base::NodeId{node}, options_, seed_ * 1000 + machine.life, std::move(image), now_);
    pump(node);
  }

  void pump(Node node) {
    Machine& machine = machines_.at(node);
    RaftEffects effects = machine.raft->take();
    for (RaftWrite& write : effects.writes) {
      std::string bytes = machine.journal.record(write);
      machine.pending.push_back({std::move(write), std::move(bytes)});
      if (machine.pending.size() == 1) write_next(node);
    }
    for (RaftSend& send : effects.sends) {
      send.after > machine.durable ? machine.held.push_back(std::move(send)) : transmit(node, send);
    }
    for (const RaftApply& apply : effects.applies) history.applied(node, machine.state, apply);
    for (const RaftAnswer& answer : effects.answers) {
      history.answered(node, answer);
      machine.answers[answer.request] = answer;
    }
    for (const RaftStanding& standing : effects.standings) history.stands(node, standing);
  }

  void write_next(Node node) {
    const Machine& machine = machines_.at(node);
    if (machine.stalled || machine.pending.empty()) return;
    events_.emplace(now_ + weather.disk, [this, node, life = machine.life] { written(node, life); });
  }

  void written(Node node, std::uint64_t life) {
    Machine& machine = machines_.at(node);
    if (!machine.raft || machine.life != life || machine.pending.empty()) return;
    const Pending pending = std::move(machine.pending.front());
    machine.pending.pop_front();
    const auto* checkpoint = std::get_if<RaftCheckpoint>(&pending.write.body);
    if (checkpoint != nullptr && random_.below(2) == 0) machine.file.clear();
    machine.file += pending.bytes;
    machine.durable = pending.write.ticket;
    machine.journal.persisted(machine.durable);
    if (checkpoint != nullptr) history.keeps(node, checkpoint->image.hard);
    if (const auto* hard = std::get_if<RaftHardState>(&pending.write.body)) history.keeps(node, *hard);
    write_next(node);
    machine.raft->persisted(machine.durable, now_);
    std::vector<RaftSend> held;
    for (RaftSend& send : std::exchange(machine.held, {})) {
      send.after > machine.durable ? machine.held.push_back(std::move(send)) : transmit(node, send);
    }
    pump(node);
  }

  void transmit(Node from, const RaftSend& send) {
    const Node to = base::number(send.to);
    if (on_send) on_send(from, to, send.message);
    if (cuts_.contains({from, to}) || (drop && drop(from, to, send.message))) return;
    if (random_.unit() < weather.loss) return;
    std::string bytes;
    encode(send.message, bytes);
    const int copies = random_.unit() < weather.doubling ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      const auto spread = static_cast<std::uint64_t>((weather.most_delay - weather.least_delay).count()) + 1;
      const auto extra = base::Duration(static_cast<base::Duration::rep>(random_.below(spread)));
      events_.emplace(now_ + weather.least_delay + extra, [this, from, to, bytes] { deliver(from, to, bytes); });
    }
  }

  void deliver(Node from, Node to, const std::string& bytes) {
    if (!up(to) || cuts_.contains({from, to})) return;
    const auto message = decode_raft_message(bytes);
    if (!message) std::abort();
    inject(from, to, *message);
  }

  RaftOptions options_;
  base::Random random_;
  std::uint64_t seed_;
  RaftImage founding_;
  base::Instant now_ = base::Instant(std::chrono::seconds(1000));
  std::map<Node, Machine> machines_;
  std::set<std::pair<Node, Node>> cuts_;
  std::multimap<base::Instant, std::function<void()>> events_;
};

}  // namespace muster::cores
