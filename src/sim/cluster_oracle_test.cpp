// The oracles of the whole cluster, shown what must not happen.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cluster/context.h"
#include "cluster/gate_command_codec.h"
#include "sim/cluster_oracle_cancel.h"
#include "sim/cluster_oracle_log.h"
#include "sim/cluster_oracle_resources.h"
#include "sim/cluster_oracle_runs.h"
#include "sim/cluster_oracle_talk.h"
#include "sim/cluster_program.h"
#include "sim/cluster_user.h"

namespace muster::sim {
namespace {

using cluster::Fence;
using cluster::JobId;
using cluster::Life;
using cluster::PartId;

constexpr base::NodeId kGate{1};
constexpr base::NodeId kManager{101};
constexpr base::NodeId kWorker{111};
constexpr base::NodeId kOther{112};
constexpr base::NodeId kClient{11};
constexpr JobId kJob{1001};
constexpr cluster::Process kOwner{kManager, Life{1}};
constexpr cluster::Process kSuccessor{base::NodeId{102}, Life{1}};
constexpr cluster::Process kGateOwner{kGate, Life{1}};
const std::vector<base::NodeId> kManagers = {kManager, base::NodeId{102}, base::NodeId{103}};
const std::vector<base::NodeId> kGates = {kGate, base::NodeId{2}, base::NodeId{3}};

struct Nobody final : World {
  void begin(Kernel&) override {}
  std::unique_ptr<Process> boot(base::NodeId) override { return nullptr; }
};

class ClusterOracles : public testing::Test {
 protected:
  ClusterOracles() {
    for (const base::NodeId node : {kManager, base::NodeId{102}, base::NodeId{103}, kWorker, kOther}) kernel_.add(node);
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
  void provision() {
    keep_everywhere(hash_body("bundle"));
    keep_everywhere(hash_body("result"));
    commit(accepted());
    commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
    commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 1}}});
  }
  // Its executor has ended so.
  cluster::ResultHeld result() {
    runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
    cluster::ExecutorEnd end;
    end.part = {kJob, 0, 0};
    end.fence = {1, 1};
    end.outcome = cluster::PartOutcome::kCompleted;
    end.counts = counts_of(kJob, 0, {0, 4, 4});
    runs_.ended(kWorker, end, hash_body("result"));
    return {end.part, end.fence, *end.outcome, {hash_body("result"), 6}, end.counts, ""};
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
  void submit_at_gates() {
    keep_everywhere(hash_body("bundle"));
    const cluster::JobAccepted job = accepted();
    commit_at_gates(cluster::JobSubmitted{
        kJob, job.client, {kGate, Life{1}}, cluster::RenewalId{1}, job.bundle, job.outline, {"east"}, 0, false});
    commit_at_gates(cluster::SlotOffered{{kJob, 1, 0, 1}, "east", false});
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

TEST_F(ClusterOracles, SeeACoreThatRunsTwoParts) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1}));
  EXPECT_EQ(broken(), "");
  runs_.started(kWorker, 0, order(1, {1, 1}, {1}));
  EXPECT_EQ(broken(), "cores");
}

TEST_F(ClusterOracles, SeeAPartThatRunsTwice) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.started(kOther, 0, order(0, {1, 2}, {0}));
  EXPECT_EQ(broken(), "part-once");
}

