#include "cluster/manager.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Exclusive workflows take the whole pool, so they span workers.
JobOutline spanning(const std::vector<std::vector<std::uint32_t>>& depends) {
  JobOutline made = outline(depends);
  for (WorkflowOutline& workflow : made.workflows) workflow.priority = model::Priority::kExclusive;
  return made;
}

std::uint64_t iterations(const JobEnd& end) {
  std::uint64_t sum = 0;
  for (const WorkflowStatus& status : end.workflows) sum += status.counts.iterations;
  return sum;
}

#define EXPECT_SOUND(world) EXPECT_TRUE((world).broken.empty()) << (world).broken.front()

TEST(Manager, RunsAJobOfThreeLayersWhoseWorkflowsSpanWorkers) {
  World world({.seed = 1});
  world.run_for(seconds(2));
  const JobId job = world.submit(spanning({{}, {0}, {1}}));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(2)));
  EXPECT_SOUND(world);
  ASSERT_TRUE(world.ends.contains(job));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_EQ(world.ends[job].workflows[0].parts, 3u);
  EXPECT_EQ(iterations(world.ends[job]), 3u * 12 * 100);
  EXPECT_EQ(world.started, 9u);
  EXPECT_TRUE(world.all_cores_free());
  EXPECT_EQ(world.ledger().job(job)->context_version, 2u);
}

TEST(Manager, AWorkerIsAtWorkWithinTwoSecondsOfItsStart) {
  World world({.seed = 2});
  const JobId job = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.running() > 0; }, seconds(2)));
  EXPECT_EQ(world.answers[job].answer, Answer::kAccepted);
}

TEST(Manager, LimitsDoNotRunWhileThereIsNoQuorum) {
  World world({.seed = 11});
  world.run_for(seconds(2));
  for (std::size_t i = 0; i < 3; ++i) world.cut(World::worker_id(i));
  EXPECT_TRUE(world.run_until([&] { return world.noted[Noted::kEvicted] >= 9; }, minutes(3)));
  const JobId job = world.submit(spanning({{}}));
  world.run_for(seconds(20));
  EXPECT_EQ(world.answers[job].answer, Answer::kAccepted);
  world.cut(World::manager_id(0));
  world.cut(World::manager_id(1));
  world.run_for(minutes(10));
  for (std::size_t i = 0; i < 3; ++i) world.heal(World::worker_id(i));
  world.heal(World::manager_id(0));
  world.heal(World::manager_id(1));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(5)));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_SOUND(world);
}

TEST(Manager, ARepeatedSubmitIsTheSameJob) {
  World world({.seed = 3, .loss = 0.3});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.ledger().jobs().size(), 1u);
  EXPECT_EQ(iterations(world.ends[job]), 1200u);
}

TEST(Manager, AWorkerThatRestartedGetsItsPartAgainAtOnce) {
  World world({.seed = 4, .workers = 1});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 1; }, seconds(5)));
  world.crash(World::worker_id(0));
  world.run_for(milliseconds(500));
  world.restart(World::worker_id(0));
  EXPECT_TRUE(world.run_until([&] { return world.running() == 1; }, seconds(10)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(1)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
}

TEST(Manager, OffersToALifeThatIsOverCountForNothing) {
  World world({.seed = 17, .workers = 1, .run = seconds(2)});
  world.run_for(seconds(5));
  world.crash(World::worker_id(0));
  const JobId job = world.submit(spanning({{}}));
  world.run_for(seconds(2));
  world.restart(World::worker_id(0));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(1)));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_SOUND(world);
}

