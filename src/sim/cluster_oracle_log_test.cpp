// The oracles of runs and logs, shown what must not happen.
#include <gtest/gtest.h>

#include "sim/cluster_oracle_cancel.h"
#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

cluster::CancelRequested given_up(std::string_view reason) {
  return cluster::gives_up(kJob, 1, reason, cluster::JobState::kFailed);
}

TEST_F(ClusterOracles, SeeAnEndByACancellationThatNobodyAskedFor) {
  keep_everywhere(hash_body("bundle"));
  commit(accepted());
  commit(cluster::Configuration{}, cluster::CancelRequested{kJob, "ada", "", cluster::JobState::kCancelled});
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCancelled, ""});
  EXPECT_EQ(broken(), "16");
}

TEST_F(ClusterOracles, SeeAnEndThatItsResultsDoNotSay) {
  provision(of_one_workflow());
  const cluster::ResultHeld completed = result();
  cluster::ResultHeld failed = completed;
  failed.outcome = cluster::PartOutcome::kFailed;
  commit(failed, completed);
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCompleted, ""});
  EXPECT_EQ(broken(), "16");
}

TEST_F(ClusterOracles, AllowAnEndThatItsResultsSay) {
  provision(of_one_workflow());
  commit(result());
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCompleted, ""});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeAPartGivenUpForLossesThatCountForNothing) {
  provision();
  for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
    const cluster::PartLost alone{{kJob, 0, 0}, {1, attempt}, 1, cluster::Loss::kAlone};
    cluster::PartLost counted = alone;
    counted.loss = cluster::Loss::kNotRunning;
    runs_.excuses(kWorker, {alone.part, alone.fence}, alone.loss);
    commit(alone, counted);
    if (attempt < 4) commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, attempt + 1}}});
  }
  EXPECT_EQ(broken(), "");
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kFailed, ""});
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeCoresGivenBackThatAreInUse) {
  provision();
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
  commit(cluster::CoresDone{{kJob, 0, 0}, {1, 1}, 1, 2});
  EXPECT_EQ(broken(), "cores");
}

TEST_F(ClusterOracles, AccountForCoresThatAreGivenBackEarly) {
  provision();
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
  runs_.leaves(kWorker, 2);
  runs_.leaves(kWorker, 3);
  commit(cluster::CoresDone{{kJob, 0, 0}, {1, 1}, 1, 2});
  commit(cluster::CoresDone{{kJob, 0, 0}, {1, 1}, 1, 2});
  EXPECT_EQ(log_.cores_held(), 2u);
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kStuck});
  EXPECT_EQ(log_.cores_held(), 0u);
}

TEST_F(ClusterOracles, SeeAPartOfferedAgainAfterTooManyRefusals) {
  provision();
  for (std::uint32_t attempt = 1; attempt <= 6; ++attempt) {
    EXPECT_EQ(broken(), "") << attempt;
    // The ledger takes it for a loss that counts for nothing, and so goes on.
    const cluster::PartLost refused{{kJob, 0, 0}, {1, attempt}, 1, cluster::Loss::kRefused};
    cluster::PartLost alone = refused;
    alone.loss = cluster::Loss::kAlone;
    commit(refused, alone);
    commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, attempt + 1}}});
  }
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeAPartThatGoesAgainToWhoLostIt) {
  provision();
  const cluster::PartLost lost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning};
  runs_.excuses(kWorker, {lost.part, lost.fence}, lost.loss);
  commit(lost);
  EXPECT_EQ(broken(), "");
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, 2}}});
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeWhatALeaderGivesUpWhoLeadsNoMore) {
  provision();
  commit(cluster::JobOwner{kJob, {base::NodeId{102}, Life{1}}, 2, std::chrono::seconds(0)});
  cluster::CancelRequested late = given_up(cluster::given_up::kContextNotKept);
  cluster::CancelRequested unmarked = late;
  unmarked.epoch = 0;
  commit(late, unmarked);
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAJobGivenUpBeforeTheTimeThatItsReasonTakes) {
  const auto seen = [](std::string_view reason, std::chrono::seconds after) {
    struct Each : ClusterOracles {
      void TestBody() override {}
      std::string give_up(std::string_view reason, std::chrono::seconds after) {
        cluster::JobAccepted job = accepted();
        job.outline.time_limit = std::chrono::seconds(20);
        provision(job);
        if (reason == cluster::given_up::kNoWorker) commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
        kernel_.run(after);
        commit(given_up(reason));
        return broken();
      }
    };
    return Each().give_up(reason, after);
  };
  using std::chrono::seconds;
  EXPECT_EQ(seen(cluster::given_up::kTimeLimit, seconds(19)), "failed-cause");
  EXPECT_EQ(seen(cluster::given_up::kTimeLimit, seconds(20)), "");
  EXPECT_EQ(seen(cluster::given_up::kNotDispatched, seconds(290)), "failed-cause");
  EXPECT_EQ(seen(cluster::given_up::kNotDispatched, seconds(300)), "");
  EXPECT_EQ(seen(cluster::given_up::kNoWorker, seconds(58)), "failed-cause");
  EXPECT_EQ(seen(cluster::given_up::kNoWorker, seconds(60)), "");
  EXPECT_EQ(seen(cluster::given_up::kContextNotKept, seconds(58)), "failed-cause");
  EXPECT_EQ(seen("because", seconds(600)), "failed-cause");
}

