#include "cluster/gate_ledger.h"

#include <gtest/gtest.h>

#include "cluster/gate_ledger_fixture.h"
#include "cluster/gate_options.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

class GateLedgerTest : public ::testing::Test, public GateLedgerFixture {};

TEST_F(GateLedgerTest, TakesASubmissionOnceWhoeverRepeatsIt) {
  EXPECT_EQ(submit(kJob, {"east"}), Verdict::kApplied);
  EXPECT_EQ(submit(kJob, {"west"}), Verdict::kRepeated);
  EXPECT_EQ(apply(JobSubmitted{kJob, ClientId{6}, kGateB, fresh(), body(1), outline({{}}), {"east"}, 0, false}),
            Verdict::kJobConflict);
  EXPECT_EQ(job().datacenters, std::vector<std::string>{"east"});
  EXPECT_EQ(job().epoch, 1u);
}

TEST_F(GateLedgerTest, IgnoresAnIndexThatWasApplied) {
  EXPECT_EQ(submit(kJob, {"east"}), Verdict::kApplied);
  EXPECT_EQ(ledger.apply(1, {kGateA, 9, EndAcknowledged{kJob}}), Verdict::kRepeated);
}

TEST_F(GateLedgerTest, RefusesSubmissionsThatNameNoDatacenterOrOneTwice) {
  EXPECT_EQ(submit(kJob, {}), Verdict::kInvalid);
  EXPECT_EQ(submit(kJob, {"east", "east"}), Verdict::kInvalid);
  EXPECT_EQ(submit(kJob, {""}), Verdict::kInvalid);
  EXPECT_EQ(submit_count(kJob, 1000), Verdict::kInvalid);
  EXPECT_EQ(submit_count(kJob, 2, {"east"}), Verdict::kApplied);
  EXPECT_EQ(job().slots.size(), 2u);
  EXPECT_FALSE(job().exact);
}

TEST_F(GateLedgerTest, KeepsRoomForEveryResultThatAJobCanBring) {
  std::uint64_t accepted = 0;
  while (submit(JobId{1000 + accepted}, {"a", "b", "c", "d"}, false, kMaxWorkflows) == Verdict::kApplied) ++accepted;
  EXPECT_EQ(accepted, kMaxGateResults / (4 * kMaxWorkflows));
  EXPECT_EQ(submit(kJob, {"a"}), Verdict::kLedgerFull);
}

TEST_F(GateLedgerTest, ALateCopyOfARefusedSubmissionStaysRefused) {
  for (std::uint64_t i = 0; i < kMaxGateJobs; ++i) submit(JobId{1000 + i}, {"a"});
  const GateEntry entry{kGateB, 7,
                        JobSubmitted{kJob, kClient, kGateB, fresh(), body(1), outline({{}}), {"a"}, 0, false}};
  EXPECT_EQ(ledger.apply(ledger.index() + 1, entry), Verdict::kLedgerFull);
  EXPECT_EQ(apply(JobCancelled{JobId{1000}, kClient, "", ""}), Verdict::kApplied);
  EXPECT_EQ(apply(GateJobForgotten{JobId{1000}}), Verdict::kApplied);
  EXPECT_EQ(ledger.apply(ledger.index() + 1, entry), Verdict::kLedgerFull);
  EXPECT_EQ(ledger.apply(ledger.index() + 1, {kGateB, 8, entry.command}), Verdict::kApplied);
}

TEST_F(GateLedgerTest, ALeaseMovesWithTheNextEpochOnly) {
  submit(kJob, {"east"});
  EXPECT_EQ(apply(LeaseMoved{kJob, 3, job().renewal, fresh(), kGateB}), Verdict::kStaleEpoch);
  EXPECT_EQ(move(kGateB), Verdict::kApplied);
  EXPECT_EQ(job().epoch, 2u);
  EXPECT_EQ(job().owner, kGateB);
  EXPECT_EQ(apply(LeaseMoved{kJob, 2, RenewalId{1}, fresh(), kGateB}), Verdict::kRepeated);
  EXPECT_EQ(apply(LeaseMoved{kJob, 2, job().renewal, fresh(), kGateA}), Verdict::kStaleEpoch);
}