TEST(Manager, APartOfAWorkerThatIsCutOffRunsElsewhereOnlyAfterItMustHaveStopped) {
  World world({.seed = 5, .workers = 2, .run = minutes(2)});
  world.run_for(seconds(5));
  JobOutline one = outline({{}});
  one.workflows[0].vus = 1;
  const JobId job = world.submit(one);
  ASSERT_TRUE(world.run_until([&] { return world.running() == 1; }, seconds(5)));
  const NodeId holder = world.ledger().part({job, 0, 0})->worker.node;
  world.cut(holder);
  EXPECT_TRUE(world.run_until([&] { return world.started == 2; }, minutes(2)));
  EXPECT_SOUND(world);
  EXPECT_GT(world.noted[Noted::kStoppedAlone], 0u);
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(5)));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_SOUND(world);
}

TEST(Manager, APartWhoseResultItsWorkersDiskRefusesIsRunElsewhere) {
  World world({.seed = 18, .workers = 2});
  world.run_for(seconds(5));
  JobOutline one = outline({{}});
  one.workflows[0].vus = 1;
  const JobId job = world.submit(one);
  ASSERT_TRUE(world.run_until([&] { return world.running() == 1; }, seconds(5)));
  world.fill_disk(world.ledger().part({job, 0, 0})->worker.node);
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(2)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_EQ(world.started, 2u);
}

TEST(Manager, ACancelledJobEndsThoughAWorkersDiskRefusesAResult) {
  World world({.seed = 19, .workers = 2});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 2; }, seconds(5)));
  world.fill_disk(World::worker_id(0));
  world.run_for(seconds(7));
  world.cancel(job);
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(2)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.ends[job].state, JobState::kCancelled);
}

TEST(Manager, AWorkerThatComesBackInTimeGoesOnAsIfNothingHadBeen) {
  World world({.seed = 6, .workers = 2, .run = minutes(1)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 2; }, seconds(5)));
  world.cut(World::worker_id(0));
  world.run_for(seconds(20));
  world.heal(World::worker_id(0));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.started, 2u);
}

TEST(Manager, RunningPartsDoNotNoticeAChangeOfTheJobsLeader) {
  World world({.seed = 7, .run = minutes(1)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(5)));
  const NodeId leader = world.leader_of(job);
  world.crash(leader);
  EXPECT_TRUE(world.run_until([&] { return world.leader_of(job) != leader; }, seconds(30)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.started, 3u);
  EXPECT_EQ(iterations(world.ends[job]), 1200u);
}

TEST(Manager, ALeaderThatRestartsLosesItsJobsToAnotherEpoch) {
  World world({.seed = 8, .run = minutes(1)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(5)));
  const NodeId leader = world.leader_of(job);
  world.crash(leader);
  world.run_for(milliseconds(100));
  world.restart(leader);
  EXPECT_TRUE(
      world.run_until([&] { return world.ledger().job(job) && world.ledger().job(job)->epoch == 2; }, seconds(30)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_SOUND(world);
  EXPECT_EQ(world.started, 3u);
}

TEST(Manager, SurvivesARestartOfAllManagers) {
  World world({.seed = 9, .run = seconds(20)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}, {0}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(5)));
  for (std::size_t i = 0; i < 3; ++i) world.crash(World::manager_id(i));
  world.run_for(seconds(3));
  for (std::size_t i = 0; i < 3; ++i) world.restart(World::manager_id(i));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(5)));
  EXPECT_SOUND(world);
  EXPECT_EQ(iterations(world.ends[job]), 2400u);
}

TEST(Manager, ALongOutageOfTheQuorumCostsNoPartALoss) {
  World world({.seed = 10, .run = minutes(2)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(5)));
  world.crash(World::manager_id(0));
  world.crash(World::manager_id(1));
  world.run_for(minutes(1));
  EXPECT_EQ(world.running(), 0u);
  world.restart(World::manager_id(0));
  world.restart(World::manager_id(1));
  EXPECT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(90)));
  EXPECT_SOUND(world);
  for (const LedgerPart& part : world.ledger().job(job)->workflows[0].parts) EXPECT_EQ(part.losses, 0u);
}

