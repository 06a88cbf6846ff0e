// The oracles of the whole cluster, shown what must not happen.
#include <gtest/gtest.h>

#include <memory>
#include <string>

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

constexpr base::NodeId kManager{101};
constexpr base::NodeId kWorker{111};
constexpr base::NodeId kOther{112};
constexpr base::NodeId kClient{11};
constexpr JobId kJob{1001};
constexpr cluster::Process kOwner{kManager, Life{1}};

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
  void commit(cluster::Command command) {
    const cluster::Entry entry{kOwner, ++index_, std::move(command)};
    ledger_.apply(index_, entry);
    log_.committed(0, index_, entry, ledger_, {kManager, base::NodeId{102}, base::NodeId{103}});
  }
  void keep_everywhere(const cluster::BodyHash& hash) {
    for (const std::uint64_t node : {101u, 102u, 103u}) log_.kept(base::NodeId{node}, hash);
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
};

TEST_F(ClusterOracles, SeeACoreThatRunsTwoParts) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1}), 1);
  EXPECT_EQ(broken(), "");
  runs_.started(kWorker, 0, order(1, {1, 1}, {1}), 1);
  EXPECT_EQ(broken(), "cores");
}

TEST_F(ClusterOracles, SeeAPartThatRunsTwice) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}), 1);
  runs_.started(kOther, 0, order(0, {1, 2}, {0}), 1);
  EXPECT_EQ(broken(), "part-once");
}

TEST_F(ClusterOracles, AllowAPartToRunAgainOnceItsWorkerIsGone) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}), 1);
  runs_.went_down(kWorker);
  runs_.started(kOther, 0, order(0, {1, 2}, {0}), 1);
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeASupersededAttempt) {
  runs_.started(kWorker, 0, order(0, {1, 2}, {0}), 1);
  runs_.went_down(kWorker);
  runs_.started(kOther, 0, order(0, {1, 1}, {0}), 1);
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAnEpochThatFalls) {
  runs_.started(kWorker, 0, order(0, {2, 1}, {0}), 2);
  runs_.started(kWorker, 0, order(1, {1, 1}, {1}), 1);
  EXPECT_EQ(broken(), "7");
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
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}), 1);
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

TEST_F(ClusterOracles, SeeAnAcknowledgementThatNoMajorityKnows) {
  cluster::SubmitAnswer answer;
  answer.job = kJob;
  talk_.leaves(kManager, kClient, answer);
  EXPECT_EQ(broken(), "5");
}

TEST_F(ClusterOracles, SeeACancellationThatIsShed) {
  cluster::CancelAnswer answer;
  answer.job = kJob;
  answer.answer = cluster::Answer::kOverloaded;
  talk_.leaves(kManager, kClient, answer);
  EXPECT_EQ(broken(), "");
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  talk_.leaves(kManager, kClient, answer);
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
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}), 1);
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

TEST_F(ClusterOracles, SeeAnEndThatChanges) {
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  cluster::ClientUpdate update;
  update.ends.emplace_back();
  update.ends[0].job = kJob;
  user.told(update);
  EXPECT_EQ(broken(), "");
  update.ends[0].state = cluster::JobState::kFailed;
  user.told(update);
  EXPECT_EQ(broken(), "16");
}

TEST(ClusterPrograms, CountTheSameHoweverAWorkflowIsCut) {
  const cluster::Counts whole = counts_of(kJob, 2, {0, 7, 7});
  cluster::Counts sum = counts_of(kJob, 2, {0, 3, 7});
  sum.add(counts_of(kJob, 2, {3, 4, 7}));
  EXPECT_EQ(sum, whole);
}

}  // namespace
}  // namespace muster::sim
