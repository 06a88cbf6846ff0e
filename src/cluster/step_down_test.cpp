#include "cluster/step_down.h"

#include <gtest/gtest.h>

#include "cluster/self_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

class StepDownTest : public testing::Test {
 protected:
  static LogStanding led_by(NodeId leader) {
    LogStanding standing;
    standing.leader = leader;
    standing.voters = {kSelf, NodeId{2}, NodeId{3}};
    return standing;
  }

  StepDown step_down_{kSelf};
  base::Instant now_{std::chrono::hours(1)};
};

TEST_F(StepDownTest, AHealthyLeaderStays) {
  EXPECT_FALSE(step_down_.step(led_by(kSelf), 4, false, now_));
}

TEST_F(StepDownTest, AnUnwellLeaderHandsOver) {
  EXPECT_EQ(step_down_.step(led_by(kSelf), 5, false, now_), NodeId{2});
}

TEST_F(StepDownTest, ADrainingLeaderHandsOverAndTriesTheNextOneLater) {
  EXPECT_EQ(step_down_.step(led_by(kSelf), 0, true, now_), NodeId{2});
  EXPECT_FALSE(step_down_.step(led_by(kSelf), 0, true, now_));
  EXPECT_EQ(step_down_.step(led_by(kSelf), 0, true, now_ + seconds(1)), NodeId{3});
}

TEST_F(StepDownTest, WhoDoesNotLeadHasNothingToHandOver) {
  EXPECT_FALSE(step_down_.step(led_by(NodeId{2}), 8, true, now_));
}

TEST_F(StepDownTest, AGroupOfOneKeepsItsLeader) {
  LogStanding standing = led_by(kSelf);
  standing.voters = {kSelf};
  EXPECT_FALSE(step_down_.step(standing, 8, true, now_));
}

TEST_F(StepDownTest, TooManyChangesStopTransfersForAWhile) {
  for (int i = 0; i < 5; ++i) static_cast<void>(step_down_.step(led_by(NodeId{i % 2 == 0 ? 2u : 3u}), 0, false, now_));
  EXPECT_FALSE(step_down_.step(led_by(kSelf), 8, false, now_ + seconds(29)));
  EXPECT_TRUE(step_down_.step(led_by(kSelf), 8, false, now_ + seconds(31)));
}

TEST_F(StepDownTest, ChangesOfLongAgoCountForNothing) {
  for (int i = 0; i < 5; ++i)
    static_cast<void>(step_down_.step(led_by(NodeId{i % 2 == 0 ? 2u : 3u}), 0, false, now_ + seconds(40 * i)));
  EXPECT_TRUE(step_down_.step(led_by(kSelf), 8, false, now_ + seconds(161)));
}

}  // namespace
}  // namespace muster::cluster
