#include "cluster/presence.h"

#include <gtest/gtest.h>

#include "cluster/self_fixture.h"

namespace muster::cluster {
namespace {

LogStanding leading() {
  LogStanding standing;
  standing.leader = kSelf;
  standing.term = 3;
  standing.caught_up = true;
  return standing;
}

constexpr Census kOneWorker{.workers = 1, .healthy = 1, .free_cores = 4, .cores = 8};

TEST(Presence, TellsAGateWhatAManagerKnowsOfItsDatacenter) {
  const model::NodeState state = state_of_manager(kSelf, "east", 7, kOneWorker, leading(), false);
  EXPECT_EQ(role_of(state), NodeRole::kManager);
  EXPECT_TRUE(state.accepting);
  EXPECT_EQ(std::get<model::ManagerState>(state.role).jobs, 7u);
  const auto report = report_of(kSelf, state);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->datacenter, "east");
  EXPECT_TRUE(report->leader);
  EXPECT_TRUE(report->has_quorum);
  EXPECT_EQ(report->workers, 1u);
  EXPECT_EQ(report->healthy_workers, 1u);
  EXPECT_EQ(report->free_cores, 4u);
  EXPECT_EQ(report->cores, 8u);
}

TEST(Presence, AGateReadsThatAManagerIsStuck) {
  const model::NodeState state = state_of_manager(kSelf, "east", 7, kOneWorker, leading(), false);
  cores::PaceWatch pace;
  base::Instant now{std::chrono::hours(1)};
  const auto stuck = [&] { return report_of(kSelf, with_pace(state, pace))->stuck; };
  EXPECT_FALSE(stuck()) << "it has nothing to do";
  pace.told(true, 5, now);
  EXPECT_FALSE(stuck());
  pace.told(true, 5, now + std::chrono::seconds(10));
  EXPECT_TRUE(stuck());
  pace.told(true, 9, now + std::chrono::seconds(20));
  EXPECT_FALSE(stuck());
}

TEST(Presence, OfAManagerWithoutHealthyWorkersTakesNothing) {
  EXPECT_FALSE(state_of_manager(kSelf, "east", 0, {.workers = 3}, leading(), false).accepting);
}

TEST(Presence, AManagerReadsWhatAWorkerSays) {
  for (const WorkerState told : {WorkerState::kRegistering, WorkerState::kHealthy, WorkerState::kDegraded,
                                 WorkerState::kDraining, WorkerState::kOffline}) {
    EXPECT_EQ(worker_state_of(state_of_worker(told, 4, 1, 0, 2)), told);
  }
  EXPECT_EQ(worker_state_of(state_of_manager(kSelf, "east", 0, kOneWorker, leading(), false)), std::nullopt);
}

TEST(Presence, OfAManagerThatIsNotCurrentClaimsNoQuorum) {
  LogStanding standing = leading();
  standing.caught_up = false;
  const model::NodeState state = state_of_manager(kSelf, "east", 0, kOneWorker, standing, false);
  EXPECT_FALSE(report_of(kSelf, state)->has_quorum);
  EXPECT_FALSE(state.accepting);
}

TEST(Presence, OfAWorkerIsNoReport) {
  const model::NodeState state = state_of_worker(WorkerState::kHealthy, 4, 1, 0, 2);
  EXPECT_EQ(role_of(state), NodeRole::kWorker);
  EXPECT_FALSE(report_of(kSelf, state));
}

TEST(Presence, IsUrgentWhenWorkMustGoElsewhere) {
  const model::NodeState before = state_of_manager(kSelf, "east", 0, kOneWorker, leading(), false);
  model::NodeState fewer = before;
  std::get<model::ManagerState>(fewer.role).free_cores = 1;
  EXPECT_FALSE(urgent(before, fewer));
  EXPECT_TRUE(urgent(before, state_of_manager(kSelf, "east", 0, kOneWorker, leading(), true)));
  LogStanding follower = leading();
  follower.leader = NodeId{2};
  EXPECT_TRUE(urgent(before, state_of_manager(kSelf, "east", 0, kOneWorker, follower, false)));
}

TEST(Presence, ReadsMembershipsEvents) {
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kCleared), Liveness::kAlive);
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kSuspected), Liveness::kSuspect);
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kLeft), Liveness::kDead);
  EXPECT_FALSE(liveness_of(cores::SwimEventKind::kRefuted));
}

}  // namespace
}  // namespace muster::cluster
