#include "cluster/worker_table.h"

#include <gtest/gtest.h>

#include "cluster/ledger_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WorkerTableTest : public ::testing::Test, public LedgerFixture {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 1; i <= 3; ++i) {
      admit(cluster::worker(i), 4);
      table_.heard(cluster::worker(i), WorkerState::kHealthy, 1, now_);
    }
  }
  std::vector<NodeId> nodes() const {
    std::vector<NodeId> found;
    for (const Candidate& candidate : table_.candidates(ledger, now_)) found.push_back(candidate.worker.node);
    return found;
  }
  void evict(const Process& worker, Eviction reason) {
    apply(WorkerEvicted{worker, reason});
    table_.sync(ledger, now_);
  }

  base::Instant now_{std::chrono::hours(1)};
  WorkerTable table_{ManagerOptions{}};
};

TEST_F(WorkerTableTest, LeavesOutDrainingDeadAndBrokenWorkers) {
  table_.heard(cluster::worker(1), WorkerState::kDraining, 2, now_);
  EXPECT_EQ(nodes(), (std::vector<NodeId>{cluster::worker(2).node, cluster::worker(3).node}));
  table_.swim(cluster::worker(2).node, Liveness::kDead);
  EXPECT_EQ(nodes(), (std::vector<NodeId>{cluster::worker(3).node}));
  for (int i = 0; i < 3; ++i) table_.unanswered(cluster::worker(3).node, now_);
  EXPECT_TRUE(nodes().empty());
  now_ += seconds(10);
  table_.heard(cluster::worker(1), WorkerState::kDraining, 3, now_);
  EXPECT_EQ(nodes(), (std::vector<NodeId>{cluster::worker(3).node}));
}

TEST_F(WorkerTableTest, AWorkerOnTrialIsCalledOnceUntilItAnswers) {
  const NodeId node = cluster::worker(3).node;
  for (int i = 0; i < 3; ++i) table_.unanswered(node, now_);
  EXPECT_FALSE(table_.may_call(node, now_));
  now_ += seconds(10);
  EXPECT_TRUE(table_.candidates(ledger, now_).back().on_trial);
  EXPECT_TRUE(table_.may_call(node, now_));
  EXPECT_FALSE(table_.may_call(node, now_));
  EXPECT_EQ(nodes().size(), 2u);
  table_.answered(node, now_);
  EXPECT_TRUE(table_.may_call(node, now_));
  EXPECT_FALSE(table_.candidates(ledger, now_).back().on_trial);
}

// As in a manager that has just read its log, and has not heard of the worker itself.
TEST_F(WorkerTableTest, CountsCallsWithoutAnAnswerThoughItKnowsTheWorkerFromTheLedgerAlone) {
  WorkerTable fresh{ManagerOptions{}};
  fresh.sync(ledger, now_);
  const NodeId node = cluster::worker(3).node;
  for (int i = 0; i < 2; ++i) fresh.unanswered(node, now_);
  fresh.sync(ledger, now_);
  EXPECT_TRUE(fresh.may_call(node, now_));
  fresh.unanswered(node, now_);
  EXPECT_FALSE(fresh.may_call(node, now_));
}

TEST_F(WorkerTableTest, IgnoresReportsThatAreNotNewer) {
  EXPECT_FALSE(table_.heard(cluster::worker(1), WorkerState::kDraining, 1, now_));
  EXPECT_FALSE(table_.heard(cluster::worker(1, 0), WorkerState::kDraining, 9, now_));
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, BelievesWhatAWorkerSaidOfItselfForAWhile) {
  table_.heard(cluster::worker(1), WorkerState::kDraining, 2, now_);
  now_ += seconds(9);
  EXPECT_EQ(nodes().size(), 2u);
  EXPECT_EQ(table_.pool(ledger, now_).size(), 2u);
  now_ += seconds(1);
  EXPECT_EQ(nodes().size(), 3u);
  EXPECT_EQ(table_.pool(ledger, now_).size(), 3u);
}

