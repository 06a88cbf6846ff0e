// For tests: gates, a client and datacenters in memory and in virtual time, with a log that stands in for Raft, disks,
// and a network that can lose, delay and cut; datacenters only pretend to run jobs. It watches that no two gates hold a
// lease at once, that no datacenter is told anything under a superseded epoch, that equal logs give equal ledgers, that
// totals shown never fall and no result is shown twice. The implementation is in gate_world_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "cluster/client.h"
#include "cluster/gate.h"
#include "cluster/world.h"

namespace muster::cluster {

struct GateWorldOptions {
  std::uint64_t seed = 1;
  std::size_t gates = 3;
  std::vector<std::string> datacenters = {"east", "west"};
  double loss = 0;
  base::Duration run = std::chrono::seconds(5);  // of a job at a datacenter
};

class GateWorld {
 public:
  explicit GateWorld(const GateWorldOptions& options);

  base::Instant now() const { return now_; }
  void run_for(base::Duration span);
  bool run_until(const std::function<bool()>& holds, base::Duration limit);

  // The client.
  JobId submit(std::vector<std::string> datacenters, std::uint32_t count = 0, bool reroute = false);
  void with_client(const std::function<void(Client&)>& what);
  Client& client() { return *client_; }
  const ClientAnswer* answer(JobId job, ClientAnswer::About about) const;  // the last one
  std::vector<ClientAnswer> answers;
  std::map<JobId, std::vector<WorkflowEnded>> results;
  std::map<JobId, JobEnd> ends;
  std::map<JobId, std::uint64_t> shown;  // iterations
  std::map<JobId, std::uint64_t> shown_as_lost;
  std::optional<std::vector<Datacenter>> listed;
  std::set<BodyHash> fetched;
  std::size_t updates = 0;

  // Gates.
  static NodeId gate_id(std::size_t i) { return NodeId{301 + i}; }
  Gate& gate(std::size_t i) { return *gates_.at(gate_id(i)).brain; }
  const GateLedger& ledger() const { return truth_; }
  std::size_t owner_of(JobId job) const;  // its number
  void crash(NodeId gate);
  void restart(NodeId gate);
  void cut(NodeId node);  // any
  void heal(NodeId node);
  void pause(NodeId gate, base::Duration span);  // it does nothing, and then goes on as if nothing had been
  void drain(NodeId gate);
  void lose(double share) { options_.loss = share; }

  // Datacenters.
  static constexpr NodeId kClientNode{900};
  NodeId manager_id(const std::string& datacenter, std::size_t i) const;
  void cut_datacenter(const std::string& name);
  void heal_datacenter(const std::string& name);
  struct Place {
    bool full = false;  // says that its queue is
    bool deaf = false;  // answers nothing, though its managers are seen to live
    bool cut = false;
    std::uint32_t free_cores = 8;
    struct Run {
      ClientId client{};
      NodeId origin = kNoNode;
      std::uint64_t origin_epoch = 0;
      BodyRef bundle;
      bool running = false;
      bool forgotten = false;
      bool acknowledged = false;
      std::uint64_t iterations = 0;
      std::optional<JobState> end;
      std::vector<NodeId> cancellers;
    };
    std::map<JobId, Run> runs;
  };
  Place& place(const std::string& name) { return places_.at(name); }
  std::size_t begun(JobId job) const;  // runs of the job at all datacenters

  std::map<Noted, std::size_t> noted;
  std::vector<std::string> broken;  // what must never be

 private:
  struct Node {
    std::optional<Gate> brain;
    bool up = true;
    bool cut = false;
    std::uint64_t life = 1;
    base::Instant cut_since{};
    base::Instant paused_until{};
    std::map<BodyHash, std::string> disk;
    std::size_t applied = 0;
    base::Instant armed = base::kNever;
  };
  struct Event {
    base::Instant at{};
    std::uint64_t order = 0;
    std::function<void()> act;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void at(base::Instant when, std::function<void()> act);
  void after(base::Duration wait, std::function<void()> act) { at(now_ + wait, std::move(act)); }
  base::Duration some(int least_ms, int most_ms);
  bool gone(NodeId node) const;  // cut or down
  void start(NodeId id);
  LogStanding standing_of(NodeId id) const;
  void choose_leader();
  void commit(const std::string& entry);
  void apply_all(NodeId id);
  void call(NodeId id, const std::function<void(Gate&)>& what);
  void carry_out(NodeId id, Effects effects);
  void arm(NodeId id);
  void arm_client();
  void check(NodeId id, const Message& message);
  void check_leases();
  void send(NodeId from, NodeId to, const Message& message);
  void deliver(NodeId from, NodeId to, const Message& message);
  void tell_gates(NodeId about, bool alive, base::Duration wait);
  void tell_managers();
  void update(const ClientUpdate& update);
  void on(const std::string& name, NodeId self, NodeId from, const Submit& message);
  void on(const std::string& name, NodeId self, NodeId from, const StatusAsk& message);
  void on(const std::string& name, NodeId self, NodeId from, const Cancel& message);
  void on(const std::string& name, NodeId self, NodeId from, const BodyWanted& message);
  void on(const std::string& name, NodeId self, NodeId from, const BodyPiece& message);
  void on(const std::string& name, NodeId self, NodeId from, const GateAnnounce& message);
  void on(const std::string& name, NodeId self, NodeId from, const OwnerIs& message);
  void on(const std::string& name, NodeId self, NodeId from, const EndAck& message);
  template <class Other>
  void on(const std::string&, NodeId, NodeId, const Other&) {}
  void announce(const std::string& name, JobId job, NodeId gate, std::uint64_t epoch);
  void begin_run(const std::string& name, NodeId self, JobId job, NodeId from);
  void run_goes_on(const std::string& name, JobId job);
  void run_ends(const std::string& name, JobId job, JobState state);
  void push_end(const std::string& name, JobId job, int times);
  JobEnd end_of_run(const std::string& name, JobId job) const;
  std::string result_bytes(const std::string& name, JobId job) const;

  GateWorldOptions options_;
  base::Random random_;
  base::Instant now_{std::chrono::hours(1)};
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::map<NodeId, Node> gates_;
  std::map<std::string, Place> places_;
  std::map<NodeId, std::string> home_;  // of managers
  std::set<NodeId> cut_;                // others than gates
  std::optional<Client> client_;
  base::Instant client_armed_ = base::kNever;
  std::vector<std::string> log_;
  GateLedger truth_;  // all that is committed
  std::map<std::size_t, std::uint64_t> digests_;
  NodeId leader_ = kNoNode;
  std::uint64_t term_ = 0;
  std::uint64_t next_job_ = 1000;
};

}  // namespace muster::cluster
