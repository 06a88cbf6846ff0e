// An account of what the logs of a cluster decided, kept beside their ledgers: who holds how many cores, which attempts
// were provisioned, which results counted, which layers are closed, who leads under which epoch. Told every entry when
// it is applied for the first time anywhere, with the ledger that came of it; tells what contradicts the account or the
// truth about executors. Knows on whose disks bodies are.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/commands.h"
#include "cluster/gate_ledger.h"
#include "cluster/ledger.h"
#include "sim/cluster_oracle_runs.h"

namespace muster::sim {

// The job that a command is about, if any.
cluster::JobId job_of(const cluster::Command& command);
// Of what a job's leader decides; 0 for everything else.
std::uint64_t epoch_of(const cluster::Command& command);

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

  // A worker starts an executor.
  void starts(base::NodeId worker, const cluster::StartExecutor& order);
  // It takes cores for it, which the log must have given it for this very attempt, and not taken back.
  void claims(base::NodeId worker, const cluster::StartExecutor& order);

  // --- bodies on disks ---
  // A manager or gate is about to drop it. `named`: by the ledger of the node itself.
  void drops(base::NodeId node, const cluster::BodyHash& body, bool named);
  void kept(base::NodeId node, const cluster::BodyHash& body) { bodies_[node].insert(body); }
  void dropped(base::NodeId node, const cluster::BodyHash& body) { bodies_[node].erase(body); }
  void found(base::NodeId node, std::set<cluster::BodyHash> bodies) { bodies_[node] = std::move(bodies); }
  bool keeps(base::NodeId node, const cluster::BodyHash& body) const;

  // Whoever asked this manager or gate for a job tells it that its end has come.
  void taken(base::NodeId by, cluster::JobId job);

  // --- questions of other oracles ---
  bool accepted(std::uint32_t datacenter, cluster::JobId job) const { return places_[datacenter].jobs.contains(job); }
  bool submitted(cluster::JobId job) const { return gate_jobs_.contains(job); }
  // The worker that this very fence was issued for, with how many of its cores; null if it never was.
  const std::pair<cluster::Process, std::uint32_t>* provision(std::uint32_t datacenter, const cluster::PartId& part,
                                                              const cluster::Fence& fence) const;
  // Whether the log gives this worker cores for this very attempt.
  bool gives(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& fence) const;
  // What offers to this life of a worker have to say of its admission; 0 if it is out.
  std::uint64_t admission(std::uint32_t datacenter, const cluster::Process& worker) const;
  std::uint64_t epoch(std::uint32_t datacenter, cluster::JobId job) const;
  std::uint64_t gate_epoch(cluster::JobId job) const;
  bool ended_at_gates(cluster::JobId job) const { return end_at_gates(job).has_value(); }
  bool ended(std::uint32_t datacenter, cluster::JobId job) const { return end(datacenter, job).has_value(); }
  std::optional<cluster::JobState> end_at_gates(cluster::JobId job) const;
  std::optional<cluster::JobState> end(std::uint32_t datacenter, cluster::JobId job) const;
  bool cancelled_at_gates(cluster::JobId job) const;
  bool cancelled(std::uint32_t datacenter, cluster::JobId job) const;
  // When it ended at the gates, if it did.
  std::optional<base::Duration> ended_at_gates_at(cluster::JobId job) const;
  bool forgotten_at_gates(cluster::JobId job) const;
  // Ends of workflows that the gates' log has of it, of all datacenters.
  std::size_t results_at_gates(cluster::JobId job) const;
  // When its cancellation was committed there, if it was.
  std::optional<base::Duration> cancelled_at(std::uint32_t datacenter, cluster::JobId job) const;
  // Whether nobody will ever want what this attempt brings: its part is over, or was given to another attempt.
  bool settled(std::uint32_t datacenter, const cluster::PartId& part, const cluster::Fence& fence) const;
  // Whether the gates' log ever offered the job to this datacenter.
  bool offered(cluster::JobId job, const std::string& datacenter) const;
  // Whether the gates still wait for what this datacenter makes of the job.
  bool awaited(cluster::JobId job, const std::string& datacenter) const;
  // What the results held of a workflow count, each once.
  cluster::Counts counted(std::uint32_t datacenter, cluster::JobId job, std::uint32_t workflow) const;
  // What its results left there, in the order of its parts.
  std::vector<cluster::BodyRef> left(std::uint32_t datacenter, cluster::JobId job, std::uint32_t workflow) const;
  // Whether a workflow's end is told with what its results left; gates may give up waiting for it after a long time.
  bool told_whole(std::uint32_t datacenter, cluster::JobId job, const cluster::WorkflowStatus& status) const;
  // Whether the layer may run: the one before it is closed.
  bool open(std::uint32_t datacenter, cluster::JobId job, std::uint32_t workflow) const;
  const std::set<cluster::JobId>& gate_jobs() const { return open_gate_jobs_; }  // that have not ended
  // Jobs that some datacenter has accepted and not ended.
  std::vector<std::pair<std::uint32_t, cluster::JobId>> unended() const;
  std::uint64_t cores_held() const;

