#include "cluster/provisioner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cluster/ledger_fixture.h"
#include "cluster/queue.h"

namespace muster::cluster {
namespace {

std::uint32_t sum(const std::vector<Share>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0u, [](std::uint32_t a, const Share& b) { return a + b.cores; });
}

TEST(Provisioner, SpreadsAWorkflowOverSeveralWorkersOrNone) {
  base::Random random(1);
  const std::vector<Candidate> candidates = {{worker(1), 4, false}, {worker(2), 2, false}, {worker(3), 3, false}};
  EXPECT_EQ(sum(spread_over(candidates, 7, 10, random)), 7u);
  EXPECT_EQ(sum(spread_over(candidates, 9, 10, random)), 9u);
  EXPECT_TRUE(spread_over(candidates, 10, 10, random).empty());
}

TEST(Provisioner, TakesHealthyWorkersBeforeDegradedOnes) {
  const std::vector<Candidate> candidates = {{worker(1), 4, true}, {worker(2), 4, false}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    base::Random random(seed);
    EXPECT_EQ(spread_over(candidates, 4, 10, random), (std::vector<Share>{{worker(2), 4}}));
    EXPECT_EQ(place(candidates, 2, {}, random), worker(2));
  }
}

TEST(Provisioner, ChoosesAtRandomAmongEquals) {
  const std::vector<Candidate> candidates = {{worker(1), 4, false}, {worker(2), 4, false}};
  std::size_t first = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    base::Random random(seed);
    first += place(candidates, 1, {}, random) == worker(1) ? 1u : 0u;
  }
  EXPECT_GT(first, 20u);
  EXPECT_LT(first, 80u);
}

TEST(Provisioner, NeverAsksAWorkerThatFailedThePart) {
  base::Random random(1);
  const std::vector<Candidate> candidates = {{worker(1), 4, false}};
  EXPECT_EQ(place(candidates, 1, std::vector<Process>{worker(1)}, random), std::nullopt);
  EXPECT_EQ(place(candidates, 1, std::vector<Process>{worker(1, 0)}, random), worker(1));
}

TEST(Provisioner, TakesTheLargestWorkersWhereAnyWouldBeTooMany) {
  base::Random random(1);
  std::vector<Candidate> candidates;
  for (std::uint64_t i = 0; i < 100; ++i) candidates.push_back({worker(i), i == 50 ? 90u : 1u, false});
  const auto shares = spread_over(candidates, 92, 3, random);
  EXPECT_EQ(shares.size(), 3u);
  EXPECT_EQ(sum(shares), 92u);
  EXPECT_EQ(reachable({1, 5, 2, 9}, 2), 14u);
}

class QueueTest : public ::testing::Test, public LedgerFixture {
 protected:
  std::vector<Provision> feed_for(const Process& self, const std::vector<const Provision*>& under_way = {}) {
    std::vector<Candidate> candidates;
    std::vector<std::uint32_t> pool;
    for (const auto& [node, each] : ledger.workers()) {
      candidates.push_back({{node, each.life}, each.free(), false});
      pool.push_back(each.cores);
    }
    base::Random random(7);
    return feed(ledger, self, candidates, pool, under_way, random);
  }
  JobOutline whole_pool() {
    JobOutline made = outline({{}});
    made.workflows[0].priority = model::Priority::kExclusive;
    return made;
  }
  JobOutline of_one_vu() {
    JobOutline made = outline({{}});
    made.workflows[0].vus = 1;
    return made;
  }
  // The first worker has lost a part of four cores, and may not take it again.
  void lose_a_part_of_all_cores() {
    admit(worker(1), 4);
    accept(kJob, whole_pool());
    provision(0, feed_for(kManagerA).at(0).parts);
    lost(0, 0, Loss::kNotRunning);
  }

  const JobOutline small = of_one_vu();
};

TEST_F(QueueTest, NoJobOvertakesOneThatWaitsForCores) {
  admit(worker(1), 4);
  accept(kJob, whole_pool());
  accept(JobId{2}, small);
  accept(JobId{3}, whole_pool());
  EXPECT_EQ(feed_for(kManagerA).size(), 1u);
  provision(0, {{0, worker(1), 3, 1}});
  accept(JobId{4}, small);
  const auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].job, JobId{2});
}

TEST_F(QueueTest, ReservesWhatJobsOfOtherLeadersWaitFor) {
  admit(worker(1), 4);
  accept(JobId{2}, whole_pool());
  apply(JobOwner{JobId{2}, kManagerB, 2});
  accept(kJob, whole_pool());
  EXPECT_TRUE(feed_for(kManagerA).empty());
  EXPECT_EQ(feed_for(kManagerB).size(), 1u);
}

