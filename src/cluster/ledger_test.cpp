#include "cluster/ledger.h"

#include <gtest/gtest.h>

#include "cluster/ledger_fixture.h"
#include "cluster/options.h"

namespace muster::cluster {
namespace {

class LedgerTest : public ::testing::Test, public LedgerFixture {};

TEST_F(LedgerTest, AcceptsAJobOnceWhoeverRepeatsIt) {
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kApplied);
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kRepeated);
  EXPECT_EQ(accept(kJob, outline({{}}), ClientId{6}), Verdict::kJobConflict);
  EXPECT_EQ(ledger.jobs().size(), 1u);
}

TEST_F(LedgerTest, IgnoresAnIndexThatWasApplied) {
  const Entry entry{kManagerA, 1, WorkerAdmitted{worker(1), 4}};
  EXPECT_EQ(ledger.apply(3, entry), Verdict::kApplied);
  EXPECT_EQ(ledger.apply(3, {kManagerA, 2, WorkerAdmitted{worker(2), 4}}), Verdict::kRepeated);
  EXPECT_EQ(ledger.workers().size(), 1u);
}

TEST_F(LedgerTest, RefusesACircleOfWorkflows) {
  EXPECT_EQ(accept(kJob, outline({{1}, {0}})), Verdict::kInvalid);
  EXPECT_EQ(accept(kJob, outline({{5}})), Verdict::kInvalid);
}

TEST_F(LedgerTest, QueuesAtMostFiftyJobsThatNeverHadCores) {
  admit(worker(1), 4);
  for (std::uint64_t i = 0; i < kMaxQueued; ++i) EXPECT_EQ(accept(JobId{1000 + i}, outline({{}})), Verdict::kApplied);
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kQueueFull);
  EXPECT_EQ(ledger.queue_position(*ledger.job(JobId{1003})), 3u);
  EXPECT_EQ(provision(0, {{0, worker(1), 1, 1}}, JobId{1000}), Verdict::kApplied);
  EXPECT_EQ(ledger.queue_position(*ledger.job(JobId{1003})), 2u);
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kApplied);
}

TEST_F(LedgerTest, ALateCopyOfARefusedAcceptanceStaysRefused) {
  admit(worker(1), 4);
  for (std::uint64_t i = 0; i < kMaxQueued; ++i) accept(JobId{1000 + i}, outline({{}}));
  const Entry entry{kManagerB, 7, JobAccepted{kJob, kClient, NodeId{9}, 0, kManagerB, body(1), outline({{}})}};
  EXPECT_EQ(ledger.apply(ledger.index() + 1, entry), Verdict::kQueueFull);
  EXPECT_EQ(provision(0, {{0, worker(1), 1, 1}}, JobId{1000}), Verdict::kApplied);
  EXPECT_EQ(ledger.apply(ledger.index() + 1, entry), Verdict::kQueueFull);
  const Entry fresh{kManagerB, 8, entry.command};
  EXPECT_EQ(ledger.apply(ledger.index() + 1, fresh), Verdict::kApplied);
}

TEST_F(LedgerTest, GivesNoCoreTwice) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {}}));
  EXPECT_EQ(provision(0, {{0, worker(1), 3, 1}}), Verdict::kApplied);
  EXPECT_EQ(provision(1, {{0, worker(1), 2, 1}}), Verdict::kCoresTaken);
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}, {1, worker(1), 1, 1}}), Verdict::kCoresTaken);
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}}), Verdict::kApplied);
  EXPECT_EQ(used(1), 4u);
}

TEST_F(LedgerTest, ProvisionsAllPartsOrNone) {
  admit(worker(1), 4);
  admit(worker(2), 1);
  accept(kJob, outline({{}}));
  EXPECT_EQ(provision(0, {{0, worker(1), 4, 1}, {1, worker(2), 2, 1}}), Verdict::kCoresTaken);
  EXPECT_EQ(used(1), 0u);
  EXPECT_TRUE(ledger.job(kJob)->workflows[0].parts.empty());
}

TEST_F(LedgerTest, CutsAWorkflowIntoSlicesInTheOrderOfItsParts) {
  admit(worker(1), 4);
  admit(worker(2), 4);
  accept(kJob, outline({{}}));
  EXPECT_EQ(provision(0, {{0, worker(1), 3, 1}, {1, worker(2), 2, 1}}), Verdict::kApplied);
  EXPECT_EQ(part(0, 0).slice, (Slice{0, 3, 5}));
  EXPECT_EQ(part(0, 1).slice, (Slice{3, 2, 5}));
}