 private:
  struct Job {
    std::uint64_t accepted = 0;
    base::Duration accepted_at{};
    cluster::Process owner;
    std::uint64_t epoch = 1;
    std::vector<std::uint32_t> layers;                    // of its workflows
    std::vector<std::optional<base::Duration>> provided;  // when each of them got its first cores
    std::vector<std::vector<std::uint32_t>> depends;
    std::uint32_t closed = 0;                  // layers
    std::optional<base::Duration> layer_over;  // since when the open one is, with all before it
    std::vector<cluster::WorkflowState> states;
    cluster::JobState state = cluster::JobState::kSubmitted;  // that is, never looked at
    std::optional<cluster::JobState> end;
    base::Duration ended_at{};
    bool taken = false;  // the end
    bool cancelled = false;
    base::Duration cancelled_at{};
    std::optional<cluster::JobState> cancelled_as;  // how it is to end then
    bool forgotten = false;
  };
  struct Worker {
    cluster::Life life{};
    bool admitted = false;
    base::Duration since{};       // admitted, or not
    std::uint64_t admission = 0;  // as offers to it have to say
  };
  struct Losses {
    std::size_t counted = 0;  // with its worker, or because it hung
    std::size_t refused = 0;
    std::deque<std::pair<base::Duration, base::NodeId>> refusals;  // the last of them
    std::set<cluster::Process> with;                               // the workers of the counted ones
    base::Duration last{};                                         // of any kind
  };
  struct Place {
    std::map<cluster::JobId, Job> jobs;
    std::map<cluster::PartId, cluster::Fence> issued;                              // the highest of each part
    std::map<ClusterRuns::Key, std::pair<cluster::Process, std::uint32_t>> given;  // with every fence
    std::map<cluster::PartId, std::pair<cluster::Process, std::uint32_t>> held;
    std::map<cluster::Process, std::uint32_t> used;
    std::map<cluster::PartId, cluster::Counts> counted;
    std::map<cluster::PartId, std::pair<cluster::BodyRef, base::Duration>> left;  // by results, and when it was held
    std::set<cluster::PartId> completed;                                          // by a result that is held
    std::map<cluster::PartId, Losses> losses;
    std::set<cluster::PartId> over;  // with a result, or given up for good
    std::map<base::NodeId, Worker> workers;
  };
  struct GateSlot {
    cluster::SlotPhase phase = cluster::SlotPhase::kOpen;
    std::uint32_t offer = 0;
    std::string datacenter;

    bool operator==(const GateSlot&) const = default;
  };
  struct GateJob {
    std::uint64_t submitted = 0;
    cluster::Process owner;
    std::uint64_t epoch = 1;
    std::optional<cluster::JobState> end;
    base::Duration ended_at{};
    bool taken = false;  // the end
    bool cancelled = false;
    bool forgotten = false;
    std::vector<GateSlot> slots;
    std::set<std::string> offered;  // datacenters
    std::size_t results = 0;
  };
  // What the log of a group has named last, whoever knows it, and who votes there.
  struct Named {
    std::vector<cluster::BodyHash> bodies;  // ascending
    std::vector<base::NodeId> voters;
  };
  using Proposal = std::pair<cluster::Process, std::uint64_t>;  // its sequence
  struct Effect;

  // A clock that runs true may say that a limit is over a little early.
  bool lasted(base::Duration since, base::Duration limit) const {
    return kernel_->elapsed() - since >= limit - limit / 50;
  }
  static constexpr std::size_t kMostLosses = 3;
  static constexpr std::size_t kMostRefusals = 5;

  bool hasty(const Losses& losses) const;
  void free(Place& place, const cluster::PartId& part);
  void note_over(Place& place, cluster::JobId id, const cluster::LedgerJob& job);
  void check_job(std::uint32_t datacenter, cluster::JobId id, const cluster::Ledger& after);
  void check_renewals(const cluster::LeasesRenewed& command, const cluster::GateLedger& after);
  // `acts_under`: the epoch of the command, if it is an owner's.
  void check_gate_job(cluster::JobId id, const cluster::GateLedgerJob& job, std::optional<std::uint64_t> acts_under);
  // A gate tells the gates' log what a datacenter told it of the job's end.
  void check_run_end(cluster::JobId id, const cluster::GateLedgerJob& job, std::uint32_t slot);
  Named& named_by(base::NodeId node);
  std::size_t holders(const cluster::BodyHash& body, const std::vector<base::NodeId>& voters) const;
  bool excused(const std::vector<base::NodeId>& voters) const;
  bool sent_as_before(const Proposal& proposal, const std::vector<base::NodeId>& voters);
  void check_body(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters,
                  const Proposal& proposal);
  void check_proposed(const char* what, const cluster::BodyRef& body, const std::vector<base::NodeId>& voters);
  // What is wrong with the context that a part is given; empty if it is what the workflows that it depends on provided.
  std::string fault_of_context(const Place& place, const cluster::PartId& part, std::string_view context) const;
  void check_failure(std::uint32_t datacenter, cluster::JobId id, const cluster::LedgerJob& job);
  void check_given_up(std::uint32_t datacenter, const cluster::CancelRequested& command, const cluster::LedgerJob& job);

  Kernel* kernel_;
  const ClusterSetup setup_;
  const ClusterRuns* runs_;
  Place places_[2];
  std::map<cluster::JobId, GateJob> gate_jobs_;
  std::set<cluster::JobId> open_gate_jobs_;  // those of gate_jobs_ without an end
  std::map<base::NodeId, std::set<cluster::BodyHash>> bodies_;
  Named named_[2];
  Named named_by_gates_;
  std::map<Proposal, std::vector<base::NodeId>> sent_;  // who voted, as the proposer knew when it was sent last
};

}  // namespace muster::sim
