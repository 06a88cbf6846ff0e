// The simulator's loop: takes events from the agenda one after another, gives them to the processes of the nodes, and
// lets the world look after each. Everything that happens follows from the seed; one kernel is one run, on one thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine.h"
#include "sim/network.h"
#include "sim/options.h"
#include "sim/record.h"
#include "sim/world.h"

namespace muster::sim {

class Kernel {
 public:
  Kernel(std::uint64_t seed, World& world, const KernelOptions& options);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // --- for worlds ---
  void add(base::NodeId node, std::uint32_t site = 0);  // down at first
  void start(base::NodeId node) { restart(node, false); }
  const std::vector<base::NodeId>& nodes() const { return ids_; }
  std::uint32_t site(base::NodeId node) const { return machine(node).site_; }

  base::Instant now() const { return base::Instant(base::Duration(agenda_.now())); }  // true time, from 0
  base::Duration elapsed() const { return base::Duration(agenda_.now()); }
  base::Random& random() { return random_; }  // the world's
  std::uint64_t seed() const { return seed_; }
  void after(base::Duration delay, std::function<void()> action);
  // Asks something of the process in its own turn: a paused or slow node gets to it later, a dead one never does.
  void post(base::NodeId node, std::function<void(Process&, Host&)> call);
  Process* process(base::NodeId node) const { return machine(node).process_.get(); }  // null while it is down
  bool up(base::NodeId node) const { return machine(node).process_ != nullptr; }
  bool halted(base::NodeId node) const { return machine(node).stopped_; }  // down, and by its own will
  bool started(base::NodeId node) const { return machine(node).lives_ > 0; }
  bool paused(base::NodeId node) const { return machine(node).paused_; }
  base::Instant clock_of(base::NodeId node) const { return machine(node).now(); }
  std::string_view contents(base::NodeId node, std::string_view file) const { return machine(node).contents(file); }

  // Ends the run. Only the first violation counts.
  void violate(std::string_view invariant, std::string sentence);
  bool violated() const { return record_.violation.has_value(); }
  void hit(std::string_view counter) { count(counter, 1); }
  void count(std::string_view counter, std::uint64_t by);
  void measure(std::string_view name, double value);
  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    if (options_.trace != Trace::kNone) note(base::kNoNode, fmt::format(format, std::forward<Args>(args)...));
  }

  // --- for faults ---
  Network& network() { return network_; }
  std::uint32_t index(base::NodeId node) const {
    const std::uint64_t name = base::number(node);
    const std::uint32_t known = name < small_names_.size() ? small_names_[name] : kNobody;
    return known != kNobody ? known : index_of_.at(node);
  }
  void crash(base::NodeId node, bool tear = false, bool half_open = false);
  void restart(base::NodeId node, bool moved);  // no effect on a node that is up
  void pause(base::NodeId node);
  void resume(base::NodeId node);
  void slow_down(base::NodeId node, base::Duration service);  // zero makes it healthy again
  void run_clock_at(base::NodeId node, std::int64_t rate);    // of Clock::kTrueRate
  void leap(base::NodeId node, base::Duration monotonic, base::Duration wall);
  DiskTrouble& disk_trouble(base::NodeId node) { return machine(node).disk_.trouble(); }
  void break_resolver(base::NodeId node, bool fails, bool lags);
  void count_fault() { ++record_.faults; }

  // --- for whoever runs it ---
  // Until this much virtual time has passed, a violation is found, or `done` says so; it is asked every 10 ms.
  void run(base::Duration until, const std::function<bool()>& done = {});
  const Record& record();
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  friend class Machine;

  static constexpr std::uint32_t kNobody = ~0u;

  Machine& machine(base::NodeId node) { return *machines_[index(node)]; }
  const Machine& machine(base::NodeId node) const { return *machines_[index(node)]; }

  void step();
  void admit(Machine& machine, Event& event);
  void handle(Machine& machine, Event& event);
  void answer_writes(Machine& machine);
  void settle(Machine& machine);
  void drain(Machine& machine);
  void schedule_drain(Machine& machine);
  bool alarm_due(Machine& machine, const Event& event);
  void schedule_alarm(Machine& machine);
  void feed_disk(Machine& machine);
  void mix_in(const Event& event);
  void note(base::NodeId node, std::string text);
  void note_event(const Machine& machine, const Event& event);

  std::uint64_t seed_;
  World* world_;
  KernelOptions options_;
  Agenda agenda_;
  Network network_;
  base::Random random_;
  base::Random machine_random_;  // draws clocks, disks and crashes
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<base::NodeId> ids_;
  std::unordered_map<base::NodeId, std::uint32_t> index_of_;
  std::vector<std::uint32_t> small_names_;  // the same for names below kSmallNames, by the name
  Record record_;
  std::uint64_t hash_;
  std::int64_t instant_ = 0;  // of the last event, and how many happened at it
  std::uint64_t events_at_instant_ = 0;
  std::deque<std::string> lines_;
};

}  // namespace muster::sim