TEST_F(LedgerTest, RefusesWorkersThatAreGone) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  EXPECT_EQ(provision(0, {{0, worker(2), 1, 1}}), Verdict::kWorkerGone);
  EXPECT_EQ(provision(0, {{0, worker(1, 2), 1, 1}}), Verdict::kWorkerGone);
  apply(WorkerEvicted{worker(1)});
  EXPECT_EQ(provision(0, {{0, worker(1), 1, 1}}), Verdict::kWorkerGone);
}

TEST_F(LedgerTest, RepeatsAProvisionWithoutTakingCoresAgain) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  EXPECT_EQ(provision(0, {{0, worker(1), 3, 1}}), Verdict::kApplied);
  EXPECT_EQ(provision(0, {{0, worker(1), 3, 1}}), Verdict::kRepeated);
  EXPECT_EQ(used(1), 3u);
}

TEST_F(LedgerTest, GivesCoresThatArePartlyDoneToOthersAndTakesTheRestBackOnce) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {}}));
  EXPECT_EQ(provision(0, {{0, worker(1), 4, 1}}), Verdict::kApplied);
  const CoresDone two{{kJob, 0, 0}, {1, 1}, 1, 2};
  EXPECT_EQ(apply(two), Verdict::kApplied);
  EXPECT_EQ(apply(two), Verdict::kRepeated);
  EXPECT_EQ(used(1), 2u);
  EXPECT_EQ(provision(1, {{0, worker(1), 3, 1}}), Verdict::kCoresTaken);
  EXPECT_EQ(provision(1, {{0, worker(1), 2, 1}}), Verdict::kApplied);
  EXPECT_EQ(used(1), 4u);
  EXPECT_EQ(held(0, 0), Verdict::kApplied);
  EXPECT_EQ(used(1), 2u);
  EXPECT_EQ(apply({CoresDone{{kJob, 0, 0}, {1, 1}, 1, 3}}), Verdict::kRepeated);
  EXPECT_EQ(used(1), 2u);
}

TEST_F(LedgerTest, APartThatGaveCoresBackGetsAllOfThemElsewhere) {
  admit(worker(1), 4);
  admit(worker(2), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 4, 1}});
  apply(CoresDone{{kJob, 0, 0}, {1, 1}, 1, 3});
  lost(0, 0, Loss::kNotRunning);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(provision(0, {{0, worker(2), 1, 2}}), Verdict::kInvalid);
  EXPECT_EQ(provision(0, {{0, worker(2), 4, 2}}), Verdict::kApplied);
  EXPECT_EQ(used(2), 4u);
  EXPECT_EQ(part(0, 0).cores_held(), 4u);
}

TEST_F(LedgerTest, CoresAreGivenBackOnlyByThoseWhoHaveThem) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 4, 1}});
  EXPECT_EQ(apply(CoresDone{{JobId{9}, 0, 0}, {1, 1}, 1, 1}), Verdict::kUnknownJob);
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 7}, {1, 1}, 1, 1}), Verdict::kInvalid);
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 0}, {1, 2}, 1, 1}), Verdict::kStaleFence);
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 0}, {1, 1}, 2, 1}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 0}, {1, 1}, 1, 4}), Verdict::kInvalid) << "the last one is where it ends";
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 0}, {1, 1}, 1, 0}), Verdict::kRepeated);
  EXPECT_EQ(used(1), 4u);
  admit(worker(1, 2), 4);
  EXPECT_EQ(apply(CoresDone{{kJob, 0, 0}, {1, 1}, 1, 1}), Verdict::kApplied);
  EXPECT_EQ(used(1), 0u) << "they were of a life that is over";
}