TEST_F(ClusterOracles, SeeAJobGivenUpForWantOfWorkersThatAreThere) {
  provision();
  kernel_.run(std::chrono::seconds(100));
  commit(given_up(cluster::given_up::kNoWorker));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeAJobGivenUpAsSoonAsTheLastWorkerIsGone) {
  provision();
  kernel_.run(std::chrono::seconds(100));
  commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
  kernel_.run(std::chrono::seconds(105));
  commit(given_up(cluster::given_up::kNoWorker));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeAJobGivenUpAsSoonAsAPartIsLostToTheLastWorker) {
  provision();
  kernel_.run(std::chrono::seconds(100));
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning});
  kernel_.run(std::chrono::seconds(105));
  commit(given_up(cluster::given_up::kNobodyMayTake));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeAJobGivenUpForAnOfferThatWasLongTaken) {
  provision();
  commit(result());
  kernel_.run(std::chrono::seconds(300));
  commit(given_up(cluster::given_up::kNotDispatched));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, SeeALossThatCountsForNothingThoughItsWorkerSaidNothing) {
  const auto loses = [](cluster::Loss loss, bool said) {
    struct Each : ClusterOracles {
      void TestBody() override {}
      std::string lose(cluster::Loss loss, bool said) {
        provision();
        if (said) runs_.excuses(kWorker, {PartId{kJob, 0, 0}, Fence{1, 1}}, loss);
        commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, loss});
        return broken();
      }
    };
    return Each().lose(loss, said);
  };
  for (const cluster::Loss loss : {cluster::Loss::kAlone, cluster::Loss::kDraining}) {
    EXPECT_EQ(loses(loss, true), "");
    EXPECT_EQ(loses(loss, false), "failed-cause");
  }
}

TEST_F(ClusterOracles, SeeAJobGivenUpForAPartThatAnotherWorkerCouldTake) {
  provision();
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning});
  kernel_.run(std::chrono::seconds(100));
  commit(cluster::WorkerAdmitted{{kOther, Life{1}}, 4});
  kernel_.run(std::chrono::seconds(120));
  commit(given_up(cluster::given_up::kNobodyMayTake));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, AllowAJobGivenUpForAPartThatEveryWorkerLost) {
  provision();
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning});
  kernel_.run(std::chrono::seconds(100));
  commit(given_up(cluster::given_up::kNobodyMayTake));
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeAJobGivenUpForAContextThatWasNotYetDue) {
  provision();
  kernel_.run(std::chrono::seconds(100));
  commit(given_up(cluster::given_up::kContextNotKept));
  EXPECT_EQ(broken(), "failed-cause");
}

