// The oracles of what leaves a brain and what people are told, shown what must not happen.
#include <gtest/gtest.h>

#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

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
  commit_at_gates(cluster::SlotFailed{{kJob, 1, 0, 1}, cluster::JobState::kFailed, true, ""});
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

TEST_F(ClusterOracles, SeeAStatusThatIsAnEndWhichTheLogDoesNotHave) {
  submit_at_gates();
  cluster::StatusAnswer answer;
  answer.job = kJob;
  answer.state = cluster::JobState::kRunning;
  talk_.leaves(kGate, kClient, answer);
  EXPECT_EQ(broken(), "");
  answer.state = cluster::JobState::kCompleted;
  talk_.leaves(kGate, kClient, answer);
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
  for (int i = 0; i < 9; ++i) resources.offers(kManager, kWorker, offer, &circuit);
  offer.part = {kJob, 0, 1};
  offer.worker_life = Life{2};
  for (int i = 0; i < 9; ++i) resources.offers(kManager, kWorker, offer, &circuit);
  resources.hears(kManager, kWorker);
  offer.part = {kJob, 0, 2};
  for (int i = 0; i < 3; ++i) resources.offers(kManager, kWorker, offer, &circuit);
  // The manager leads the job anew, and begins anew.
  resources.begins_offer(kManager, {cluster::Noted::kDispatched, offer.part, offer.fence, kWorker});
  resources.offers(kManager, kWorker, offer, &circuit);
  EXPECT_EQ(broken(), "");
  resources.offers(kManager, kWorker, offer, &circuit);
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
    resources.offers(kManager, kWorker, offer, &circuit);
    kernel_.run(kernel_.elapsed() + std::chrono::seconds(15));
  }
  EXPECT_EQ(broken(), "");
  kernel_.run(kernel_.elapsed() + std::chrono::seconds(30));
  for (int i = 0; i < 9; ++i) {
    circuit.failed(kernel_.clock_of(kManager));
    resources.offers(kManager, kWorker, offer, &circuit);
  }
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, CountARepetitionAsOneThoughNothingWasKnownOfTheWorkerAtFirst) {
  ClusterResources resources(kernel_);
  resources.booted(kWorker, Life{2});
  cluster::Dispatch offer;
  offer.part = {kJob, 0, 0};
  offer.worker_life = Life{2};
  resources.offers(kManager, kWorker, offer, nullptr);
  resources.hears(kManager, kWorker);
  resilience::Circuit circuit;
  for (int i = 0; i < 9; ++i) resources.offers(kManager, kWorker, offer, &circuit);
  EXPECT_EQ(broken(), "");
  for (int i = 0; i < 9; ++i) circuit.failed(kernel_.clock_of(kManager));
  kernel_.run(kernel_.elapsed() + std::chrono::milliseconds(500));
  resources.offers(kManager, kWorker, offer, &circuit);
  EXPECT_EQ(broken(), "");
  offer.part = {kJob, 0, 1};
  resources.offers(kManager, kWorker, offer, &circuit);
  EXPECT_EQ(broken(), "26");
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

TEST_F(ClusterOracles, SeeAProposalRepeatedToMembersOfWhomOneHoldsItsBody) {
  log_.kept(kManager, hash_body("bundle"));
  log_.kept(base::NodeId{103}, hash_body("bundle"));
  log_.proposed(cluster::Entry{kOwner, 1, accepted()}, {kManager, base::NodeId{102}, base::NodeId{103}});
  EXPECT_EQ(broken(), "");
  log_.proposed(cluster::Entry{kOwner, 1, accepted()}, {kManager, base::NodeId{102}});
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeABodyDroppedThatIsStillNamed) {
  log_.kept(kManager, hash_body("bundle"));
  log_.drops(kManager, hash_body("bundle"), false);
  EXPECT_EQ(broken(), "");
  log_.drops(kManager, hash_body("bundle"), true);
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeTooManyDropWhatTheLogNamesThoughTheirLedgersAreBehind) {
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  log_.drops(kManagers[2], hash_body("bundle"), false);
  EXPECT_EQ(broken(), "");
  log_.dropped(kManagers[2], hash_body("bundle"));
  log_.drops(kManagers[1], hash_body("bundle"), false);
  EXPECT_EQ(broken(), "bodies");
}

TEST_F(ClusterOracles, SeeTooManyGatesDropWhatTheirLogNames) {
  submit_at_gates();
  log_.drops(kGates[2], hash_body("bundle"), false);
  EXPECT_EQ(broken(), "");
  log_.dropped(kGates[2], hash_body("bundle"));
  log_.drops(kGates[1], hash_body("bundle"), false);
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

TEST_F(ClusterOracles, SeeMoreShownAsLostThanWasCounted) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.counted(kWorker, {PartId{kJob, 0, 0}, Fence{1, 1}}, {9, 9, 0});
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::ClientUpdate update;
  update.progress[kJob].totals[0].counts = {9, 9, 0};
  update.progress[kJob].totals[0].lost = {9, 9, 0};
  user.told(update);
  EXPECT_EQ(broken(), "");
  update.progress[kJob].totals[0].lost = {9, 9, 1};
  user.told(update);
  EXPECT_EQ(broken(), "18");
}

TEST_F(ClusterOracles, SeeLossesThatAreTakenBack) {
  runs_.started(kWorker, 0, order(0, {1, 1}, {0}));
  runs_.counted(kWorker, {PartId{kJob, 0, 0}, Fence{1, 1}}, {9, 9, 0});
  ClusterUser user(kernel_, log_, runs_, true);
  cluster::ClientUpdate update;
  update.progress[kJob].totals[0].counts = {9, 9, 0};
  update.progress[kJob].totals[0].lost = {9, 9, 0};
  user.told(update);
  update.progress[kJob].totals[0].lost = {};
  user.told(update);
  EXPECT_EQ(broken(), "17");
}

class ExtensionsOfADeadline : public ClusterOracles {
 protected:
  // The manager is asked once more, or again with the same progress, and grants it.
  void grant(double progress, base::Duration extended, std::uint32_t left) {
    cluster::ExtensionAsk ask;
    ask.part = {kJob, 0, 0};
    ask.fence = {1, 1};
    ask.progress = progress;
    talk_.asked(kManager, ask);
    cluster::ExtensionAnswer answer;
    answer.part = ask.part;
    answer.fence = ask.fence;
    answer.granted = true;
    answer.extended = extended;
    answer.left = left;
    talk_.leaves(kManager, kWorker, answer);
  }
  void grant_all() {
    grant(0.1, std::chrono::milliseconds(15000), 4);
    grant(0.2, std::chrono::milliseconds(7500), 3);
    grant(0.3, std::chrono::milliseconds(3750), 2);
    grant(0.4, std::chrono::milliseconds(1875), 1);
    grant(0.5, std::chrono::milliseconds(1000), 0);
  }
};

TEST_F(ExtensionsOfADeadline, AreFiveThatGetShorter) {
  grant_all();
  grant(0.5, std::chrono::milliseconds(1000), 0);
  grant(0.6, std::chrono::milliseconds(15000), 4);
  EXPECT_EQ(broken(), "");
}

TEST_F(ExtensionsOfADeadline, AreSeenIfThereIsASixth) {
  grant_all();
  grant(0.6, std::chrono::milliseconds(1000), 0);
  EXPECT_EQ(broken(), "27");
}

TEST_F(ExtensionsOfADeadline, AreSeenIfTheyDoNotGetShorter) {
  grant(0.1, std::chrono::seconds(15), 4);
  grant(0.2, std::chrono::seconds(15), 3);
  EXPECT_EQ(broken(), "27");
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
  status.workflows[0].results = {held.body};
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
  const cluster::ClientUpdate update = completed();
  ClusterUser user(kernel_, log_, runs_, false);
  cluster::JobRequest request;
  request.job = kJob;
  user.add(request);
  user.told(update);
  EXPECT_EQ(broken(), "");
  cluster::DatacenterStatus place = update.ends[0].datacenters[0];
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
