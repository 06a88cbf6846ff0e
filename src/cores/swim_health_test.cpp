#include "cores/swim_health.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::cores {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::Instant kNow{minutes(1)};

LocalHealth at_score(std::uint32_t score, SwimOptions options = swim_lan()) {
  LocalHealth health(options);
  health.raise(score);
  return health;
}

TEST(LocalHealthTest, ScoreStaysBetweenZeroAndEight) {
  LocalHealth health(swim_lan());
  health.lower();
  EXPECT_EQ(health.score(), 0u);
  health.raise(std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(health.score(), 8u);
  health.raise(1);
  EXPECT_EQ(health.score(), 8u);
  for (int i = 0; i < 9; ++i) health.lower();
  EXPECT_EQ(health.score(), 0u);
}

TEST(LocalHealthTest, LevelFollowsTheScore) {
  using enum DegradationLevel;
  const DegradationLevel expected[] = {kNormal, kNormal, kNormal,   kElevated, kHigh,
                                       kHigh,   kSevere, kCritical, kCritical};
  for (std::uint32_t score = 0; score <= 8; ++score) EXPECT_EQ(at_score(score).level(kNow), expected[score]) << score;
}

TEST(LocalHealthTest, LevelIsTheWorseOfScoreAndLag) {
  using enum DegradationLevel;
  LocalHealth health = at_score(3);
  health.lag(0.4, kNow);
  EXPECT_EQ(health.level(kNow), kElevated);
  for (const auto& [ratio, level] : {std::pair(0.5, kElevated), {1.0, kHigh}, {2.0, kSevere}, {4.0, kCritical}}) {
    LocalHealth lagging(swim_lan());
    lagging.lag(ratio, kNow);
    EXPECT_EQ(lagging.level(kNow), level) << ratio;
  }
}

TEST(LocalHealthTest, LagRaisesTheScoreByOneOrTwoAndOncePerInterval) {
  LocalHealth health(swim_lan());
  health.lag(0.9, kNow);
  EXPECT_EQ(health.score(), 0u);
  health.lag(1, kNow);
  EXPECT_EQ(health.score(), 1u);
  health.lag(3, kNow + milliseconds(500));
  EXPECT_EQ(health.score(), 1u);
  health.lag(3, kNow + seconds(1));
  EXPECT_EQ(health.score(), 3u);
}

TEST(LocalHealthTest, LagThatIsNotToldAgainIsOver) {
  LocalHealth health(swim_lan());
  health.lag(4, kNow);
  EXPECT_EQ(health.level(kNow + seconds(4)), DegradationLevel::kCritical);
  EXPECT_EQ(health.level(kNow + seconds(6)), DegradationLevel::kNormal);
}

TEST(LocalHealthTest, LagThatIsNoNumberIsNone) {
  LocalHealth health(swim_lan());
  health.lag(std::numeric_limits<double>::quiet_NaN(), kNow);
  health.lag(-3, kNow);
  EXPECT_EQ(health.level(kNow), DegradationLevel::kNormal);
}

TEST(LocalHealthTest, StretchIsOnePlusScoreOrTheLevelsFactorIfLarger) {
  EXPECT_DOUBLE_EQ(at_score(0).stretch(kNow), 1);
  EXPECT_DOUBLE_EQ(at_score(4).stretch(kNow), 5);
  EXPECT_EQ(at_score(8).stretched(seconds(1), kNow), seconds(9));
  SwimOptions quarter = swim_lan();
  quarter.stretch_per_point = 0.25;
  EXPECT_DOUBLE_EQ(at_score(2, quarter).stretch(kNow), 1.5);
  EXPECT_DOUBLE_EQ(at_score(8, quarter).stretch(kNow), 3);
  LocalHealth lagging(swim_lan());
  lagging.lag(0.5, kNow);
  EXPECT_DOUBLE_EQ(lagging.stretch(kNow), 1.25);
}

TEST(LocalHealthTest, WithoutAwarenessNothingIsStretchedOrSkipped) {
  SwimOptions plain = swim_lan();
  plain.lifeguard.health_aware_probe = false;
  EXPECT_DOUBLE_EQ(at_score(8, plain).stretch(kNow), 1);
  EXPECT_EQ(at_score(8, plain).level(kNow), DegradationLevel::kNormal);
}

TEST(LocalHealthTest, LevelsSkipAQuarterAHalfAndAll) {
  EXPECT_EQ(LocalHealth::skipped(DegradationLevel::kElevated), 0);
  EXPECT_EQ(LocalHealth::skipped(DegradationLevel::kHigh), 0.25);
  EXPECT_EQ(LocalHealth::skipped(DegradationLevel::kSevere), 0.5);
  EXPECT_EQ(LocalHealth::skipped(DegradationLevel::kCritical), 1);
  EXPECT_EQ(LocalHealth::factor(DegradationLevel::kSevere), 2);
  EXPECT_LT(LocalHealth::piggyback(DegradationLevel::kSevere), LocalHealth::piggyback(DegradationLevel::kHigh));
}

}  // namespace
}  // namespace muster::cores