TEST_F(ClusterOracles, AllowAJobGivenUpForAContextThatNobodyCouldKeep) {
  provision();
  commit(result());
  kernel_.run(std::chrono::seconds(60));
  commit(given_up(cluster::given_up::kContextNotKept));
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeAPartThatItsOnlyWorkerIsOfferedInHasteUntilItFails) {
  // Refused so often, with a pause between that grows with each time.
  const auto fails = [](std::uint32_t times, base::Duration pause, base::Duration first_pause) {
    struct Each : ClusterOracles {
      void TestBody() override {}
      std::string fail(std::uint32_t times, base::Duration pause, base::Duration first_pause) {
        provision();
        for (std::uint32_t attempt = 1; attempt <= times; ++attempt) {
          commit(cluster::PartLost{{kJob, 0, 0}, {1, attempt}, 1, cluster::Loss::kRefused});
          if (attempt < times) commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 4, attempt + 1}}});
          kernel_.run(first_pause + attempt * pause);
        }
        commit(cluster::JobEnded{kJob, 1, cluster::JobState::kFailed, ""});
        return broken();
      }
    };
    return Each().fail(times, pause, first_pause);
  };
  using std::chrono::milliseconds;
  EXPECT_EQ(fails(6, milliseconds(10), milliseconds(0)), "failed-cause");
  EXPECT_EQ(fails(6, milliseconds(500), milliseconds(0)), "");
  EXPECT_EQ(fails(6, milliseconds(1), milliseconds(10'000)), "failed-cause") << "the first was long ago";
}

TEST_F(ClusterOracles, SeeATimeOutOfAPartThatHasNoLimit) {
  provision(of_one_workflow());
  cluster::ResultHeld over = result(cluster::PartOutcome::kCancelled);
  over.outcome = cluster::PartOutcome::kTimeout;
  kernel_.run(std::chrono::hours(1));
  commit(over);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ClusterOracles, SeeATimeOutBeforeItsTime) {
  const auto ends = [](std::chrono::seconds after) {
    struct Each : ClusterOracles {
      void TestBody() override {}
      std::string end(std::chrono::seconds after) {
        cluster::JobAccepted job = of_one_workflow();
        job.outline.workflows[0].run_limit = std::chrono::seconds(20);
        provision(job);
        cluster::ResultHeld over = result(cluster::PartOutcome::kCancelled);
        over.outcome = cluster::PartOutcome::kTimeout;
        kernel_.run(after);
        commit(over);
        return broken();
      }
    };
    return Each().end(after);
  };
  EXPECT_EQ(ends(std::chrono::seconds(19)), "12");
  EXPECT_EQ(ends(std::chrono::seconds(20)), "");
}

TEST_F(ClusterOracles, SeeAnEndForgottenThatNobodyHasTaken) {
  provision(of_one_workflow());
  commit(result());
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCompleted, ""});
  kernel_.run(std::chrono::hours(1));
  commit(cluster::JobForgotten{kJob});
  EXPECT_EQ(broken(), "14");
}

TEST_F(ClusterOracles, AllowAnEndToBeForgottenThatWasTaken) {
  provision(of_one_workflow());
  commit(result());
  commit(cluster::JobEnded{kJob, 1, cluster::JobState::kCompleted, ""});
  talk_.leaves(kClient, kManager, cluster::EndAck{kJob});
  commit(cluster::JobForgotten{kJob});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterOracles, SeeAnEndedRunOfADatacenterThatGoesOn) {
  submit_at_gates();
  commit_at_gates(cluster::SlotFailed{{kJob, 1, 0, 1}, cluster::JobState::kFailed, true, ""});
  EXPECT_EQ(broken(), "");
  // Of another log, where it has not ended.
  cluster::GateLedger other;
  const cluster::JobAccepted job = accepted();
  other.apply(
      1, {kGateOwner, 1,
          cluster::JobSubmitted{
              kJob, job.client, {kGate, Life{1}}, cluster::RenewalId{1}, job.bundle, job.outline, {"east"}, 0, false}});
  const cluster::GateEntry offered{kGateOwner, 2, cluster::SlotOffered{{kJob, 1, 0, 1}, "east", false}};
  other.apply(2, offered);
  log_.committed(gate_index_ + 1, offered, other, kGates);
  EXPECT_EQ(broken(), "16");
}

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

TEST_F(ClusterOracles, SeeAnAttemptStartedForWhichTheLogGivesNoCores) {
  provision();
  log_.claims(kWorker, order(0, {1, 1}, {0, 1, 2, 3}));
  EXPECT_EQ(broken(), "");
  commit(result());
  log_.claims(kWorker, order(0, {1, 1}, {0, 1, 2, 3}));
  EXPECT_EQ(broken(), "9");
}