TEST_F(LedgerTest, RefusesWhatASupersededLeaderProposes) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  EXPECT_EQ(apply(JobOwner{kJob, kManagerB, 2}), Verdict::kApplied);
  EXPECT_EQ(apply(JobOwner{kJob, kManagerB, 2}), Verdict::kRepeated);
  EXPECT_EQ(apply(JobOwner{kJob, kManagerA, 2}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(JobOwner{kJob, kManagerA, 3, std::chrono::seconds(-1)}), Verdict::kInvalid);
  EXPECT_EQ(apply(Provision{kJob, 1, 0, {{0, worker(1), 1, 1}}}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(Provision{kJob, 2, 0, {{0, worker(1), 1, 1}}}), Verdict::kApplied);
  EXPECT_EQ(part(0, 0).fence, (Fence{2, 1}));
}

TEST_F(LedgerTest, ASupersededLeaderGivesNothingUpAndAPersonDoesWhoeverLeads) {
  accept(kJob, outline({{}}));
  EXPECT_EQ(apply(JobOwner{kJob, kManagerB, 2, std::chrono::seconds(0)}), Verdict::kApplied);
  EXPECT_EQ(apply(gives_up(kJob, 1, given_up::kContextNotKept, JobState::kFailed)), Verdict::kStaleEpoch);
  EXPECT_FALSE(ledger.job(kJob)->cancel);
  EXPECT_EQ(apply(CancelRequested{kJob, "ada", "", JobState::kCancelled}), Verdict::kApplied);
}

TEST_F(LedgerTest, AJobGrowsNoYoungerWithWhoKnowsItForLess) {
  accept(kJob, outline({{}}));
  EXPECT_EQ(apply(JobOwner{kJob, kManagerB, 2, std::chrono::seconds(20)}), Verdict::kApplied);
  EXPECT_EQ(apply(JobOwner{kJob, kManagerA, 3, std::chrono::seconds(5)}), Verdict::kApplied);
  EXPECT_EQ(ledger.job(kJob)->elapsed, std::chrono::seconds(20));
}

TEST_F(LedgerTest, ASupersededLeaderDeclaresNothingLost) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 1, 1}});
  apply(JobOwner{kJob, kManagerB, 2});
  EXPECT_EQ(apply(PartLost{{kJob, 0, 0}, {1, 1}, 1, Loss::kRefused}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(PartLost{{kJob, 0, 0}, {1, 1}, 2, Loss::kRefused}), Verdict::kApplied);
}

TEST_F(LedgerTest, FreesTheCoresOfALostPartAndGivesItToAnotherWithTheNextAttempt) {
  admit(worker(1), 4);
  admit(worker(2), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 3, 1}});
  EXPECT_EQ(lost(0, 0, Loss::kNotRunning), Verdict::kApplied);
  EXPECT_EQ(lost(0, 0, Loss::kNotRunning), Verdict::kRepeated);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(provision(0, {{0, worker(2), 3, 1}}), Verdict::kStaleFence);
  EXPECT_EQ(provision(0, {{0, worker(2), 2, 2}}), Verdict::kInvalid);
  EXPECT_EQ(provision(0, {{0, worker(2), 3, 2}}), Verdict::kApplied);
  EXPECT_EQ(part(0, 0).failed_on, std::vector<Process>{worker(1)});
  EXPECT_EQ(apply(PartLost{{kJob, 0, 0}, {1, 1}, 1, Loss::kNotRunning}), Verdict::kStaleFence);
}

TEST_F(LedgerTest, APartFailsAfterItsFourthLoss) {
  accept(kJob, outline({{}}));
  for (std::uint32_t attempt = 1; attempt <= kMaxLosses + 1; ++attempt) {
    admit(worker(attempt), 4);
    EXPECT_EQ(provision(0, {{0, worker(attempt), 1, attempt}}), Verdict::kApplied);
    EXPECT_EQ(lost(0, 0, Loss::kWorkerDied), Verdict::kWrongState);
    apply(WorkerEvicted{worker(attempt)});
    EXPECT_EQ(lost(0, 0, Loss::kWorkerDied), Verdict::kApplied);
  }
  EXPECT_EQ(state(0), WorkflowState::kFailed);
}

TEST_F(LedgerTest, APartWhoseWorkerLostContactOrDrainsLosesNothing) {
  accept(kJob, outline({{}}));
  admit(worker(1), 4);
  for (std::uint32_t attempt = 1; attempt <= 20; ++attempt) {
    EXPECT_EQ(provision(0, {{0, worker(1), 1, attempt}}), Verdict::kApplied);
    EXPECT_EQ(lost(0, 0, attempt % 2 == 0 ? Loss::kAlone : Loss::kDraining), Verdict::kApplied);
  }
  EXPECT_EQ(part(0, 0).losses, 0u);
  EXPECT_EQ(part(0, 0).refusals, 0u);
  EXPECT_TRUE(part(0, 0).failed_on.empty());
}

