// For tests: a small datacenter in memory and in virtual time, of managers, workers and one client, with a log that
// stands in for Raft, disks, executors and a network that can lose, delay and cut. It watches that no part ever runs
// twice at once, that no worker runs more than its cores, and that equal logs give equal ledgers. The implementation is
// in world_test.cpp.
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
#include "cluster/manager.h"
#include "cluster/worker.h"

namespace muster::cluster {

// 256 bits that differ for different bytes: enough for tests.
BodyHash test_hash(std::string_view bytes);

struct WorldOptions {
  std::uint64_t seed = 1;
  std::size_t managers = 3;
  std::size_t workers = 3;
  std::uint32_t cores = 4;
  double loss = 0;
  base::Duration run = std::chrono::seconds(5);  // of a part
};

class World {
 public:
  explicit World(const WorldOptions& options);

  base::Instant now() const { return now_; }
  void run_for(base::Duration span);
  // Whether it came true in time.
  bool run_until(const std::function<bool()>& holds, base::Duration limit);

  // The client: submits until answered; ends are acknowledged unless it is told to be deaf.
  JobId submit(const JobOutline& outline);
  void cancel(JobId job);
  bool deaf = false;
  std::map<JobId, SubmitAnswer> answers;
  std::map<JobId, JobEnd> ends;
  std::map<JobId, CancelAnswer> cancelled;

  static NodeId manager_id(std::size_t i) { return NodeId{1 + i}; }
  static NodeId worker_id(std::size_t i) { return NodeId{101 + i}; }
  static constexpr NodeId kClientId{900};

  void crash(NodeId node);
  void restart(NodeId node);
  // Loses its links to everybody, or has them again.
  void cut(NodeId node);
  void heal(NodeId node);
  void lose(double share) { options_.loss = share; }
  // Executors of this worker show no sign of life any more and obey only a kill.
  void hang(NodeId worker) { nodes_.at(worker).hung = true; }
  void unhang(NodeId worker) { nodes_.at(worker).hung = false; }
  // Its disk takes nothing any more.
  void fill_disk(NodeId node) { nodes_.at(node).full = true; }

  Manager& manager(std::size_t i) { return *nodes_.at(manager_id(i)).manager; }
  Worker& worker(std::size_t i) { return *nodes_.at(worker_id(i)).worker; }
  // Of a manager that is up and has seen everything.
  const Ledger& ledger();
  NodeId leader_of(JobId job) { return ledger().job(job)->owner.node; }

  std::size_t running() const;  // executors
  std::size_t started = 0;      // executors, ever
  std::size_t committed() const { return log_.size(); }
  bool all_cores_free();
  std::map<Noted, std::size_t> noted;
  // What must never be; empty if all is well.
  std::vector<std::string> broken;

 private:
  struct Executor {
    Slice slice;
    base::Instant ends{};
    std::uint64_t beat = 0;
    bool stopping = false;
  };
  struct Node {
    bool is_manager = false;
    bool up = true;
    bool cut = false;
    bool hung = false;
    bool full = false;
    std::uint64_t life = 1;
    base::Instant cut_since{};
    std::optional<Manager> manager;
    std::optional<Worker> worker;
    std::map<BodyHash, std::string> disk;
    std::map<std::pair<PartId, Fence>, Executor> executors;
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
  void start(NodeId id);
  LogStanding standing_of(NodeId id) const;
  void choose_leader();
  void commit(const std::string& entry);
  void apply_all(NodeId id);
  void check_ledger(const Node& node);
  // Calls a brain, then carries out what it asks.
  void call(NodeId id, const std::function<void(Node&)>& what);
  void carry_out(NodeId id, Effects effects);
  void arm(NodeId id);
  void send(NodeId from, NodeId to, const Message& message);
  void client_receives(NodeId from, const Message& message);
  void ask_again(JobId job);
  void store(NodeId id, const StoreBody& effect);
  void read(NodeId id, const ReadBody& effect);
  void start_executor(NodeId id, const StartExecutor& effect);
  void stop_executor(NodeId id, const StopExecutor& effect);
  void executor_beats(NodeId id, std::uint64_t life, std::pair<PartId, Fence> key);
  void executor_ends(NodeId id, const std::pair<PartId, Fence>& key, std::optional<PartOutcome> outcome);
  void tell_membership(NodeId about, Liveness liveness, base::Duration wait);
  NodeId some_manager();

  WorldOptions options_;
  base::Random random_;
  base::Instant now_{std::chrono::hours(1)};
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
  std::map<NodeId, Node> nodes_;
  std::vector<std::string> log_;
  std::vector<base::Instant> committed_at_;
  std::map<std::size_t, std::uint64_t> digests_;  // by entries applied
  NodeId leader_ = kNoNode;
  std::uint64_t term_ = 0;
  std::map<JobId, Submit> submits_;
  std::map<BodyHash, std::string> bundles_;
  std::uint64_t next_job_ = 1000;
};

}  // namespace muster::cluster
