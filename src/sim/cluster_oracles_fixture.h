// For tests: the oracles of the whole cluster with a ledger of managers and one of gates, to be shown what must not
// happen.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster/context.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_status.h"
#include "cluster/job_status.h"
#include "sim/cluster_oracle_log.h"
#include "sim/cluster_oracle_resources.h"
#include "sim/cluster_oracle_runs.h"
#include "sim/cluster_oracle_talk.h"
#include "sim/cluster_program.h"
#include "sim/cluster_user.h"
#include "sim/nobody_fixture.h"

namespace muster::sim {

using cluster::Fence;
using cluster::JobId;
using cluster::Life;
using cluster::PartId;

inline constexpr base::NodeId kGate{1};
inline constexpr base::NodeId kManager{101};
inline constexpr base::NodeId kWorker{111};
inline constexpr base::NodeId kOther{112};
inline constexpr base::NodeId kClient{11};
inline constexpr JobId kJob{1001};
inline constexpr cluster::Process kOwner{kManager, Life{1}};
inline constexpr cluster::Process kSuccessor{base::NodeId{102}, Life{1}};
inline constexpr cluster::Process kGateOwner{kGate, Life{1}};
inline const std::vector<base::NodeId> kManagers = {kManager, base::NodeId{102}, base::NodeId{103}};
inline const std::vector<base::NodeId> kGates = {kGate, base::NodeId{2}, base::NodeId{3}};

class ClusterOracles : public testing::Test {
 protected:
  ClusterOracles() {
    for (const auto& group : {kGates, kManagers, {kWorker, kOther}})
      for (const base::NodeId node : group) kernel_.add(node);
  }

  std::string broken() {
    const auto& violation = kernel_.record().violation;
    return violation ? violation->invariant : "";
  }
  cluster::StartExecutor order(std::uint32_t part, Fence fence, std::vector<std::uint32_t> cores) {
    cluster::StartExecutor made;
    made.part = {kJob, 0, part};
    made.fence = fence;
    made.slice = {0, static_cast<std::uint32_t>(cores.size()), 4};
    made.cores = std::move(cores);
    return made;
  }
  // The ledger and the account take the same entry.
  void commit(const cluster::Command& command) { commit(command, command); }
  // The ledger does another thing than it was told.
  void commit(cluster::Command told, cluster::Command done) {
    ++index_;
    ledger_.apply(index_, {kOwner, index_, std::move(done)});
    log_.committed(0, index_, {kOwner, index_, std::move(told)}, ledger_, kManagers);
  }
  void commit_at_gates(const cluster::GateCommand& command) { commit_at_gates(command, command); }
  void commit_at_gates(cluster::GateCommand told, cluster::GateCommand done) {
    ++gate_index_;
    gate_ledger_.apply(gate_index_, {kGateOwner, gate_index_, std::move(done)});
    log_.committed(gate_index_, {kGateOwner, gate_index_, std::move(told)}, gate_ledger_, kGates);
  }
  void keep_everywhere(const cluster::BodyHash& hash) {
    for (const std::uint64_t node : {1u, 2u, 3u, 101u, 102u, 103u}) log_.kept(base::NodeId{node}, hash);
  }
  // The job has cores for its first part.
  void provision() { provision(accepted()); }
  void provision(const cluster::JobAccepted& job) {
    keep_everywhere(hash_body("bundle"));
    keep_everywhere(hash_body("result"));
    commit(job);
    commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
    commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 1}}});
  }
  // Its executor has ended so.
  cluster::ResultHeld result(cluster::PartOutcome outcome = cluster::PartOutcome::kCompleted) {
    runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
    cluster::ExecutorEnd end;
    end.part = {kJob, 0, 0};
    end.fence = {1, 1};
    end.outcome = outcome;
    end.counts = counts_of(kJob, 0, {0, 4, 4});
    runs_.ended(kWorker, end, hash_body("result"));
    return {end.part, end.fence, *end.outcome, {hash_body("result"), 6}, end.counts, ""};
  }
  // The first part of the job's next workflow begins with this context.
  cluster::StartExecutor of_next_layer(std::string context) {
    cluster::StartExecutor next = order(0, {1, 1}, {0});
    next.part = {kJob, 1, 0};
    next.context = std::move(context);
    return next;
  }
  static std::string context(std::uint32_t workflow, std::string value) {
    model::Provided provided;
    provided.key = kToken;
    provided.values = {std::move(value)};
    cluster::LayerValues values;
    values.add(workflow, {provided});
    std::string bytes;
    cluster::encode(values, bytes);
    return bytes;
  }
  // The gates have the job and offer it to the first datacenter.
  void submit_at_gates() { submit_at_gates(accepted()); }
  void submit_at_gates(const cluster::JobAccepted& job) {
    keep_everywhere(hash_body("bundle"));
    commit_at_gates(cluster::JobSubmitted{
        kJob, job.client, {kGate, Life{1}}, cluster::RenewalId{1}, job.bundle, job.outline, {"east"}, 0, false});
    commit_at_gates(cluster::SlotOffered{{kJob, 1, 0, 1}, "east", false});
  }
  static cluster::SlotEnded run_ended(cluster::JobState state) { return {{kJob, 1, 0, 1}, state, "", {}}; }
  // A job of one workflow completes in the first datacenter, and the gates know that it runs there.
  void complete_in_east() {
    provision(of_one_workflow());
    commit(result());
    commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCompleted, ""});
    submit_at_gates(of_one_workflow());
  }
  // What came of its workflow, as that datacenter tells it.
  cluster::WorkflowReceived received() { return {{kJob, 1, 0, 1}, cluster::status_of(*ledger_.job(kJob), 0)}; }
  // The gates hear of it: what its user is to be told.
  cluster::ClientUpdate completed() {
    complete_in_east();
    commit_at_gates(received());
    commit_at_gates(run_ended(cluster::JobState::kCompleted));
    const cluster::GateLedgerJob& job = *gate_ledger_.job(kJob);
    cluster::ClientUpdate update;
    update.results.push_back(cluster::result_of(kJob, job, 0));
    update.ends.push_back(cluster::end_message(kJob, job));
    return update;
  }
  cluster::JobAccepted of_one_workflow() {
    cluster::JobAccepted command = accepted();
    command.outline.workflows.resize(1);
    return command;
  }
  cluster::JobAccepted accepted() {
    cluster::JobAccepted command;
    command.job = kJob;
    command.client = cluster::ClientId{7};
    command.origin = kClient;
    command.owner = kOwner;
    command.bundle = {hash_body("bundle"), 6};
    command.outline.name = "job";
    cluster::WorkflowOutline first;
    first.name = "first";
    cluster::WorkflowOutline second;
    second.name = "second";
    second.depends = {0};
    command.outline.workflows = {first, second};
    return command;
  }

  Nobody world_;
  Kernel kernel_{1, world_, {}};
  ClusterSetup setup_;
  ClusterRuns runs_{kernel_, setup_};
  ClusterLog log_{kernel_, setup_, runs_};
  ClusterTalk talk_{kernel_, log_};
  cluster::Ledger ledger_;
  std::uint64_t index_ = 0;
  cluster::GateLedger gate_ledger_;
  std::uint64_t gate_index_ = 0;
};

}  // namespace muster::sim