TEST_F(ClusterOracles, AllowAPartToRunAgainOnceItsWorkerIsGone) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.went_down(kWorker);
  runs_.started(kOther, 0, order(0, {1, 2}, {0}));
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeASupersededAttempt) {
  runs_.started(kWorker, 0, order(0, {1, 2}, {0}));
  runs_.went_down(kWorker);
  runs_.started(kOther, 0, order(0, {1, 1}, {0}));
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAFenceThatIsStartedTwiceThoughNoClockCanBeTrusted) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.went_down(kWorker);
  runs_.late(kWorker, std::chrono::seconds(9));
  runs_.started(kWorker, 1, order(0, {1, 1}, {0}));
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAProcessThatGoesBackToALowerFenceThoughNoClockCanBeTrusted) {
  runs_.late(kWorker, std::chrono::seconds(9));
  runs_.started(kWorker, 0, order(0, {1, 2}, {0}));
  runs_.started(kOther, 0, order(0, {1, 1}, {0}));
  EXPECT_EQ(broken(), "");
  runs_.started(kWorker, 0, order(0, {1, 0}, {1}));
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAWorkerThatRunsOnWithoutContact) {
  const base::Instant now = kernel_.clock_of(kWorker);
  runs_.contact(kWorker, now - std::chrono::milliseconds(29'999));
  runs_.contact(kWorker, now - std::chrono::seconds(40));
  runs_.thought(kWorker);
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.thought(kWorker);
  EXPECT_EQ(broken(), "");
  runs_.contact(kOther, now - std::chrono::seconds(30));
  runs_.thought(kOther);
  runs_.started(kOther, 0, order(1, {1, 1}, {0}));
  runs_.told_to_stop(kOther, {PartId{kJob, 0, 1}, Fence{1, 1}});
  runs_.thought(kOther);
  EXPECT_EQ(broken(), "");
  runs_.started(kOther, 0, order(2, {1, 1}, {1}));
  runs_.contact(kOther, now);  // too late for what should have stopped by then
  runs_.thought(kOther);
  EXPECT_EQ(broken(), "10");
}

TEST_F(ClusterOracles, SeeAnEpochThatFalls) {
  cluster::Dispatch offer;
  offer.part = {kJob, 0, 0};
  offer.epoch = 2;
  runs_.accepted(kWorker, 0, offer);
  offer.epoch = 1;
  runs_.accepted(kOther, 0, offer);
  runs_.accepted(kWorker, 1, offer);
  EXPECT_EQ(broken(), "");
  offer.epoch = 3;
  runs_.accepted(kWorker, 1, offer);
  offer.part.part = 1;
  offer.epoch = 2;
  runs_.accepted(kWorker, 1, offer);
  EXPECT_EQ(broken(), "7");
}

// Parts wait for their bundle, and then begin in any order.
TEST_F(ClusterOracles, AllowPartsToBeginInAnotherOrderThanTheyWereAccepted) {
  runs_.started(kWorker, 0, order(0, {2, 1}, {0}));
  runs_.started(kWorker, 0, order(1, {1, 1}, {1}));
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeALossUnderASupersededEpoch) {
  provision();
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  const cluster::PartLost late{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kRefused};
  const cluster::PartLost lost{{kJob, 0, 0}, {1, 1}, 2, cluster::Loss::kRefused};
  commit(late);
  EXPECT_EQ(broken(), "");
  commit(late, lost);
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAnEndUnderASupersededEpoch) {
  provision();
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  commit(cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 2, cluster::Loss::kCancelled});
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCancelled, ""});
  EXPECT_EQ(broken(), "");
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCancelled, ""},
         cluster::JobEnded{kJob, 2, cluster::JobState::kCancelled, ""});
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, AllowALeaderToDecideUnderItsOwnEpoch) {
  provision();
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 2, cluster::Loss::kRefused});
  commit(cluster::Provision{kJob, 2, 0, {{0, {kWorker, Life{1}}, 4, 2}}});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeOneEpochForTwoManagers) {
  provision();
  cluster::JobAccepted taken = accepted();
  taken.owner = kSuccessor;
  cluster::Ledger wrong;
  wrong.apply(1, {kOwner, 1, taken});
  ++index_;
  log_.committed(0, index_, {kOwner, index_, cluster::JobOwner{kJob, kSuccessor, 2}}, wrong, kManagers);
  EXPECT_EQ(broken(), "11");
}