TEST_F(WorkerTableTest, ARefusalOfOneThatDrainsIsNewerThanItsReport) {
  table_.drains(cluster::worker(1), now_);
  EXPECT_EQ(nodes().size(), 2u);
  table_.heard(cluster::worker(1), WorkerState::kHealthy, 2, now_);
  EXPECT_EQ(nodes().size(), 3u);
  // Of another life it says nothing.
  table_.drains(cluster::worker(1, 0), now_);
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, WhatWasSeenOfAFormerLifeSaysNothingOfALaterOneOfWhichOthersHeard) {
  const NodeId node = cluster::worker(1).node;
  table_.heard(cluster::worker(1), WorkerState::kDraining, 2, now_);
  for (int i = 0; i < 3; ++i) table_.unanswered(node, now_);
  admit(cluster::worker(1, 2), 4);
  table_.sync(ledger, now_);
  const auto found = table_.candidates(ledger, now_);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].worker, cluster::worker(1, 2));
  EXPECT_FALSE(found[0].degraded);
}

// Each second it tells of two parts, whose beats rise by so much.
TEST_F(WorkerTableTest, AWorkerWhosePartsAllStandStillGetsNothingAndIsEvictedInTheEnd) {
  std::vector<PartReport> parts(2);
  for (std::uint32_t i = 0; i < 2; ++i) parts[i] = {{kJob, 0, i}, {1, 1}, false, seconds(0), 0, 0};
  const auto for_seconds = [&](int count, std::uint64_t beats) {
    for (int i = 0; i < count; ++i) {
      now_ += seconds(1);
      parts[0].beat += beats;
      table_.paced(cluster::worker(1), parts, now_);
    }
  };
  for_seconds(60, 4);
  EXPECT_EQ(nodes().size(), 3u);
  EXPECT_FALSE(table_.candidates(ledger, now_).front().degraded);
  for_seconds(12, 1);
  EXPECT_TRUE(table_.candidates(ledger, now_).front().degraded) << "four times as slow as it was";
  for_seconds(20, 0);
  EXPECT_EQ(nodes().size(), 2u);
  EXPECT_EQ(table_.census(ledger, now_).healthy, 2u);
  for_seconds(60, 0);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty()) << "longer than any extension";
  for_seconds(20, 0);
  ASSERT_EQ(table_.evictions(ledger, false, now_).size(), 1u);
  evict(cluster::worker(1), Eviction::kUnreachable);
  admit(cluster::worker(1), 4);
  table_.sync(ledger, now_);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty()) << "it begins anew";
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, HowAWorkerGotOnIsForgottenWhenItReportsElsewhere) {
  const std::vector<PartReport> parts = {{{kJob, 0, 0}, {1, 1}, false, seconds(0), 7, 0}};
  for (int i = 0; i < 30; ++i) table_.paced(cluster::worker(1), parts, now_ += seconds(1));
  EXPECT_EQ(nodes().size(), 2u);
  now_ += seconds(10);
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, PartsThatComeAndGoAreProgress) {
  std::vector<PartReport> parts = {{{kJob, 0, 0}, {1, 1}, false, seconds(0), 0, 0}};
  for (int i = 0; i < 100; ++i) {
    now_ += seconds(5);
    ++parts[0].fence.attempt;
    table_.paced(cluster::worker(1), parts, now_);
  }
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, WhoLeavesAProbeWithoutAnAnswerForAMomentGetsNothingUntilItAnswers) {
  const NodeId node = cluster::worker(1).node;
  table_.kept_waiting(node, true, now_);
  EXPECT_EQ(nodes().size(), 2u);
  table_.kept_waiting(node, false, now_);
  EXPECT_EQ(nodes().size(), 3u);
  table_.kept_waiting(node, true, now_);
  now_ += seconds(10);
  EXPECT_EQ(nodes().size(), 3u) << "whoever probes now knows better";
}

TEST_F(WorkerTableTest, PartsOfAnEvictedWorkerAreOverOnlyAfterItsTime) {
  EXPECT_EQ(table_.over_at(ledger, cluster::worker(1)), base::kNever);
  evict(cluster::worker(1), Eviction::kDead);
  EXPECT_EQ(table_.over_at(ledger, cluster::worker(1)), now_ + seconds(38));
  now_ += seconds(5);
  table_.sync(ledger, now_);
  EXPECT_EQ(table_.over_at(ledger, cluster::worker(1)), now_ + seconds(33));
  admit(cluster::worker(1), 4);
  table_.sync(ledger, now_);
  EXPECT_EQ(table_.over_at(ledger, cluster::worker(1)), base::kNever);
}