TEST_F(GateLedgerTest, AnExpiryDecidedBeforeARenewalHasNoEffect) {
  submit(kJob, {"east"});
  const RenewalId known = job().renewal;
  EXPECT_EQ(renew(), Verdict::kApplied);
  EXPECT_EQ(apply(LeaseMoved{kJob, 2, known, fresh(), kGateB}), Verdict::kStaleEpoch);
  EXPECT_EQ(job().owner, kGateA);
}

TEST_F(GateLedgerTest, ASupersededHolderRenewsNothing) {
  submit(kJob, {"east"});
  move(kGateB);
  const RenewalId before = job().renewal;
  EXPECT_EQ(apply(LeasesRenewed{kGateA, {{kJob, 1, fresh(), 0}, {kJob, 2, fresh(), 0}, {JobId{4}, 1, fresh(), 0}}}),
            Verdict::kStaleEpoch);
  EXPECT_EQ(job().renewal, before);
}

TEST_F(GateLedgerTest, ASupersededOwnerDecidesNothing) {
  submit(kJob, {"east"});
  offer("east");
  const SlotFence old = fence();
  move(kGateB);
  EXPECT_EQ(apply(SlotAccepted{old}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(SlotFailed{old, JobState::kFailed, false, ""}), Verdict::kStaleEpoch);
  EXPECT_EQ(apply(WorkflowReceived{old, status(0)}), Verdict::kStaleEpoch);
  EXPECT_EQ(accepted(), Verdict::kApplied);
}

TEST_F(GateLedgerTest, AnotherDatacenterIsTriedUntilOneAccepts) {
  submit_count(kJob, 1);
  EXPECT_EQ(offer("east"), Verdict::kApplied);
  EXPECT_EQ(offer("west", true), Verdict::kApplied);
  EXPECT_TRUE(job().abandoned.empty());
  EXPECT_EQ(offer("north"), Verdict::kApplied);
  EXPECT_EQ(job().abandoned, std::vector<std::string>{"west"});
  EXPECT_EQ(accepted(), Verdict::kApplied);
  EXPECT_EQ(offer("south"), Verdict::kWrongState);
}

TEST_F(GateLedgerTest, ADatacenterGivenUpIsNeverOfferedAgainAndItsResultsAreRefused) {
  submit_count(kJob, 1);
  offer("east");
  const SlotFence old = fence();
  offer("west");
  EXPECT_EQ(apply(SlotAccepted{old}), Verdict::kStaleFence);
  EXPECT_EQ(apply(WorkflowReceived{old, status(0)}), Verdict::kStaleFence);
  EXPECT_EQ(apply(SlotEnded{old, JobState::kCompleted, "", {}}), Verdict::kStaleFence);
  EXPECT_EQ(offer("east"), Verdict::kWrongState);
}

TEST_F(GateLedgerTest, TwoSlotsNeverRunAtOneDatacenter) {
  submit_count(kJob, 2);
  EXPECT_EQ(offer("east", false, 0), Verdict::kApplied);
  EXPECT_EQ(offer("east", false, 1), Verdict::kWrongState);
}

TEST_F(GateLedgerTest, AResultCountsOnce) {
  submit(kJob, {"east"}, false, 2);
  offer("east");
  accepted();
  EXPECT_EQ(result(0), Verdict::kApplied);
  EXPECT_EQ(result(0), Verdict::kRepeated);
  EXPECT_EQ(result(5), Verdict::kInvalid);
  EXPECT_EQ(result(1, WorkflowState::kRunning), Verdict::kInvalid);
  EXPECT_EQ(job().results.size(), 1u);
}

TEST_F(GateLedgerTest, NoRunHasCompletedWithResultsMissing) {
  submit(kJob, {"east"}, false, 2);
  offer("east");
  accepted();
  result(1);
  const SlotEnded end{fence(), JobState::kCompleted, "", seconds(3)};
  EXPECT_EQ(apply(end), Verdict::kWrongState);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  result(0);
  EXPECT_EQ(apply(end), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kCompleted);
}

TEST_F(GateLedgerTest, ResultsOfAnEarlierRunAreNotThoseOfTheOneThatCompletes) {
  submit(kJob, {"east"}, true);
  offer("east");
  result(0);
  lost();
  offer("west");
  accepted();
  EXPECT_EQ(apply(SlotEnded{fence(), JobState::kCompleted, "", seconds(3)}), Verdict::kWrongState);
  EXPECT_EQ(apply(SlotEnded{fence(), JobState::kFailed, "", seconds(3)}), Verdict::kApplied);
}

TEST_F(GateLedgerTest, WhoTellsAResultHasAccepted) {
  submit_count(kJob, 1);
  offer("east");
  EXPECT_EQ(result(0), Verdict::kApplied);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  EXPECT_EQ(offer("west"), Verdict::kWrongState);
}

TEST_F(GateLedgerTest, AJobEndsWhenEveryDatacenterHas) {
  submit(kJob, {"east", "west"});
  for (std::uint32_t i = 0; i < 2; ++i) {
    offer(i == 0 ? "east" : "west", false, i);
    accepted(i);
  }
  EXPECT_EQ(ended(JobState::kCompleted, 0), Verdict::kApplied);
  EXPECT_FALSE(job().end);
  EXPECT_EQ(ended(JobState::kFailed, 1), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kPartial);
  EXPECT_EQ(ended(JobState::kCompleted, 1), Verdict::kRepeated);
  EXPECT_EQ(job().end, JobState::kPartial);
}

TEST_F(GateLedgerTest, ALostDatacenterFailsAndItsLaterEndIsRefused) {
  submit(kJob, {"east", "west"});
  for (std::uint32_t i = 0; i < 2; ++i) {
    offer(i == 0 ? "east" : "west", false, i);
    accepted(i);
  }
  EXPECT_EQ(lost(0), Verdict::kApplied);
  EXPECT_TRUE(slot(0).lost);
  EXPECT_EQ(ended(JobState::kCompleted, 0), Verdict::kStaleFence);
  EXPECT_EQ(result(0, WorkflowState::kCompleted, 0), Verdict::kWrongState);
  EXPECT_EQ(ended(JobState::kCompleted, 1), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kPartial);
}

TEST_F(GateLedgerTest, ALossDecidedBeforeARenewalHasNoEffect) {
  submit(kJob, {"east"});
  offer("east");
  accepted();
  const SlotLost decided{fence(), slot().heard, SlotLoss::kUnheard, ""};
  EXPECT_EQ(renew(1), Verdict::kApplied);
  EXPECT_EQ(apply(decided), Verdict::kStaleFence);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
}

TEST_F(GateLedgerTest, ARenewalCoversOnlyDatacentersThatWereHeardOf) {
  submit(kJob, {"east", "west"});
  for (std::uint32_t i = 0; i < 2; ++i) {
    offer(i == 0 ? "east" : "west", false, i);
    accepted(i);
  }
  const RenewalId west = slot(1).heard;
  renew(0b01);
  EXPECT_EQ(slot(0).heard, job().renewal);
  EXPECT_EQ(slot(1).heard, west);
}

TEST_F(GateLedgerTest, AJobIsReroutedOnlyIfItAskedForIt) {
  submit(kJob, {"east"}, true);
  offer("east");
  accepted();
  EXPECT_EQ(lost(), Verdict::kApplied);
  EXPECT_EQ(slot().phase, SlotPhase::kOpen);
  EXPECT_EQ(offer("east"), Verdict::kWrongState);
  EXPECT_EQ(offer("west"), Verdict::kApplied);
  accepted();
  EXPECT_EQ(ended(), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kCompleted);
}

TEST_F(GateLedgerTest, AJobThatADatacenterForgotIsLostAndNeverRerouted) {
  submit(kJob, {"east"}, true);
  offer("east");
  accepted();
  EXPECT_EQ(lost(0, SlotLoss::kForgotten), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kFailed);
}

TEST_F(GateLedgerTest, ReroutesAreBounded) {
  submit(kJob, {"d0"}, true);
  for (std::uint32_t i = 0; i <= kMaxReroutes; ++i) {
    offer("d" + std::to_string(i));
    accepted();
    EXPECT_FALSE(job().end);
    lost();
  }
  EXPECT_EQ(job().end, JobState::kFailed);
}

TEST_F(GateLedgerTest, ACancelledJobIsOfferedToNobody) {
  submit(kJob, {"east", "west"});
  offer("east", false, 0);
  EXPECT_EQ(apply(JobCancelled{kJob, ClientId{6}, "", ""}), Verdict::kJobConflict);
  EXPECT_EQ(apply(JobCancelled{kJob, kClient, "me", "changed my mind"}), Verdict::kApplied);
  EXPECT_EQ(apply(JobCancelled{kJob, kClient, "me", "again"}), Verdict::kRepeated);
  EXPECT_EQ(slot(1).state, JobState::kCancelled);
  EXPECT_EQ(offer("north", false, 0), Verdict::kCancelled);
  EXPECT_EQ(accepted(0), Verdict::kApplied);
  EXPECT_EQ(ended(JobState::kCancelled, 0), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kCancelled);
  EXPECT_EQ(job().cancel->reason, "changed my mind");
}

TEST_F(GateLedgerTest, ACancelledJobWhoseDatacenterIsLostIsCancelled) {
  submit(kJob, {"east"}, true);
  offer("east");
  accepted();
  apply(JobCancelled{kJob, kClient, "me", ""});
  EXPECT_EQ(lost(), Verdict::kApplied);
  EXPECT_EQ(job().end, JobState::kCancelled);
  EXPECT_TRUE(slot().lost);
}

TEST_F(GateLedgerTest, AJobThatCompletedBeforeItsCancellationReachedItIsCompleted) {
  submit(kJob, {"east"});
  offer("east");
  accepted();
  apply(JobCancelled{kJob, kClient, "me", ""});
  ended();
  EXPECT_EQ(job().end, JobState::kCompleted);
}

TEST_F(GateLedgerTest, AForgottenJobLeavesItsEnd) {
  submit(kJob, {"east"});
  offer("east");
  accepted();
  result(0);
  EXPECT_EQ(apply(GateJobForgotten{kJob}), Verdict::kWrongState);
  EXPECT_EQ(apply(EndAcknowledged{kJob}), Verdict::kWrongState);
  ended();
  EXPECT_EQ(apply(EndAcknowledged{kJob}), Verdict::kApplied);
  EXPECT_EQ(apply(EndAcknowledged{kJob}), Verdict::kRepeated);
  EXPECT_EQ(apply(GateJobForgotten{kJob}), Verdict::kApplied);
  EXPECT_EQ(apply(GateJobForgotten{kJob}), Verdict::kRepeated);
  ASSERT_NE(ledger.tombstone(kJob), nullptr);
  EXPECT_EQ(ledger.tombstone(kJob)->state, JobState::kCompleted);
  EXPECT_EQ(submit(kJob, {"east"}), Verdict::kJobEnded);
  EXPECT_TRUE(ledger.bodies().empty());
  EXPECT_EQ(ledger.free_results(), kMaxGateResults);
}

TEST_F(GateLedgerTest, NamesABundleUntilTheEndAndResultsUntilForgotten) {
  submit(kJob, {"east"});
  offer("east");
  accepted();
  EXPECT_TRUE(ledger.bodies().contains(body(1)));
  result(0);
  ended();
  EXPECT_FALSE(ledger.bodies().contains(body(1)));
  EXPECT_TRUE(ledger.bodies().contains(body(70)));
}

TEST_F(GateLedgerTest, ATakeOverBeginsTheLeasesOfDatacentersAnew) {
  submit(kJob, {"east"});
  offer("east");
  accepted();
  const SlotLost decided{{kJob, 2, 0, 1}, slot().heard, SlotLoss::kUnheard, ""};
  move(kGateB);
  EXPECT_EQ(apply(decided, kGateB), Verdict::kStaleFence);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
}

}  // namespace
}  // namespace muster::cluster