TEST_F(ClusterOracles, SeeAnAttemptStartedOnAnotherWorkerThanTheLogGave) {
  provision();
  log_.claims(kOther, order(0, {1, 1}, {0, 1, 2, 3}));
  EXPECT_EQ(broken(), "9");
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

TEST_F(ClusterOracles, KnowForHowLongAWorkerStillHasContact) {
  EXPECT_EQ(runs_.contact_left(kWorker), base::Duration::zero());
  const base::Instant now = kernel_.clock_of(kWorker);
  runs_.contact(kWorker, now - std::chrono::seconds(10));
  EXPECT_EQ(runs_.contact_left(kWorker), base::Duration::zero());  // not in the turn in which it is told
  runs_.thought(kWorker);
  EXPECT_EQ(runs_.contact_left(kWorker), std::chrono::seconds(20));
}

// A per cent of the time since it started would hide what a clock does within the time that a limit takes.
TEST_F(ClusterOracles, TrustNoClockThatRanTrueForLongAndThenRanAway) {
  const auto runs_on = [this](base::Duration span) {
    for (const base::Duration end = kernel_.elapsed() + span; kernel_.elapsed() < end;) {
      kernel_.run(kernel_.elapsed() + std::chrono::milliseconds(100));
      runs_.observe(kManager);
    }
  };
  runs_.booted(kManager);
  kernel_.run_clock_at(kManager, Clock::kTrueRate + Clock::kTrueRate / 128);
  runs_on(std::chrono::seconds(120));
  EXPECT_TRUE(runs_.keeps_time(kManager));
  kernel_.run_clock_at(kManager, Clock::kTrueRate + Clock::kTrueRate / 3);
  runs_on(std::chrono::seconds(2));
  EXPECT_FALSE(runs_.keeps_time(kManager));
  EXPECT_FALSE(runs_.managers_keep_time(ClusterMap::datacenter(kManager), std::chrono::seconds(100)));
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
  cluster::StartExecutor next = of_next_layer(context(0, token_of(0, 0)));
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
  log_.starts(kWorker, of_next_layer(context(0, token_of(0, 1))));
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeAContextOfTheFirstPartAlone) {
  keep_everywhere(hash_body("bundle"));
  keep_everywhere(hash_body("result"));
  keep_everywhere(hash_body("context"));
  commit(accepted());
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  commit(cluster::Provision{kJob, 1, 0, {{0, {kWorker, Life{1}}, 2, 1}, {1, {kWorker, Life{1}}, 2, 1}}});
  for (std::uint32_t part = 0; part < 2; ++part) {
    cluster::StartExecutor begun = order(part, {1, 1}, {2 * part, 2 * part + 1});
    begun.slice.first_core = 2 * part;
    runs_.started(kWorker, 0, begun);
    cluster::ExecutorEnd end;
    end.part = begun.part;
    end.fence = begun.fence;
    end.outcome = cluster::PartOutcome::kCompleted;
    end.counts = counts_of(kJob, 0, begun.slice);
    runs_.ended(kWorker, end, hash_body("result"));
    commit(cluster::ResultHeld{end.part, end.fence, *end.outcome, {hash_body("result"), 6}, end.counts, ""});
  }
  commit(cluster::LayerContext{kJob, 1, 0, 1, {hash_body("context"), 7}});
  log_.starts(kWorker, of_next_layer(context(0, token_of(0, 1))));
  EXPECT_EQ(broken(), "");
  log_.starts(kWorker, of_next_layer(context(0, token_of(0, 0))));
  EXPECT_EQ(broken(), "layers");
}

TEST_F(ClusterOracles, SeeAWorkerThatTakesAPartOnAndIsToDrain) {
  cluster::Dispatch offer;
  offer.part = {kJob, 0, 0};
  offer.fence = {1, 1};
  runs_.taken_on(kWorker, 0, offer);
  runs_.taken_on(kWorker, 0, offer, true);  // says again what it said before
  EXPECT_EQ(broken(), "");
  offer.fence = {1, 2};
  runs_.taken_on(kWorker, 0, offer, true);
  EXPECT_EQ(broken(), "draining");
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

TEST_F(ClusterOracles, SeeAResultThatIsHeldWithoutWhatItsExecutorLeft) {
  provision();
  cluster::ResultHeld bare = result();
  bare.body = {};
  commit(bare);
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

TEST_F(ClusterOracles, SeeThatAJobRunsOnThatTheGatesHaveGivenUp) {
  submit_at_gates();
  provision();
  runs_.started(kWorker, 0, order(0, {1, 1}, {0, 1, 2, 3}));
  commit_at_gates(cluster::SlotFailed{{kJob, 1, 0, 1}, cluster::JobState::kFailed, false, ""});
  ASSERT_TRUE(log_.ended_at_gates(kJob));
  kernel_.run(kGivenUpWithin);
  check_cancelled(kernel_, log_, runs_, {kWorker}, {});
  EXPECT_EQ(broken(), "");
  kernel_.run(2 * kGivenUpWithin);
  check_cancelled(kernel_, log_, runs_, {kWorker}, kGivenUpWithin);
  EXPECT_EQ(broken(), "");
  check_cancelled(kernel_, log_, runs_, {kWorker}, {});
  EXPECT_EQ(broken(), "cancelled");
}

}  // namespace
}  // namespace muster::sim