TEST(Manager, AManagerWithoutQuorumAcceptsNothingAndSaysSo) {
  World world({.seed = 11});
  world.run_for(seconds(2));
  world.crash(World::manager_id(1));
  world.crash(World::manager_id(2));
  world.run_for(seconds(2));
  const std::size_t committed = world.committed();
  const JobId job = world.submit(spanning({{}}));
  world.run_for(seconds(10));
  EXPECT_EQ(world.answers[job].answer, Answer::kQuorumUnavailable);
  EXPECT_EQ(world.committed(), committed);
}

TEST(Manager, ACancelledJobStopsEverywhereAndSaysHowMuch) {
  World world({.seed = 12, .run = minutes(5)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}, {0}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 3; }, seconds(5)));
  world.cancel(job);
  EXPECT_TRUE(world.run_until([&] { return world.running() == 0; }, seconds(10)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job) && world.cancelled[job].done; }, seconds(10)));
  EXPECT_EQ(world.ends[job].state, JobState::kCancelled);
  EXPECT_EQ(world.cancelled[job].stopped, 3u);
  EXPECT_TRUE(world.all_cores_free());
  EXPECT_SOUND(world);
}

TEST(Manager, JobsThatDoNotFitWaitTheirTurn) {
  World world({.seed = 13, .run = seconds(3)});
  world.run_for(seconds(2));
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(world.submit(spanning({{}})));
  EXPECT_TRUE(world.run_until([&] { return world.ends.size() == jobs.size(); }, minutes(3)));
  EXPECT_SOUND(world);
  EXPECT_TRUE(world.all_cores_free());
}

TEST(Manager, AHungExecutorAmongBusyOnesIsStoppedAndItsPartRunAgain) {
  World world({.seed = 14, .workers = 3, .run = minutes(2)});
  world.run_for(seconds(5));
  JobOutline one = outline({{}, {}});
  for (auto& workflow : one.workflows) workflow.vus = 1;
  const JobId job = world.submit(one);
  ASSERT_TRUE(world.run_until([&] { return world.running() == 2; }, seconds(5)));
  world.hang(world.ledger().part({job, 0, 0})->worker.node);
  EXPECT_TRUE(world.run_until([&] { return world.noted[Noted::kPartStuck] > 0; }, minutes(1)));
  EXPECT_TRUE(world.run_until([&] { return world.started >= 3; }, minutes(1)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(10)));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_SOUND(world);
}

TEST(Manager, AnEndIsKeptUntilWhoeverAskedHasIt) {
  World world({.seed = 15, .run = seconds(1)});
  world.run_for(seconds(5));
  world.deaf = true;
  const JobId job = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.ledger().job(job) && world.ledger().job(job)->end; }, minutes(1)));
  world.run_for(minutes(20));
  EXPECT_NE(world.ledger().job(job), nullptr);
  world.deaf = false;
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(2)));
  EXPECT_TRUE(world.run_until([&] { return world.ledger().job(job) == nullptr; }, minutes(10)));
  EXPECT_NE(world.ledger().tombstone(job), nullptr);
}

TEST(Manager, TellsWorkersThatTheyMayForgetAJobThatHasEnded) {
  World world({.seed = 19, .workers = 1, .run = seconds(1)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(1)));
  EXPECT_EQ(world.worker(0).jobs(), 1u);
  world.run_for(minutes(4));
  EXPECT_EQ(world.worker(0).jobs(), 1u);
  world.run_for(minutes(2));
  EXPECT_EQ(world.worker(0).jobs(), 0u);
}

TEST(Manager, FailsAJobForWhichThereIsNoWorker) {
  World world({.seed = 16, .workers = 0});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_EQ(world.ends[job].state, JobState::kFailed);
}

TEST(Manager, APartThatWasLostWaitsForCoresAsLongAsItTakes) {
  World world({.seed = 17, .workers = 2, .run = minutes(10)});
  world.crash(World::worker_id(0));
  world.run_for(seconds(60));
  const JobId filler = world.submit(spanning({{}}));
  EXPECT_TRUE(world.run_until([&] { return world.started == 1; }, minutes(1)));
  world.restart(World::worker_id(0));
  world.run_for(seconds(10));
  JobOutline small = outline({{}});
  small.workflows[0].vus = 1;
  const JobId job = world.submit(small);
  EXPECT_TRUE(world.run_until([&] { return world.started == 2; }, minutes(1)));
  world.crash(World::worker_id(0));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(filler); }, minutes(15)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(15)));
  EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  EXPECT_SOUND(world);
}