TEST_F(ClusterOracles, SeeADecisionUnderASupersededEpochOfTheGates) {
  submit_at_gates();
  commit_at_gates(cluster::LeaseMoved{kJob, 2, cluster::RenewalId{1}, cluster::RenewalId{2}, {kGates[1], Life{1}}});
  commit_at_gates(cluster::SlotAccepted{{kJob, 1, 0, 1}});
  EXPECT_EQ(broken(), "");
  commit_at_gates(cluster::SlotAccepted{{kJob, 1, 0, 1}}, cluster::SlotAccepted{{kJob, 2, 0, 1}});
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeALeaseRenewedUnderASupersededEpoch) {
  submit_at_gates();
  const cluster::Process next{kGates[1], Life{1}};
  commit_at_gates(cluster::LeaseMoved{kJob, 2, cluster::RenewalId{1}, cluster::RenewalId{2}, next});
  commit_at_gates(cluster::LeasesRenewed{kGateOwner, {{kJob, 1, cluster::RenewalId{3}, 0}}});
  commit_at_gates(cluster::LeasesRenewed{next, {{kJob, 2, cluster::RenewalId{4}, 0}}});
  EXPECT_EQ(broken(), "");
  commit_at_gates(cluster::LeasesRenewed{kGateOwner, {{kJob, 1, cluster::RenewalId{5}, 0}}},
                  cluster::LeasesRenewed{next, {{kJob, 2, cluster::RenewalId{5}, 0}}});
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeOneEpochForTwoGates) {
  submit_at_gates();
  const cluster::JobAccepted job = accepted();
  cluster::GateLedger wrong;
  wrong.apply(1, {kGateOwner, 1,
                  cluster::JobSubmitted{kJob,
                                        job.client,
                                        {kGates[1], Life{1}},
                                        cluster::RenewalId{1},
                                        job.bundle,
                                        job.outline,
                                        {"east"},
                                        0,
                                        false}});
  const cluster::LeaseMoved moved{kJob, 2, cluster::RenewalId{1}, cluster::RenewalId{2}, {kGates[1], Life{1}}};
  ++gate_index_;
  log_.committed(gate_index_, {kGateOwner, gate_index_, moved}, wrong, kGates);
  EXPECT_EQ(broken(), "11");
}

TEST_F(ClusterOracles, SeeAContextThatIsNotOfTheWorkflowsThatAPartDependsOn) {
  provision();
  commit(result());
  keep_everywhere(hash_body("context"));
  cluster::StartExecutor next = order(0, {1, 1}, {0});
  next.part = {kJob, 1, 0};
  next.context = context(0, token_of(0, 0));
  commit(cluster::LayerContext{kJob, 1, 0, 1, {hash_body("context"), 7}});
  log_.starts(kWorker, order(0, {1, 1}, {0}));
  log_.starts(kWorker, next);
  EXPECT_EQ(broken(), "");
  next.context = context(1, token_of(1, 0));
  log_.starts(kWorker, next);
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeAContextThatNoResultProvided) {
  provision();
  commit(result());
  keep_everywhere(hash_body("context"));
  commit(cluster::LayerContext{kJob, 1, 0, 1, {hash_body("context"), 7}});
  cluster::StartExecutor next = order(0, {1, 1}, {0});
  next.part = {kJob, 1, 0};
  next.context = context(0, token_of(0, 1));
  log_.starts(kWorker, next);
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeAPartThatLacksItsContext) {
  provision();
  commit(result());
  keep_everywhere(hash_body("context"));
  commit(cluster::LayerContext{kJob, 1, 0, 1, {hash_body("context"), 7}});
  cluster::StartExecutor next = order(0, {1, 1}, {0});
  next.part = {kJob, 1, 0};
  log_.starts(kWorker, next);
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeAWorkerThatTakesAnOlderContext) {
  cluster::Dispatch offer;
  offer.part = {kJob, 2, 0};
  offer.fence = {1, 1};
  offer.context_version = 1;
  runs_.taken_on(kWorker, 0, offer);
  offer.part.workflow = 3;
  offer.context_version = 2;
  runs_.taken_on(kWorker, 0, offer);
  offer.part.workflow = 2;
  offer.context_version = 1;
  runs_.taken_on(kWorker, 0, offer);  // says again what it said before
  EXPECT_EQ(broken(), "");
  offer.part.part = 1;
  runs_.taken_on(kWorker, 0, offer);
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeABundleThatIsOnOneDisk) {
  log_.kept(kManager, hash_body("bundle"));
  commit(accepted());
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeAResultThatNoExecutorGave) {
  keep_everywhere(hash_body("bundle"));
  keep_everywhere(hash_body("result"));
  commit(accepted());
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 1}}});
  EXPECT_EQ(broken(), "");
  cluster::ResultHeld held;
  held.part = {kJob, 0, 0};
  held.fence = {1, 1};
  held.body = {hash_body("result"), 6};
  held.counts = {10, 10, 0};
  commit(held);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ClusterOracles, SeeACancelledJobThatRunsOn) {
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 1}}});
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
  cluster::CancelRequested cancel;
  cancel.job = kJob;
  commit(cancel);
  kernel_.run(kCancelledWithin);
  check_cancelled(kernel_, log_, runs_, {kWorker}, {});
  EXPECT_EQ(broken(), "");
  kernel_.run(2 * kCancelledWithin);
  check_cancelled(kernel_, log_, runs_, {kOther}, {});
  check_cancelled(kernel_, log_, runs_, {kWorker}, kCancelledWithin);
  EXPECT_EQ(broken(), "");
  check_cancelled(kernel_, log_, runs_, {kWorker}, {});
  EXPECT_EQ(broken(), "cancelled");
}

