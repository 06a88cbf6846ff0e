#include "cores/health.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cores/start_fixture.h"

namespace muster::cores {
namespace {

using namespace std::chrono_literals;

constexpr Condition kStuck{.pace = Pace::kStuck};

TEST(Health, EveryConditionHasItsTreatment) {
  Health health;
  EXPECT_EQ(health.judge({.alive = false}, kStart), Treatment::kEvict);
  EXPECT_EQ(health.judge({.pace = Pace::kSlow}, kStart), Treatment::kInvestigate);
  EXPECT_EQ(health.judge({.pace = Pace::kDegraded}, kStart), Treatment::kInvestigate);
  EXPECT_EQ(health.judge({.ready = false, .pace = Pace::kNormal}, kStart), Treatment::kHold);
  EXPECT_EQ(health.judge({.pace = Pace::kNormal}, kStart), Treatment::kRoute);
  EXPECT_EQ(health.judge({.pace = Pace::kIdle}, kStart), Treatment::kRoute);
}

TEST(Health, BeingDeadIsWorseThanBeingStuckAndThatWorseThanNotBeingReady) {
  Health health;
  EXPECT_EQ(health.judge({.alive = false, .ready = false, .pace = Pace::kStuck}, kStart), Treatment::kEvict);
  EXPECT_EQ(health.judge({.ready = false, .pace = Pace::kStuck}, kStart), Treatment::kDrain);
  EXPECT_EQ(health.judge({.ready = false, .pace = Pace::kSlow}, kStart), Treatment::kInvestigate);
}

TEST(Health, WhoIsStuckIsDrainedAndThenEvicted) {
  Health health;
  EXPECT_EQ(health.judge(kStuck, kStart), Treatment::kDrain);
  EXPECT_EQ(health.stuck_deadline(), kStart + 75s);
  EXPECT_EQ(health.judge(kStuck, kStart + 74s), Treatment::kDrain);
  EXPECT_EQ(health.judge(kStuck, kStart + 75s), Treatment::kEvict);
}

TEST(Health, GettingOnStopsTheTimer) {
  Health health;
  health.judge(kStuck, kStart);
  health.judge({.pace = Pace::kDegraded}, kStart + 20s);
  EXPECT_EQ(health.stuck_deadline(), base::kNever);
  EXPECT_EQ(health.judge(kStuck, kStart + 40s), Treatment::kDrain);
  EXPECT_EQ(health.stuck_deadline(), kStart + 115s);
}

TEST(Health, ReadinessIsWhatEachRoleNeeds) {
  EXPECT_TRUE(worker_ready(true, 1));
  EXPECT_FALSE(worker_ready(true, 0));
  EXPECT_FALSE(worker_ready(false, 1));
  EXPECT_TRUE(manager_ready(true, true, 1));
  EXPECT_FALSE(manager_ready(true, false, 1));
  EXPECT_FALSE(manager_ready(true, true, 0));
  EXPECT_TRUE(gate_ready(true, 1, false));
  EXPECT_FALSE(gate_ready(true, 0, false));
  EXPECT_FALSE(gate_ready(true, 1, true));
}

TEST(EvictionGuard, HalfMayBeEvictedAndMoreMayNot) {
  EvictionGuard guard;
  EXPECT_TRUE(guard.allows(0, 0, kStart));
  EXPECT_TRUE(guard.allows(10, 20, kStart));
  EXPECT_FALSE(guard.allows(11, 20, kStart));
  EXPECT_TRUE(guard.systemic());
  EXPECT_TRUE(guard.allows(2, 5, kStart));
  EXPECT_FALSE(guard.allows(3, 5, kStart));
  EXPECT_FALSE(guard.allows(1, 1, kStart));
}

TEST(EvictionGuard, AFaultThatNeverHealsDoesNotKeepTheDeadForEver) {
  EvictionGuard guard;
  EXPECT_FALSE(guard.allows(15, 20, kStart));
  EXPECT_EQ(guard.deadline(), kStart + 60s);
  EXPECT_FALSE(guard.allows(16, 20, kStart + 59s));
  EXPECT_TRUE(guard.allows(16, 20, kStart + 60s));
}

TEST(EvictionGuard, AFaultThatHealedStartsItsPatienceAnew) {
  EvictionGuard guard;
  guard.allows(15, 20, kStart);
  guard.allows(3, 20, kStart + 30s);
  EXPECT_EQ(guard.deadline(), base::kNever);
  EXPECT_FALSE(guard.allows(15, 20, kStart + 70s));
}

RC_GTEST_PROP(EvictionGuard, NeverAllowsMoreThanHalfAtFirst, ()) {
  const auto peers = *rc::gen::inRange<std::size_t>(0, 100);
  const auto evicted = *rc::gen::inRange<std::size_t>(0, peers + 1);
  RC_ASSERT(EvictionGuard().allows(evicted, peers, kStart) == (2 * evicted <= peers));
}

}  // namespace
}  // namespace muster::cores
