// For tests: a group of membership cores on a network of their own, in virtual time. Delays, losses and silences are
// what a test says; equal seeds give equal runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cores/swim.h"

namespace muster::cores {

inline Endpoint test_endpoint(std::uint32_t number) {
  return ipv4_endpoint(0x0a000000u + number, 9000);
}

class SwimGroup {
 public:
  struct Packet {
    base::NodeId from, to;
    SwimChannel channel;
    const std::string* bytes;
  };

  explicit SwimGroup(SwimOptions options = swim_lan(), std::uint64_t seed = 1) : options_(options), random_(seed) {}

  // Called for every packet; true loses it.
  std::function<bool(const Packet&)> lost = [](const Packet&) { return false; };
  // Called for every event of every node.
  std::function<void(base::NodeId, const SwimEvent&)> saw = [](base::NodeId, const SwimEvent&) {};
  // Called for every packet that reaches a running node.
  std::function<void(const Packet&)> delivered = [](const Packet&) {};
  base::Duration delay = std::chrono::milliseconds(1);

  static base::NodeId id(std::uint32_t number) { return base::NodeId{number}; }

  base::Instant now() const { return now_; }

  Swim& add(std::uint32_t number, std::span<const std::uint32_t> seeds, std::uint64_t incarnation = 1,
            std::uint32_t address = 0) {
    const Endpoint endpoint = test_endpoint(address == 0 ? number : address);
    homes_[endpoint] = id(number);
    SwimSelf self{.id = id(number), .address = endpoint, .incarnation = incarnation, .state = {}};
    auto& node = nodes_[id(number)];
    node = std::make_unique<Swim>(self, options_, random_.next(), now_);
    std::vector<Endpoint> asked;
    for (const std::uint32_t seed : seeds) asked.push_back(test_endpoint(seed));
    node->join(asked, now_);
    drain(*node);
    return *node;
  }

  // Nodes 1 to `count`, all of which ask the first; run until they know one another.
  void start(std::uint32_t count) {
    for (std::uint32_t number = 1; number <= count; ++number) {
      add(number, number == 1 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{1});
    }
    run(std::chrono::seconds(5));
  }

  Swim& node(std::uint32_t number) { return *nodes_.at(id(number)); }
  bool runs(base::NodeId node) const { return nodes_.contains(node) && !paused_.contains(node); }
  void crash(std::uint32_t number) {
    nodes_.erase(id(number));
    std::erase_if(homes_, [&](const auto& home) { return home.second == id(number); });
  }
  // A paused node is not called; what is sent to it waits.
  void pause(std::uint32_t number) { paused_.insert(id(number)); }
  void resume(std::uint32_t number) {
    paused_.erase(id(number));
    for (const Flight& flight : std::exchange(kept_[id(number)], {})) deliver(flight);
    wake_due(id(number));
  }

  void run(base::Duration time) {
    const base::Instant end = now_ + time;
    while (step(end)) {
    }
    now_ = end;
  }
  // Until `done`, at most for `time`; whether it was done.
  bool run_until(base::Duration time, const std::function<bool()>& done) {
    const base::Instant end = now_ + time;
    while (!done()) {
      if (!step(end)) {
        now_ = end;
        return done();
      }
    }
    return true;
  }

  // How many of the running nodes hold `number` to be so.
  std::size_t holding(std::uint32_t number, MemberStatus status) const {
    std::size_t count = 0;
    for (const auto& [name, node] : nodes_) {
      const Member* member = node->members().get(id(number));
      if (member != nullptr && member->status == status) ++count;
    }
    return count;
  }
  bool all_know_all() const {
    for (const auto& [name, node] : nodes_) {
      if (node->members().count(MemberStatus::kAlive) + 1 != nodes_.size()) return false;
    }
    return true;
  }

  // After calling a node directly.
  void drain(Swim& node) {
    SwimEffects effects = node.take();
    for (const SwimEvent& event : effects.events) saw(node.id(), event);
    for (SwimSend& send : effects.sends) {
      longest_datagram = std::max(longest_datagram, send.channel == SwimChannel::kDatagram ? send.bytes.size() : 0);
      const auto home = homes_.find(send.to);
      if (home == homes_.end()) continue;
      if (lost({node.id(), home->second, send.channel, &send.bytes})) continue;
      flights_.emplace(std::pair(now_ + delay, flown_++),
                       Flight{node.id(), node.address(), send.to, send.channel, std::move(send.bytes)});
    }
  }

  std::size_t longest_datagram = 0;

 private:
  struct Flight {
    base::NodeId sender;
    Endpoint from, to;
    SwimChannel channel;
    std::string bytes;
  };

  bool step(base::Instant end) {
    base::NodeId due = base::kNoNode;
    base::Instant at = flights_.empty() ? base::kNever : flights_.begin()->first.first;
    for (const auto& [name, node] : nodes_) {
      if (!paused_.contains(name) && node->deadline() < at) {
        at = node->deadline();
        due = name;
      }
    }
    if (at > end) return false;
    now_ = std::max(now_, at);
    if (due != base::kNoNode) {
      wake_due(due);
    } else {
      const Flight flight = std::move(flights_.begin()->second);
      flights_.erase(flights_.begin());
      deliver(flight);
    }
    return true;
  }

  void wake_due(base::NodeId name) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return;
    found->second->wake(now_);
    drain(*found->second);
  }

  void deliver(const Flight& flight) {
    const auto home = homes_.find(flight.to);
    if (home == homes_.end()) return;
    if (paused_.contains(home->second)) {
      kept_[home->second].push_back(flight);
      return;
    }
    const auto found = nodes_.find(home->second);
    if (found == nodes_.end()) return;
    delivered({flight.sender, home->second, flight.channel, &flight.bytes});
    found->second->receive(flight.sender, flight.from, flight.channel, flight.bytes, now_);
    drain(*found->second);
  }

  SwimOptions options_;
  base::Random random_;
  base::Instant now_{std::chrono::hours(1)};
  std::map<base::NodeId, std::unique_ptr<Swim>> nodes_;
  std::map<Endpoint, base::NodeId> homes_;
  std::set<base::NodeId> paused_;
  std::map<base::NodeId, std::vector<Flight>> kept_;
  std::map<std::pair<base::Instant, std::uint64_t>, Flight> flights_;
  std::uint64_t flown_ = 0;
};

}  // namespace muster::cores