TEST_F(QueueTest, APartThatNobodyMayTakeDoesNotHoldUpTheOthers) {
  admit(worker(1), 4);
  accept(kJob, small);
  provision(0, {{0, worker(1), 1, 1}});
  lost(0, 0, Loss::kNotRunning);
  accept(JobId{2}, small);
  const auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].job, JobId{2});
}

TEST_F(QueueTest, NobodyWaitsBehindAPartThatNoWorkerMayTake) {
  lose_a_part_of_all_cores();
  accept(JobId{2}, small);
  auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].job, JobId{2});
  // Once another is there that may take it, it is first again.
  admit(worker(2), 4);
  next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0].job, kJob);
  EXPECT_EQ(next[0].parts.at(0).worker, worker(2));
}

TEST_F(QueueTest, NobodyWaitsForCoresThatAPartBeforeThemMayNotHave) {
  lose_a_part_of_all_cores();
  // The one that may take it runs a long job of one core, so that three are too few.
  admit(worker(2), 4);
  accept(JobId{2}, small);
  apply(Provision{JobId{2}, 1, 0, {{0, worker(2), 1, 1}}});
  for (const std::uint64_t id : {3u, 4u}) accept(JobId{id}, small);
  const auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 2u);
  for (const Provision& each : next) EXPECT_EQ(each.parts.at(0).worker, worker(1));
}

// Held back by the worker that was nearest alone, it would wait for the longest part there, whatever the others do.
TEST_F(QueueTest, APartThatWaitsGetsTheFirstWorkerThatIsFreeForIt) {
  lose_a_part_of_all_cores();
  for (const std::uint32_t number : {2u, 3u}) {
    admit(worker(number), 4);
    accept(JobId{number}, small);
    apply(Provision{JobId{number}, 1, 0, {{0, worker(number), number - 1, 1}}});
  }
  for (const std::uint64_t id : {4u, 5u, 6u, 7u, 8u}) accept(JobId{id}, small);
  const auto next = feed_for(kManagerA);
  EXPECT_EQ(next.size(), 4u);
  for (const Provision& each : next) EXPECT_EQ(each.parts.at(0).worker, worker(1));
}

TEST_F(QueueTest, WhatIsProposedIsGivenToNobodyElse) {
  admit(worker(1), 4);
  admit(worker(2), 4);
  accept(kJob, small);
  const Provision proposed{kJob, 1, 0, {{0, worker(1), 4, 1}}};
  for (const std::uint64_t id : {2u, 3u, 4u, 5u, 6u}) accept(JobId{id}, small);
  const auto next = feed_for(kManagerA, {&proposed});
  ASSERT_EQ(next.size(), 4u);
  for (const Provision& each : next) EXPECT_EQ(each.parts.at(0).worker, worker(2));
}

TEST_F(QueueTest, APartOfAnotherLeaderKeepsTheOnlyWorkerThatMayTakeIt) {
  lose_a_part_of_all_cores();
  apply(JobOwner{kJob, kManagerB, 2});
  admit(worker(2), 4);
  for (const std::uint64_t id : {2u, 3u}) accept(JobId{id}, small);
  const auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 2u);
  for (const Provision& each : next) EXPECT_EQ(each.parts.at(0).worker, worker(1));
}

TEST_F(QueueTest, AWorkerOnTrialGetsOnePart) {
  admit(worker(1), 4);
  accept(kJob, small);
  accept(JobId{2}, small);
  base::Random random(7);
  const std::vector<Candidate> candidates = {{worker(1), 4, false, true}};
  EXPECT_EQ(feed(ledger, kManagerA, candidates, {4}, {}, random).size(), 1u);
}

TEST_F(QueueTest, BatchesOfALayerRunInTurn) {
  admit(worker(1), 4);
  JobOutline two = outline({{}, {}});
  for (auto& workflow : two.workflows) workflow.priority = model::Priority::kExclusive;
  accept(kJob, two);
  auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].workflow, 0u);
  provision(0, next[0].parts);
  EXPECT_TRUE(feed_for(kManagerA).empty());
  held(0, 0);
  next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].workflow, 1u);
}

TEST_F(QueueTest, APoolOfManySmallWorkersIsUsedUpToTheMostParts) {
  for (std::uint64_t i = 0; i < 1100; ++i) admit(worker(i), 1);
  JobOutline wide = whole_pool();
  wide.workflows[0].vus = 100'000;
  accept(kJob, wide);
  const auto next = feed_for(kManagerA);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].parts.size(), 1024u);
  EXPECT_EQ(apply(next[0]), Verdict::kApplied);
}

}  // namespace
}  // namespace muster::cluster