TEST_F(WorkerTableTest, PartsOfAFormerLifeAreOverAtOnce) {
  admit(cluster::worker(1, 2), 4);
  EXPECT_EQ(table_.over_at(ledger, cluster::worker(1)), base::Instant::min());
}

TEST_F(WorkerTableTest, WhoWasHeldDeadMayReturnAtOnceWhoseStreamsFailedOnlyAfterItsTime) {
  evict(cluster::worker(1), Eviction::kDead);
  evict(cluster::worker(2), Eviction::kUnreachable);
  EXPECT_TRUE(table_.may_return(ledger, cluster::worker(1), now_));
  EXPECT_FALSE(table_.may_return(ledger, cluster::worker(2), now_));
  EXPECT_TRUE(table_.may_return(ledger, cluster::worker(2, 2), now_));
  now_ += seconds(38);
  EXPECT_TRUE(table_.may_return(ledger, cluster::worker(2), now_));
}

TEST_F(WorkerTableTest, EvictsWhoIsAliveForSwimButAnswersNothing) {
  table_.unanswered(cluster::worker(1).node, now_);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty());
  for (int i = 0; i < 6; ++i) {
    now_ += seconds(5);
    table_.unanswered(cluster::worker(1).node, now_);
  }
  const auto found = table_.evictions(ledger, false, now_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, Eviction::kUnreachable);
  table_.answered(cluster::worker(1).node, now_);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty());
}

// Who hears nothing but is heard is dead and alive by turns for SWIM, and never long enough away for its parts to be
// over.
TEST_F(WorkerTableTest, EvictsWhoComesBackAgainAndAgainAndAnswersNothing) {
  const Process flapping = cluster::worker(1);
  for (int i = 0; i < 4; ++i) {
    table_.unanswered(flapping.node, now_);
    table_.swim(flapping.node, Liveness::kDead);
    ASSERT_EQ(table_.evictions(ledger, true, now_).at(0).reason, Eviction::kDead);
    evict(flapping, Eviction::kDead);
    table_.sync(ledger, now_);
    now_ += seconds(2);
    table_.unanswered(flapping.node, now_);
    table_.swim(flapping.node, Liveness::kAlive);
    EXPECT_TRUE(table_.may_return(ledger, flapping, now_));
    admit(flapping, 4);
    table_.sync(ledger, now_);
    now_ += seconds(6);
  }
  table_.unanswered(flapping.node, now_);
  table_.swim(flapping.node, Liveness::kDead);
  ASSERT_EQ(table_.evictions(ledger, true, now_).at(0).reason, Eviction::kUnreachable);
  evict(flapping, Eviction::kUnreachable);
  table_.sync(ledger, now_);
  table_.swim(flapping.node, Liveness::kAlive);
  EXPECT_FALSE(table_.may_return(ledger, flapping, now_));
  now_ += seconds(38);
  EXPECT_EQ(table_.over_at(ledger, flapping), now_);
  admit(flapping, 4);
  table_.sync(ledger, now_);
  EXPECT_TRUE(table_.evictions(ledger, true, now_).empty());
}

TEST_F(WorkerTableTest, GoesByWhatMembersTellOfAWorkerThatTellsItNothing) {
  table_.swim(cluster::worker(1).node, Liveness::kAlive, WorkerState::kDraining);
  now_ += seconds(10);
  EXPECT_EQ(nodes().size(), 2u);
  EXPECT_EQ(table_.pool(ledger, now_).size(), 2u);
  // What it says itself is newer.
  table_.heard(cluster::worker(1), WorkerState::kHealthy, 2, now_);
  EXPECT_EQ(nodes().size(), 3u);
  now_ += seconds(10);
  EXPECT_EQ(nodes().size(), 2u);
  table_.swim(cluster::worker(1).node, Liveness::kSuspect);
  EXPECT_EQ(nodes().size(), 2u);
  table_.swim(cluster::worker(1).node, Liveness::kAlive, WorkerState::kHealthy);
  EXPECT_EQ(nodes().size(), 3u);
}