TEST_F(LedgerTest, RefusalsCountApartFromLosses) {
  accept(kJob, outline({{}}));
  admit(worker(1), 4);
  for (std::uint32_t attempt = 1; attempt <= kMaxRefusals; ++attempt) {
    provision(0, {{0, worker(1), 1, attempt}});
    lost(0, 0, Loss::kRefused);
    EXPECT_EQ(state(0), WorkflowState::kAssigned);
  }
  provision(0, {{0, worker(1), 1, kMaxRefusals + 1}});
  lost(0, 0, Loss::kRefused);
  EXPECT_EQ(state(0), WorkflowState::kFailed);
}

TEST_F(LedgerTest, AnOverdueWorkflowFailsRatherThanBeingCancelled) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 1, 1}});
  EXPECT_EQ(lost(0, 0, Loss::kOverdue), Verdict::kApplied);
  EXPECT_EQ(state(0), WorkflowState::kFailed);
}

TEST_F(LedgerTest, CountsAResultOnce) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 2, 1}});
  EXPECT_EQ(held(0, 0), Verdict::kApplied);
  EXPECT_EQ(held(0, 0), Verdict::kRepeated);
  EXPECT_EQ(part(0, 0).counts.iterations, 10u);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(state(0), WorkflowState::kCompleted);
}

TEST_F(LedgerTest, RefusesTheResultOfAnAttemptThatWasGivenToAnother) {
  admit(worker(1), 4);
  admit(worker(2), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 1, 1}});
  lost(0, 0, Loss::kNotRunning);
  provision(0, {{0, worker(2), 1, 2}});
  EXPECT_EQ(apply(ResultHeld{{kJob, 0, 0}, {1, 1}, PartOutcome::kCompleted, body(8), {}, ""}), Verdict::kStaleFence);
}

TEST_F(LedgerTest, TakesTheLateResultOfAnAttemptThatNobodyRepeatedYet) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 1, 1}});
  lost(0, 0, Loss::kNotRunning);
  EXPECT_EQ(held(0, 0), Verdict::kApplied);
  EXPECT_EQ(state(0), WorkflowState::kCompleted);
  EXPECT_EQ(used(1), 0u);
}

TEST_F(LedgerTest, ALayerWaitsUntilTheOneBeforeItIsClosed) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {0}}));
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}}), Verdict::kBarrier);
  provision(0, {{0, worker(1), 1, 1}});
  EXPECT_EQ(apply(LayerContext{kJob, 1, 0, 1, body(30)}), Verdict::kBarrier);
  held(0, 0);
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}}), Verdict::kBarrier);
  EXPECT_EQ(apply(LayerContext{kJob, 1, 0, 2, body(30)}), Verdict::kWrongState);
  EXPECT_EQ(apply(LayerContext{kJob, 1, 0, 1, body(30)}), Verdict::kApplied);
  EXPECT_EQ(apply(LayerContext{kJob, 1, 0, 1, body(30)}), Verdict::kRepeated);
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}}), Verdict::kApplied);
}

TEST_F(LedgerTest, SkipsEverythingThatDependsOnAFailedWorkflow) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {0}, {1}, {}}));
  provision(0, {{0, worker(1), 1, 1}});
  provision(3, {{0, worker(1), 1, 1}});
  held(0, 0, PartOutcome::kFailed);
  EXPECT_EQ(state(0), WorkflowState::kFailed);
  EXPECT_EQ(state(1), WorkflowState::kSkipped);
  EXPECT_EQ(state(2), WorkflowState::kSkipped);
  held(3, 0);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kCompleted, ""}), Verdict::kInvalid);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kPartial, ""}), Verdict::kApplied);
}

TEST_F(LedgerTest, AJobEndsOnlyWhenNothingOfItHoldsCores) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 1, 1}});
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kCompleted, ""}), Verdict::kWrongState);
  held(0, 0);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kCompleted, ""}), Verdict::kApplied);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kFailed, ""}), Verdict::kRepeated);
  EXPECT_EQ(ledger.job(kJob)->end->state, JobState::kCompleted);
  EXPECT_TRUE(ledger.open_jobs().empty());
}