TEST(Manager, WhatADrainingWorkerRefusesWaitsUntilItTakesPartsAgain) {
  World world({.seed = 19, .workers = 1});
  world.run_for(seconds(2));
  // It tells one manager; the others find out by asking.
  world.worker(0).drain(true, world.now());
  std::vector<JobId> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(world.submit(spanning({{}})));
  world.run_for(seconds(60));
  EXPECT_EQ(world.started, 0u);
  EXPECT_GT(world.noted[Noted::kRefused], 0u);
  EXPECT_LT(world.noted[Noted::kRefused], 60u);
  world.worker(0).drain(false, world.now());
  for (const JobId job : jobs) {
    EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(2)));
    EXPECT_EQ(world.ends[job].state, JobState::kCompleted);
  }
  EXPECT_SOUND(world);
}

TEST(Manager, FailsAJobOneOfWhosePartsNoWorkerMayTake) {
  World world({.seed = 18, .workers = 1, .run = minutes(2)});
  world.run_for(seconds(5));
  const JobId job = world.submit(spanning({{}}));
  ASSERT_TRUE(world.run_until([&] { return world.running() == 1; }, seconds(5)));
  world.hang(World::worker_id(0));
  EXPECT_TRUE(world.run_until([&] { return world.noted[Noted::kPartStuck] > 0; }, minutes(1)));
  EXPECT_TRUE(world.run_until([&] { return world.ends.contains(job); }, minutes(3)));
  EXPECT_EQ(world.ends[job].state, JobState::kFailed);
  EXPECT_SOUND(world);
}

// Crashes, restarts, cuts and loss at random, then peace: every job ends, nothing ran twice, every core is free.
class ManagerChaos : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ManagerChaos, EveryJobEndsAndNothingRunsTwice) {
  base::Random random(GetParam());
  World world({.seed = GetParam(), .workers = 5, .loss = 0.02, .run = seconds(4)});
  std::vector<JobId> jobs;
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < 3; ++i) nodes.push_back(World::manager_id(i));
  for (std::size_t i = 0; i < 5; ++i) nodes.push_back(World::worker_id(i));
  for (int round = 0; round < 40 && world.broken.empty(); ++round) {
    if (jobs.size() < 8 && random.below(3) == 0) {
      jobs.push_back(world.submit(random.below(2) == 0 ? spanning({{}, {0}, {1}}) : outline({{}, {}, {0, 1}})));
    }
    const NodeId node = nodes[random.below(nodes.size())];
    switch (random.below(6)) {
      case 0:
        world.crash(node);
        break;
      case 1:
      case 2:
        world.restart(node);
        break;
      case 3:
        world.cut(node);
        break;
      default:
        world.heal(node);
        break;
    }
    world.run_for(milliseconds(200 + random.below(6000)));
  }
  for (const NodeId node : nodes) {
    world.heal(node);
    world.restart(node);
  }
  world.lose(0);
  world.run_until([&] { return world.ends.size() == jobs.size(); }, minutes(10));
  EXPECT_SOUND(world);
  for (const JobId job : jobs) EXPECT_TRUE(world.ends.contains(job)) << "job " << number(job);
  world.run_for(seconds(60));
  EXPECT_TRUE(world.all_cores_free());
  EXPECT_SOUND(world);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManagerChaos, ::testing::Range<std::uint64_t>(100, 110));
// A body was asked for ever of the one manager that lacked it.
INSTANTIATE_TEST_SUITE_P(Found, ManagerChaos, ::testing::Values(1245, 1583));

}  // namespace
}  // namespace muster::cluster
