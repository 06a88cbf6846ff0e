// An account of what the logs of a cluster decided, kept beside their ledgers: who holds how many cores, which attempts
// were provisioned, which results counted, which layers are closed, who leads under which epoch. Told every entry when
// it is applied for the first time anywhere, with the ledger that came of it; tells what contradicts the account or the
// truth about executors. Knows on whose disks bodies are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/commands.h"
#include "cluster/gate_ledger.h"
#include "cluster/ledger.h"
#include "sim/cluster_oracle_runs.h"

namespace muster::sim {

class ClusterLog {
 public:
  ClusterLog(Kernel& kernel, const ClusterSetup& setup, const ClusterRuns& runs)
      : kernel_(&kernel), setup_(setup), runs_(&runs) {}

  // `voters`: who counts for a majority.
  void committed(std::uint32_t datacenter, std::uint64_t index, const cluster::Entry& entry,
                 const cluster::Ledger& after, const std::vector<base::NodeId>& voters);
  void committed(std::uint64_t index, const cluster::GateEntry& entry, const cluster::GateLedger& after,
                 const std::vector<base::NodeId>& voters);

  // A proposal leaves its proposer, perhaps not for the first time.
  void proposed(const cluster::Entry& entry, const std::vector<base::NodeId>& voters);
  void proposed(const cluster::GateEntry& entry, const std::vector<base::NodeId>& voters);

  // --- bodies on disks ---
  // `named`: by the ledger of the node itself.
  void drops(base::NodeId node, const cluster::BodyHash& body, bool named);
  void kept(base::NodeId node, const cluster::BodyHash& body) { bodies_[node].insert(body); }
  void dropped(base::NodeId node, const cluster::BodyHash& body) { bodies_[node].erase(body); }
  void found(base::NodeId node, std::set<cluster::BodyHash> bodies) { bodies_[node] = std::move(bodies); }
  bool keeps(base::NodeId node, const cluster::BodyHash& body) const;

  // --- questions of other oracles ---
  bool accepted(std::uint32_t datacenter, cluster::JobId job) const { return places_[datacenter].jobs.contains(job); }
  bool submitted(cluster::JobId job) const { return gate_jobs_.contains(job); }
  bool provisioned(std::uint32_t datacenter, const cluster::PartId& part, const cluster::Fence& fence) const;
  std::uint64_t epoch(std::uint32_t datacenter, cluster::JobId job) const;
  std::uint64_t gate_epoch(cluster::JobId job) const;
  bool ended_at_gates(cluster::JobId job) const;
  bool ended(std::uint32_t datacenter, cluster::JobId job) const;
  // When its cancellation was committed there, if it was.
  std::optional<base::Duration> cancelled(std::uint32_t datacenter, cluster::JobId job) const;
  // Whether the layer may run: the one before it is closed.
  bool open(std::uint32_t datacenter, cluster::JobId job, std::uint32_t workflow) const;
  const std::set<cluster::JobId>& gate_jobs() const { return open_gate_jobs_; }  // that have not ended
  // Jobs that some datacenter has accepted and not ended.
  std::vector<std::pair<std::uint32_t, cluster::JobId>> unended() const;
  std::uint64_t cores_held() const;

 private:
  struct Job {
    std::uint64_t accepted = 0;
    std::uint64_t epoch = 1;
    std::vector<std::uint32_t> layers;  // of its workflows
    std::uint32_t closed = 0;           // layers
    std::vector<cluster::WorkflowState> states;
    std::optional<cluster::JobState> end;
    bool cancelled = false;
    base::Duration cancelled_at{};
    bool forgotten = false;
  };
  struct Worker {
    cluster::Life life{};
    bool admitted = false;
  };
  struct Place {
    std::map<cluster::JobId, Job> jobs;
    std::map<cluster::PartId, cluster::Fence> issued;  // the highest of each part
    std::map<cluster::PartId, std::pair<cluster::Process, std::uint32_t>> held;
    std::map<cluster::Process, std::uint32_t> used;
    std::map<cluster::PartId, cluster::Counts> counted;
    std::map<base::NodeId, Worker> workers;
  };
  struct GateJob {
    std::uint64_t submitted = 0;
    std::uint64_t epoch = 1;
    std::optional<cluster::JobState> end;
  };
  struct Effect;

  void free(Place& place, const cluster::PartId& part);
  void check_job(std::uint32_t datacenter, cluster::JobId id, const cluster::Ledger& after);
  std::size_t holders(const cluster::BodyRef& body, const std::vector<base::NodeId>& voters) const;
  void check_body(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters);
  void check_proposed(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters);
  void check_failure(std::uint32_t datacenter, cluster::JobId id, const cluster::LedgerJob& job);

  Kernel* kernel_;
  const ClusterSetup setup_;
  const ClusterRuns* runs_;
  Place places_[2];
  std::map<cluster::JobId, GateJob> gate_jobs_;
  std::set<cluster::JobId> open_gate_jobs_;  // those of gate_jobs_ without an end
  std::map<base::NodeId, std::set<cluster::BodyHash>> bodies_;
  std::map<cluster::Process, std::uint64_t> proposed_;  // the last sequence of each proposer
};

}  // namespace muster::sim