TEST_F(ClusterOracles, SeeADispatchThatNoMajorityKnows) {
  cluster::Dispatch dispatch;
  dispatch.part = {kJob, 0, 0};
  dispatch.fence = {1, 1};
  talk_.leaves(kManager, kWorker, dispatch);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeADispatchThatIsNotAsTheLogProvided) {
  provision();
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kRefused});
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 2}}});
  cluster::Dispatch dispatch;
  dispatch.part = {kJob, 0, 0};
  dispatch.fence = {1, 2};
  dispatch.epoch = 1;
  dispatch.worker_life = Life{1};
  dispatch.slice.cores = 4;
  talk_.leaves(kManager, kWorker, dispatch);
  dispatch.fence = {1, 1};  // a late one is for its worker to refuse
  talk_.leaves(kManager, kWorker, dispatch);
  EXPECT_EQ(broken(), "");
  talk_.leaves(kManager, kOther, dispatch);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeADispatchUnderAFenceBetweenThoseThatTheLogGave) {
  provision();
  cluster::Dispatch dispatch;
  dispatch.part = {kJob, 0, 0};
  dispatch.fence = {1, 0};
  dispatch.worker_life = Life{1};
  dispatch.slice.cores = 4;
  talk_.leaves(kManager, kWorker, dispatch);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeAnAcknowledgementThatNoMajorityKnows) {
  cluster::SubmitAnswer answer;
  answer.job = kJob;
  talk_.leaves(kManager, kClient, answer);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeAJobGivenToADatacenterThatTheLogDidNotOfferItTo) {
  submit_at_gates();
  cluster::Submit submit;
  submit.job = kJob;
  talk_.leaves(kClient, kGate, submit);
  talk_.leaves(kGate, kManager, submit);
  EXPECT_EQ(broken(), "");
  talk_.leaves(kGate, base::NodeId{201}, submit);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeAResultAcknowledgedThatNoMajorityHolds) {
  provision();
  talk_.leaves(kManager, kWorker, cluster::ResultAck{{kJob, 0, 0}, {1, 1}});
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeAResultAcknowledgedOfAnAttemptThatTheLogNeverGave) {
  provision();
  commit(result());
  talk_.leaves(kManager, kWorker, cluster::ResultAck{{kJob, 0, 0}, {1, 2}});
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, AllowAResultToBeAcknowledgedThatIsHeldOrSuperseded) {
  provision();
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kRefused});
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 2}}});
  talk_.leaves(kManager, kWorker, cluster::ResultAck{{kJob, 0, 0}, {1, 1}});
  EXPECT_EQ(broken(), "");
  commit(cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 2}, 1, cluster::Loss::kCancelled});
  talk_.leaves(kManager, kWorker, cluster::ResultAck{{kJob, 0, 0}, {1, 2}});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, AllowAResultToBeAcknowledgedOnceItIsHeld) {
  provision();
  commit(result());
  talk_.leaves(kManager, kWorker, cluster::ResultAck{{kJob, 0, 0}, {1, 1}});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeTheEndOfADatacentersRunAcknowledgedThatNoMajorityHas) {
  submit_at_gates();
  talk_.leaves(kGate, base::NodeId{201}, cluster::EndAck{kJob});
  EXPECT_EQ(broken(), "");
  talk_.leaves(kGate, kManager, cluster::EndAck{kJob});
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, AllowTheEndOfADatacentersRunToBeAcknowledgedOnceItIsCommitted) {
  submit_at_gates();
  commit_at_gates(cluster::SlotEnded{{kJob, 1, 0, 1}, cluster::JobState::kFailed, "", {}});
  talk_.leaves(kGate, kManager, cluster::EndAck{kJob});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeACancellationConfirmedThatNoMajorityKnows) {
  provision();
  commit(cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  talk_.leaves(kManager, kClient, cluster::CancelAnswer{.job = kJob});
  EXPECT_EQ(broken(), "");
  submit_at_gates();
  talk_.leaves(kGate, kClient, cluster::CancelAnswer{.job = kJob});
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeAnEndToldThatTheLogDoesNotHave) {
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  commit(cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCancelled, ""});
  cluster::JobEnd end;
  end.job = kJob;
  end.state = cluster::JobState::kCancelled;
  talk_.leaves(kManager, kClient, end);
  EXPECT_EQ(broken(), "");
  submit_at_gates();
  talk_.leaves(kGate, kClient, end);
  EXPECT_EQ(broken(), "16");
}

