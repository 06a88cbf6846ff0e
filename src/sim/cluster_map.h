// Who is who in a simulated cluster, and how it is set up: gates, datacenters with managers, workers and a spare
// manager each, and clients. Names are numbers in fixed ranges, so that a trace can be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/node_id.h"
#include "cluster/gate_options.h"
#include "cluster/options.h"
#include "cores/options.h"
#include "cores/swim_options.h"

namespace muster::sim {

struct ClusterSetup {
  std::uint32_t gates = 3;  // 0: clients talk to the managers of the one datacenter
  std::uint32_t datacenters = 2;
  std::uint32_t managers = 3;
  std::uint32_t spares = 1;  // managers of a datacenter that are no members at first
  std::uint32_t workers = 20;
  std::uint32_t cores = 4;  // of a worker
  std::uint32_t clients = 2;

  cluster::ManagerOptions manager;
  cluster::WorkerOptions worker;
  cluster::GateOptions gate;
  cluster::ClientOptions client;
  cores::RaftOptions raft;
  cores::RaftOptions gate_raft;
  cores::SwimOptions lan;
  cores::SwimOptions wan;
  std::uint64_t snapshot_after = 400;
  // What envelopes refuse as too old. Bodies are kept for longer than whatever names them can be on its way.
  base::Duration oldest_message{std::chrono::minutes(5)};

  base::Duration submit{std::chrono::seconds(7)};  // mean time between two jobs of one client
  base::Duration longest_part{std::chrono::seconds(8)};
  base::Duration longest_first{};  // the same of a job's first workflow; zero: as all
  double trouble = 0.1;            // share of workflows whose program misbehaves
  double cancels = 0.15;
  base::Duration drain{};   // mean time between drains of some node; zero: never
  base::Duration change{};  // mean time between changes of a datacenter's managers; zero: never
  base::Duration lapse{};   // mean time between workers that are held up over the moment in which their contact lapses
  bool everybody_heals = false;
  bool echoes = false;  // orders that were superseded come once more
};

class ClusterMap {
 public:
  enum class Role : std::uint8_t { kGate, kManager, kWorker, kClient };

  explicit ClusterMap(const ClusterSetup& setup);

  const std::vector<base::NodeId>& gates() const { return gates_; }
  const std::vector<base::NodeId>& founders(std::uint32_t datacenter) const { return founders_[datacenter]; }
  const std::vector<base::NodeId>& managers(std::uint32_t datacenter) const { return managers_[datacenter]; }
  const std::vector<base::NodeId>& workers(std::uint32_t datacenter) const { return workers_[datacenter]; }
  const std::vector<base::NodeId>& clients() const { return clients_; }
  std::uint32_t datacenters() const { return static_cast<std::uint32_t>(workers_.size()); }

  static Role role(base::NodeId node);
  static std::uint32_t datacenter(base::NodeId node);  // of a manager or worker
  static std::string name(std::uint32_t datacenter) { return datacenter == 0 ? "east" : "west"; }
  static std::uint32_t datacenter(const std::string& name) { return name == "west" ? 1 : 0; }

 private:
  std::vector<base::NodeId> gates_;
  std::vector<std::vector<base::NodeId>> founders_;
  std::vector<std::vector<base::NodeId>> managers_;
  std::vector<std::vector<base::NodeId>> workers_;
  std::vector<base::NodeId> clients_;
};

}  // namespace muster::sim