TEST_F(WorkerTableTest, CountsTheCoresOfHealthyWorkersOnly) {
  const auto counts = [&] {
    const Census census = table_.census(ledger, now_);
    return std::vector<std::uint32_t>{census.workers, census.healthy, census.free_cores, census.cores};
  };
  EXPECT_EQ(counts(), (std::vector<std::uint32_t>{3, 3, 12, 12}));
  table_.heard(cluster::worker(1), WorkerState::kDraining, 2, now_);
  EXPECT_EQ(counts(), (std::vector<std::uint32_t>{3, 2, 8, 8}));
  table_.swim(cluster::worker(2).node, Liveness::kSuspect);
  EXPECT_EQ(counts(), (std::vector<std::uint32_t>{3, 1, 4, 4}));
  evict(cluster::worker(2), Eviction::kDead);
  EXPECT_EQ(counts(), (std::vector<std::uint32_t>{2, 1, 4, 4}));
  table_.heard(cluster::worker(3), WorkerState::kDegraded, 2, now_);
  EXPECT_EQ(counts(), (std::vector<std::uint32_t>{2, 0, 0, 0}));
}

TEST_F(WorkerTableTest, OneCallThatWasLostLongAgoIsNoSilence) {
  table_.unanswered(cluster::worker(1).node, now_);
  now_ += seconds(31);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty());
  table_.unanswered(cluster::worker(1).node, now_);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty());
}

TEST_F(WorkerTableTest, WhoAnswersThatItTakesNothingIsNotSilent) {
  for (int i = 0; i < 20; ++i) {
    table_.answered(cluster::worker(1).node, now_);
    table_.declined(cluster::worker(1).node, now_);
    now_ += seconds(5);
    EXPECT_TRUE(table_.evictions(ledger, true, now_).empty());
  }
}

TEST_F(WorkerTableTest, StrangersCannotHideAWorkerThatDies) {
  for (std::uint64_t i = 0; i < 3 * kMaxWorkers; ++i) table_.swim(NodeId{1'000'000 + i}, Liveness::kAlive);
  admit(cluster::worker(4), 4);
  table_.sync(ledger, now_);
  table_.swim(cluster::worker(4).node, Liveness::kDead);
  const auto found = table_.evictions(ledger, true, now_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].worker, cluster::worker(4));
}

TEST_F(WorkerTableTest, ForgetsTheDeadThatTheLedgerDoesNotHave) {
  const NodeId stranger{1'000'000};
  table_.swim(stranger, Liveness::kDead);
  EXPECT_TRUE(table_.suspect(stranger));
  table_.sync(ledger, now_);
  EXPECT_FALSE(table_.suspect(stranger));
}

TEST_F(WorkerTableTest, EvictsWhomItOnlyKnowsFromTheLedgerAndProbesDoNotReach) {
  WorkerTable fresh{ManagerOptions{}};
  fresh.restored(ledger, now_);
  fresh.probed(cluster::worker(1).node, false);
  ASSERT_EQ(fresh.evictions(ledger, true, now_).size(), 1u);
}

TEST_F(WorkerTableTest, OnlyTheLeaderOfTheLogActsOnSwimAndProbes) {
  table_.swim(cluster::worker(1).node, Liveness::kDead);
  table_.probed(cluster::worker(2).node, false);
  EXPECT_TRUE(table_.evictions(ledger, false, now_).empty());
  table_.swim(cluster::worker(1).node, Liveness::kAlive);
  ASSERT_EQ(table_.evictions(ledger, true, now_).size(), 1u);
}

TEST_F(WorkerTableTest, DoesNotEvictMostAtOnceUntilThatLasts) {
  table_.swim(cluster::worker(1).node, Liveness::kDead);
  table_.swim(cluster::worker(2).node, Liveness::kDead);
  EXPECT_TRUE(table_.evictions(ledger, true, now_).empty());
  now_ += seconds(61);
  EXPECT_EQ(table_.evictions(ledger, true, now_).size(), 2u);
}

}  // namespace
}  // namespace muster::cluster