// What the gates have meanwhile agreed upon, this one may not know yet.
TEST_F(ClusterOracles, SeeACancellationThatIsShedByAGateThatKnowsTheJob) {
  submit_at_gates();
  cluster::GateSettings settings;
  settings.self = kGateOwner;
  settings.hash = hash_body;
  cluster::Gate gate(settings, {}, kernel_.now());
  ClusterResources resources(kernel_);
  const cluster::CancelAnswer answer{.job = kJob, .answer = cluster::Answer::kOverloaded};
  resources.leaves(kGate, kClient, answer, gate);
  EXPECT_EQ(broken(), "");
  const cluster::JobAccepted job = accepted();
  std::string entry;
  cluster::encode(
      cluster::GateEntry{
          kGateOwner, 1,
          cluster::JobSubmitted{
              kJob, job.client, kGateOwner, cluster::RenewalId{1}, job.bundle, job.outline, {"east"}, 0, false}},
      entry);
  gate.applied(1, entry, kernel_.now());
  resources.leaves(kGate, kClient, answer, gate);
  EXPECT_EQ(broken(), "28");
}

TEST_F(ClusterOracles, SeeControlTrafficThatIsShed) {
  ClusterResources resources(kernel_);
  resources.shed(kManager, cluster::Submit{}, resilience::Load::kOverloaded);
  EXPECT_EQ(broken(), "");
  resources.shed(kManager, cluster::Heartbeat{}, resilience::Load::kOverloaded);
  EXPECT_EQ(broken(), "28");
}

TEST_F(ClusterOracles, SeeAcknowledgedWorkThatIsShed) {
  ClusterResources resources(kernel_);
  resources.shed(kManager, cluster::PartResult{}, resilience::Load::kOverloaded);
  EXPECT_EQ(broken(), "27");
}

TEST_F(ClusterOracles, SeeSheddingWithoutNeed) {
  ClusterResources resources(kernel_);
  resources.shed(kManager, cluster::StatusAsk{}, resilience::Load::kHealthy);
  EXPECT_EQ(broken(), "28");
}

// Time-outs of the quorum, a second apart.
class QuorumCircuits : public ClusterOracles {
 protected:
  using State = resilience::CircuitState;

  void time_out() {
    kernel_.run(kernel_.elapsed() + std::chrono::seconds(1));
    cluster::Note note;
    note.what = cluster::Noted::kQuorumTimeout;
    resources_.noted(kManager, note);
  }
  void turn(State state) { resources_.turns(kManager, state); }

  ClusterResources resources_{kernel_};
};

TEST_F(QuorumCircuits, OpenAfterThreeTimeOutsAndCloseAgain) {
  for (int i = 0; i < 2; ++i) time_out(), turn(State::kClosed);
  time_out();
  turn(State::kOpen);
  turn(State::kHalfOpen);
  time_out();
  turn(State::kOpen);
  turn(State::kHalfOpen);
  turn(State::kClosed);
  for (int i = 0; i < 2; ++i) time_out(), turn(State::kClosed);
  EXPECT_EQ(broken(), "");
}

TEST_F(QuorumCircuits, ThatStayClosedAreSeen) {
  for (int i = 0; i < 3; ++i) time_out(), turn(State::kClosed);
  EXPECT_EQ(broken(), "26");
}

TEST_F(QuorumCircuits, ThatOpenTooSoonAreSeen) {
  for (int i = 0; i < 2; ++i) time_out();
  turn(State::kOpen);
  EXPECT_EQ(broken(), "26");
}

