// A Raft group under load: nodes that run the real core, clients that propose, read, change members and hand leadership
// over, and the oracle. Scenarios differ in their setup and in a script that does what a fault plan cannot aim at.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sim/injector.h"
#include "sim/raft_oracle.h"
#include "sim/raft_process.h"
#include "sim/world.h"

namespace muster::sim {

class RaftWorld;

struct RaftSetup {
  std::uint32_t voters = 3;
  std::uint32_t spares = 0;  // nodes that are no members at first
  cores::RaftOptions raft;
  std::size_t state_bytes = 200;
  std::size_t command_bytes = 64;  // at most

  // Mean times between what clients do; zero: never.
  base::Duration propose{std::chrono::milliseconds(10)};
  base::Duration read{};
  base::Duration change{};
  base::Duration transfer{};
  base::Duration compact{};

  bool chained = false;  // every answer to a proposal brings the next one, within the same turn
  bool everybody_heals = false;
  std::function<void(RaftWorld&)> script;  // when the group is started
  std::function<void(RaftWorld&)> finish;  // at the end, beside the oracles of every scenario
};

class RaftWorld final : public World {
 public:
  explicit RaftWorld(RaftSetup setup) : setup_(std::move(setup)) {}

  void begin(Kernel& kernel) override;
  std::unique_ptr<Process> boot(base::NodeId node) override;
  void observe(base::NodeId node) override;
  void went_down(base::NodeId node) override { oracle_->went_down(node); }
  std::vector<base::NodeId> healthy_core(base::Random& random) override;
  void heal(const std::vector<base::NodeId>& core) override;
  bool settled() override;
  void end() override;
  base::NodeId target(base::Random& random) override;
  void overload(base::NodeId node, base::Duration length) override;
  std::string describe(Channel channel, std::string_view bytes) override;

  // --- for scripts ---
  Kernel& kernel() { return *kernel_; }
  Injector& injector() { return *injector_; }  // faults of a script, beside those of the plan
  RaftOracle& oracle() { return *oracle_; }
  const RaftSetup& setup() const { return setup_; }
  bool healing() const { return healing_; }
  const std::vector<base::NodeId>& founders() const { return founders_; }
  const cores::Raft* raft(base::NodeId node) const;  // null while it is down
  base::NodeId leader() const;                       // of the latest term; nobody if none leads
  base::NodeId anybody();                            // one of the nodes
  base::NodeId voter_beside(base::NodeId node);
  void every(base::Duration mean, std::function<void()> action);  // until the second phase begins
  void propose(base::NodeId node, std::uint32_t count = 1);
  void read(base::NodeId node);
  void change(base::NodeId node, const cores::RaftChange& change);
  void transfer(base::NodeId node, base::NodeId to);
  void compact(base::NodeId node);
  void isolate(base::NodeId node, base::Duration length);
  // A message from another node's hand, past that node's own core.
  void forge(base::NodeId from, base::NodeId to, const cores::RaftMessage& message);
  void crash_for(base::NodeId node, base::Duration length);
  // Calls back once a node leads in a term beyond this one, with the time that it took; gives up at the bound.
  void await_leader(cores::RaftTerm beyond, base::Duration bound, std::function<void(base::Duration)> found,
                    std::function<void()> missed);

 private:
  RaftProcess* node(base::NodeId name) const { return static_cast<RaftProcess*>(kernel_->process(name)); }
  void ask(base::NodeId name, std::function<void(RaftProcess&, Host&)> what);
  void act_often(base::Duration mean, bool also_healed, std::function<void()> action);
  void change_somebody();
  base::NodeId addressee();
  void check_settled();
  void check_answered();

  RaftSetup setup_;
  std::unique_ptr<RaftOracle> oracle_;
  std::unique_ptr<Injector> injector_;
  RaftProcess::OnAnswer on_answer_;
  std::vector<base::NodeId> founders_;
  std::vector<base::NodeId> core_;
  std::uint64_t operations_ = 0;
  bool healing_ = false;
  base::Duration healed_at_{};
  std::uint64_t acknowledged_before_ = 0;
  cores::RaftIndex committed_before_ = 0;
  cores::RaftIndex goal_ = 0;  // what all of the core must have applied in the end
};

}  // namespace muster::sim
