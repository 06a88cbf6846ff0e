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

Ledger with_workers() {
  Ledger ledger;
  ledger.apply(1, {{kSelf, Life{1}}, 1, WorkerAdmitted{{NodeId{11}, Life{1}}, 4}});
  ledger.apply(2, {{kSelf, Life{1}}, 2, WorkerAdmitted{{NodeId{12}, Life{1}}, 4}});
  ledger.apply(3, {{kSelf, Life{1}}, 3, WorkerEvicted{{NodeId{12}, Life{1}}, Eviction::kDead}});
  return ledger;
}

TEST(Presence, TellsAGateWhatAManagerKnowsOfItsDatacenter) {
  const model::NodeState state = state_of_manager(kSelf, "east", with_workers(), leading(), false);
  EXPECT_EQ(role_of(state), NodeRole::kManager);
  EXPECT_TRUE(state.accepting);
  const auto report = report_of(kSelf, state);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->datacenter, "east");
  EXPECT_TRUE(report->leader);
  EXPECT_TRUE(report->has_quorum);
  EXPECT_EQ(report->healthy_workers, 1u);
  EXPECT_EQ(report->free_cores, 4u);
}

TEST(Presence, DoesNotCountWorkersThatAreGone) {
  Ledger ledger = with_workers();
  ledger.apply(4, {{kSelf, Life{1}}, 4, WorkerEvicted{{NodeId{11}, Life{1}}, Eviction::kDead}});
  const auto report = report_of(kSelf, state_of_manager(kSelf, "east", ledger, leading(), false));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->workers, 0u);
}

TEST(Presence, OfAManagerThatIsNotCurrentClaimsNoQuorum) {
  LogStanding standing = leading();
  standing.caught_up = false;
  const model::NodeState state = state_of_manager(kSelf, "east", with_workers(), standing, false);
  EXPECT_FALSE(report_of(kSelf, state)->has_quorum);
  EXPECT_FALSE(state.accepting);
}

TEST(Presence, OfAWorkerIsNoReport) {
  const model::NodeState state = state_of_worker(WorkerState::kHealthy, 4, 1, 2);
  EXPECT_EQ(role_of(state), NodeRole::kWorker);
  EXPECT_FALSE(report_of(kSelf, state));
}

TEST(Presence, IsUrgentWhenWorkMustGoElsewhere) {
  const model::NodeState before = state_of_manager(kSelf, "east", with_workers(), leading(), false);
  model::NodeState fewer = before;
  std::get<model::ManagerState>(fewer.role).free_cores = 1;
  EXPECT_FALSE(urgent(before, fewer));
  EXPECT_TRUE(urgent(before, state_of_manager(kSelf, "east", with_workers(), leading(), true)));
  LogStanding follower = leading();
  follower.leader = NodeId{2};
  EXPECT_TRUE(urgent(before, state_of_manager(kSelf, "east", with_workers(), follower, false)));
}

TEST(Presence, ReadsMembershipsEvents) {
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kCleared), Liveness::kAlive);
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kSuspected), Liveness::kSuspect);
  EXPECT_EQ(liveness_of(cores::SwimEventKind::kLeft), Liveness::kDead);
  EXPECT_FALSE(liveness_of(cores::SwimEventKind::kRefuted));
}

}  // namespace
}  // namespace muster::cluster