TEST_F(QuorumCircuits, ThatOpenForOldTimeOutsAreSeen) {
  for (int i = 0; i < 2; ++i) time_out();
  kernel_.run(std::chrono::seconds(40));
  time_out();
  turn(State::kClosed);
  EXPECT_EQ(broken(), "");
  turn(State::kOpen);
  EXPECT_EQ(broken(), "26");
}

TEST_F(QuorumCircuits, ThatCloseWithoutATrialAreSeen) {
  for (int i = 0; i < 3; ++i) time_out();
  turn(State::kOpen);
  EXPECT_EQ(broken(), "");
  turn(State::kClosed);
  EXPECT_EQ(broken(), "26");
}

TEST_F(ClusterOracles, SeeACircuitThatStaysClosedThoughItsWorkerIsSilent) {
  ClusterResources resources(kernel_);
  resources.booted(kManager, Life{1});
  resources.booted(kWorker, Life{2});
  resilience::Circuit circuit;
  cluster::Dispatch offer;
  offer.part = {kJob, 0, 0};
  offer.worker_life = Life{1};
  for (int i = 0; i < 9; ++i) resources.offers(kManager, kWorker, offer, circuit);
  offer.part = {kJob, 0, 1};
  offer.worker_life = Life{2};
  for (int i = 0; i < 9; ++i) resources.offers(kManager, kWorker, offer, circuit);
  resources.hears(kManager, kWorker);
  offer.part = {kJob, 0, 2};
  for (int i = 0; i < 4; ++i) resources.offers(kManager, kWorker, offer, circuit);
  EXPECT_EQ(broken(), "");
  resources.offers(kManager, kWorker, offer, circuit);
  EXPECT_EQ(broken(), "26");
}

TEST_F(ClusterOracles, AllowOffersToBeRepeatedWhenACircuitOpensOrTimeGoesBy) {
  ClusterResources resources(kernel_);
  resources.booted(kWorker, Life{2});
  resources.hears(kManager, kWorker);
  resilience::Circuit circuit;
  cluster::Dispatch offer;
  offer.part = {kJob, 0, 0};
  offer.worker_life = Life{2};
  for (int i = 0; i < 9; ++i) {
    resources.offers(kManager, kWorker, offer, circuit);
    kernel_.run(kernel_.elapsed() + std::chrono::seconds(10));
  }
  EXPECT_EQ(broken(), "");
  kernel_.run(kernel_.elapsed() + std::chrono::seconds(30));
  for (int i = 0; i < 9; ++i) {
    circuit.failed(kernel_.clock_of(kManager));
    resources.offers(kManager, kWorker, offer, circuit);
  }
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeAProposalWhoseBodyIsOnOneDisk) {
  const std::vector<base::NodeId> voters = {kManager, base::NodeId{102}, base::NodeId{103}};
  log_.kept(kManager, hash_body("bundle"));
  log_.kept(base::NodeId{102}, hash_body("bundle"));
  log_.proposed(cluster::Entry{kOwner, 1, accepted()}, voters);
  EXPECT_EQ(broken(), "");
  log_.dropped(base::NodeId{102}, hash_body("bundle"));
  log_.proposed(cluster::Entry{kOwner, 1, accepted()}, voters);
  EXPECT_EQ(broken(), "");
  log_.proposed(cluster::Entry{kOwner, 2, accepted()}, voters);
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeABodyDroppedThatIsStillNamed) {
  log_.kept(kManager, hash_body("bundle"));
  log_.drops(kManager, hash_body("bundle"), false);
  EXPECT_EQ(broken(), "");
  log_.drops(kManager, hash_body("bundle"), true);
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeTotalsThatFall) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.counted(kWorker, {PartId{kJob, 0, 0}, Fence{1, 1}}, {9, 9, 0});
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::ClientUpdate update;
  update.progress[kJob].totals[0].counts = {9, 9, 0};
  user.told(update);
  EXPECT_EQ(broken(), "");
  update.progress[kJob].totals[0].counts = {8, 8, 0};
  user.told(update);
  EXPECT_EQ(broken(), "17");
}

