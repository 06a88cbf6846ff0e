// For tests of Raft: a group of nodes in virtual time with a network and disks that can be made bad. Messages and
// writes go through their bytes. Everything follows from the seed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cores/raft_codec.h"
#include "cores/raft_history.h"
#include "cores/raft_machine.h"
#include "cores/raft_network.h"

namespace muster::cores {

class RaftGroup : public RaftNetwork {
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

  RaftHistory history;

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
    for (const auto& [node, machine] : machines_) text += fmt::format("\n{}: {}", node, machine.describe());
    return text;
  }

  void join(Node node) { start(node); }
  void crash(Node node) {
    if (!up(node)) return;
    machines_.at(node).crash(random_);
    history.restarted(node);
  }
  void restart(Node node) {
    crash(node);
    start(node);
  }
  void fail_disk(Node node) {
    machines_.at(node).stop();
    (*this)[node].disk_failed(now_);
    pump(node);
  }
  void stall_disk(Node node, bool stalled) {
    machines_.at(node).stalled = stalled;
    write_next(node);
  }

  void isolate(Node node) {
    for (const auto& [other, machine] : machines_) {
      cut(node, other);
      cut(other, node);
    }
  }

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
  void start(Node node) {
    RaftMachine& machine = machines_[node];
    machine.start(base::NodeId{node}, options_, seed_ * 1000, founding_, now_);
    history.keeps(node, {machine.raft->term(), machine.raft->vote()});
    pump(node);
  }

  void pump(Node node) {
    RaftMachine& machine = machines_.at(node);
    RaftEffects effects = machine.raft->take();
    if (machine.write(std::move(effects.writes))) write_next(node);
    for (const RaftSend& send : machine.sendable(std::move(effects.sends))) transmit(node, send);
    for (const RaftApply& apply : effects.applies) history.applied(node, machine.state, apply);
    for (const RaftAnswer& answer : effects.answers) {
      history.answered(node, answer);
      machine.answers[answer.request] = answer;
    }
    for (const RaftStanding& standing : effects.standings) history.stands(node, standing);
  }

  void write_next(Node node) {
    const RaftMachine& machine = machines_.at(node);
    if (!machine.busy()) return;
    events_.emplace(now_ + weather.disk, [this, node, life = machine.life] { written(node, life); });
  }

  void written(Node node, std::uint64_t life) {
    RaftMachine& machine = machines_.at(node);
    if (!machine.raft || machine.life != life || !machine.busy()) return;
    const RaftWrite write = machine.written(random_);
    if (const auto* checkpoint = std::get_if<RaftCheckpoint>(&write.body)) history.keeps(node, checkpoint->image.hard);
    if (const auto* hard = std::get_if<RaftHardState>(&write.body)) history.keeps(node, *hard);
    write_next(node);
    machine.raft->persisted(write.ticket, now_);
    pump(node);
  }

  void transmit(Node from, const RaftSend& send) {
    const Node to = base::number(send.to);
    std::string bytes;
    encode(send.message, bytes);
    for (const base::Duration delay : delays(from, to, send.message, random_)) {
      events_.emplace(now_ + delay, [this, from, to, bytes] { deliver(from, to, bytes); });
    }
  }

  void deliver(Node from, Node to, const std::string& bytes) {
    if (!up(to) || is_cut(from, to)) return;
    const auto message = decode_raft_message(bytes);
    if (!message) std::abort();
    inject(from, to, *message);
  }

  RaftOptions options_;
  base::Random random_;
  std::uint64_t seed_;
  RaftImage founding_;
  base::Instant now_ = base::Instant(std::chrono::seconds(1000));
  std::map<Node, RaftMachine> machines_;
  std::multimap<base::Instant, std::function<void()>> events_;
};

}  // namespace muster::cores