TEST_F(LedgerTest, ACancelledJobGetsNoMoreCoresAndEndsWhenItsPartsAreStopped) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {}}));
  provision(0, {{0, worker(1), 1, 1}});
  EXPECT_EQ(apply(CancelRequested{kJob, "ada", "wrong target", JobState::kCancelled}), Verdict::kApplied);
  EXPECT_EQ(provision(1, {{0, worker(1), 1, 1}}), Verdict::kCancelled);
  EXPECT_EQ(state(1), WorkflowState::kCancelled);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kCancelled, ""}), Verdict::kWrongState);
  lost(0, 0, Loss::kCancelled);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(apply(JobEnded{kJob, 1, JobState::kCancelled, ""}), Verdict::kApplied);
}

TEST_F(LedgerTest, AWorkerThatRestartedHasAllItsCoresAndMayTakeThePartItLost) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  provision(0, {{0, worker(1), 4, 1}});
  EXPECT_EQ(admit(worker(1, 2), 4), Verdict::kApplied);
  EXPECT_EQ(admit(worker(1, 1), 4), Verdict::kWorkerGone);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(lost(0, 0, Loss::kWorkerDied), Verdict::kApplied);
  EXPECT_EQ(used(1), 0u);
  EXPECT_EQ(provision(0, {{0, worker(1, 2), 4, 2}}), Verdict::kApplied);
}

TEST_F(LedgerTest, AnEvictedWorkerKeepsItsPartsUntilTheyAreKnownToBeStopped) {
  admit(worker(1), 4);
  accept(kJob, outline({{}, {}}));
  provision(0, {{0, worker(1), 3, 1}});
  EXPECT_EQ(apply(WorkerEvicted{worker(1)}), Verdict::kApplied);
  EXPECT_EQ(admit(worker(1), 4), Verdict::kApplied);
  EXPECT_EQ(provision(1, {{0, worker(1), 2, 1}}), Verdict::kCoresTaken);
}

TEST_F(LedgerTest, NumbersEveryAdmissionOfAWorker) {
  admit(worker(1), 4);
  const std::uint64_t first = ledger.workers().at(worker(1).node).admission;
  EXPECT_EQ(first, ledger.index());
  admit(worker(1), 8);
  EXPECT_EQ(ledger.workers().at(worker(1).node).admission, first);
  apply(WorkerEvicted{worker(1)});
  admit(worker(1), 8);
  EXPECT_EQ(ledger.workers().at(worker(1).node).admission, ledger.index());
}

TEST_F(LedgerTest, ForgetsAnEndedJobDownToItsEnd) {
  admit(worker(1), 4);
  accept(kJob, outline({{}}));
  EXPECT_EQ(apply(JobForgotten{kJob}), Verdict::kWrongState);
  provision(0, {{0, worker(1), 1, 1}});
  held(0, 0);
  apply(JobEnded{kJob, 1, JobState::kCompleted, ""});
  EXPECT_EQ(ledger.bodies().size(), 2u);
  EXPECT_EQ(apply(JobForgotten{kJob}), Verdict::kApplied);
  EXPECT_TRUE(ledger.bodies().empty());
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kJobEnded);
  ASSERT_NE(ledger.tombstone(kJob), nullptr);
  EXPECT_EQ(ledger.tombstone(kJob)->state, JobState::kCompleted);
}

TEST_F(LedgerTest, ASubmitThatComesAfterItsCancellationComesTooLate) {
  EXPECT_EQ(apply(CancelRequested{kJob, "ada", "", JobState::kCancelled}), Verdict::kUnknownJob);
  EXPECT_EQ(ledger.tombstone(kJob), nullptr);
  EXPECT_EQ(apply(CancelRequested{kJob, "ada", "", JobState::kCancelled, true, kClient}), Verdict::kUnknownJob);
  EXPECT_EQ(accept(kJob, outline({{}})), Verdict::kJobEnded);
  EXPECT_EQ(ledger.tombstone(kJob)->state, JobState::kCancelled);
}

TEST_F(LedgerTest, TakesSettingsInTheOrderOfTheirVersions) {
  EXPECT_EQ(apply(Configuration{2, "a"}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(Configuration{1, "a"}), Verdict::kApplied);
  EXPECT_EQ(apply(Configuration{1, "a"}), Verdict::kRepeated);
  EXPECT_EQ(apply(Configuration{1, "b"}), Verdict::kStaleEpoch);
  EXPECT_EQ(ledger.settings(), "a");
}

}  // namespace
}  // namespace muster::cluster