TEST_F(ClusterOracles, SeeMoreShownThanWasRun) {
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::ClientUpdate update;
  update.progress[kJob].totals[0].counts = {1, 1, 0};
  user.told(update);
  EXPECT_EQ(broken(), "18");
}

TEST_F(ClusterOracles, SeeCountsOfAnUnfinishedWorkflowThatTheLogDoesNotHold) {
  provision();
  const cluster::ResultHeld held = result();
  commit(held);
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  cluster::ClientUpdate update;
  update.answers.emplace_back();
  update.answers[0].about = cluster::ClientAnswer::About::kStatus;
  update.answers[0].job = kJob;
  update.answers[0].answer = cluster::Answer::kAccepted;
  cluster::StatusAnswer& status = update.answers[0].status.emplace();
  status.workflows.resize(2);
  status.workflows[0].state = cluster::WorkflowState::kTimeout;
  status.workflows[0].counts = held.counts;
  status.workflows[1].workflow = 1;
  status.workflows[1].state = cluster::WorkflowState::kRunning;
  status.workflows[1].counts = {1, 1, 0};
  user.told(update);
  EXPECT_EQ(broken(), "");
  ++status.workflows[0].counts.ok;
  user.told(update);
  EXPECT_EQ(broken(), "18");
}

TEST_F(ClusterOracles, SeeCountsOfADatacenterThatItsLogDoesNotHold) {
  provision();
  const cluster::ResultHeld held = result();
  commit(held);
  ClusterUser user(kernel_, log_, runs_, false);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  submit_at_gates();
  commit_at_gates(cluster::SlotEnded{{kJob, 1, 0, 1}, cluster::JobState::kCompleted, "", {}});
  cluster::ClientUpdate update;
  update.ends.emplace_back();
  update.ends[0].job = kJob;
  cluster::DatacenterStatus place{.name = "east", .state = cluster::JobState::kCompleted};
  place.workflows = 2;
  place.workflows_ended = 2;
  place.counts = held.counts;
  update.ends[0].datacenters = {place};
  user.told(update);
  EXPECT_EQ(broken(), "");
  cluster::ClientUpdate status;
  status.answers.emplace_back();
  status.answers[0].job = kJob;
  status.answers[0].answer = cluster::Answer::kAccepted;
  ++place.counts.failed;
  status.answers[0].status.emplace().datacenters = {place};
  user.told(status);
  EXPECT_EQ(broken(), "18");
}

TEST_F(ClusterOracles, SeeAnEndThatChanges) {
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request).cancelled = true;
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  commit(cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCancelled, ""});
  cluster::ClientUpdate update;
  update.ends.emplace_back();
  update.ends[0].job = kJob;
  update.ends[0].state = cluster::JobState::kCancelled;
  user.told(update);
  EXPECT_EQ(broken(), "");
  update.ends[0].state = cluster::JobState::kFailed;
  user.told(update);
  EXPECT_EQ(broken(), "16");
}

TEST_F(ClusterOracles, SeeAnEndThatOnlyTheUserKnows) {
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  cluster::ClientUpdate update;
  update.ends.emplace_back();
  update.ends[0].job = kJob;
  user.told(update);
  EXPECT_EQ(broken(), "16");
}

TEST_F(ClusterOracles, SeeAnAcknowledgedJobThatIsNotKnownAnyMore) {
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  cluster::ClientUpdate update;
  update.answers.emplace_back();
  update.answers[0].job = kJob;
  update.answers[0].answer = cluster::Answer::kAccepted;
  user.told(update);
  update.answers[0].about = cluster::ClientAnswer::About::kStatus;
  update.answers[0].answer = cluster::Answer::kUnknownJob;
  kernel_.run(std::chrono::seconds(20));
  user.told(update);
  EXPECT_EQ(broken(), "");
  kernel_.run(std::chrono::seconds(30));
  user.told(update);
  EXPECT_EQ(broken(), "14");
}

TEST(ClusterPrograms, CountTheSameHoweverAWorkflowIsCut) {
  const cluster::Counts whole = counts_of(kJob, 2, {0, 7, 7});
  cluster::Counts sum = counts_of(kJob, 2, {0, 3, 7});
  sum.add(counts_of(kJob, 2, {3, 4, 7}));
  EXPECT_EQ(sum, whole);
}

}  // namespace
}  // namespace muster::sim
