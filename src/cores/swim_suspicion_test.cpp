#include "cores/swim_suspicion.h"

#include <gtest/gtest.h>

namespace muster::cores {
namespace {

using base::NodeId;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(SuspicionTest, RemainingTimeFollowsTheCheckValues) {
  const SuspicionTerms terms{.shortest = seconds(2), .longest = seconds(30), .confirmations = 3};
  const auto left = [&](std::uint32_t confirmed, double elapsed) {
    return base::seconds(suspicion_timeout(terms, confirmed)) - elapsed;
  };
  EXPECT_DOUBLE_EQ(left(0, 0), 30);
  EXPECT_DOUBLE_EQ(left(1, 2), 14);
  EXPECT_NEAR(left(2, 3), 4.81, 0.005);
  EXPECT_DOUBLE_EQ(left(3, 4), -2);
}

TEST(SuspicionTest, TermsGrowWithTheLogarithmOfTheGroup) {
  const SwimOptions options = swim_lan();
  EXPECT_EQ(suspicion_terms(options, 5).shortest, seconds(4));
  EXPECT_EQ(suspicion_terms(options, 10).shortest, seconds(4));
  EXPECT_EQ(suspicion_terms(options, 1000).shortest, seconds(12));
  EXPECT_EQ(suspicion_terms(options, 1000).longest, seconds(72));
  EXPECT_EQ(suspicion_terms(swim_wan(), 10).shortest, seconds(30));
}

TEST(SuspicionTest, WithoutEnoughOthersToConfirmTheShortestTimeAppliesAtOnce) {
  EXPECT_EQ(suspicion_terms(swim_lan(), 3).confirmations, 0u);
  EXPECT_EQ(suspicion_terms(swim_lan(), 4).confirmations, 2u);
  EXPECT_EQ(suspicion_timeout(suspicion_terms(swim_lan(), 3), 0), seconds(4));
}

TEST(SuspicionTest, WithoutLifeguardTheShortestTimeAppliesAtOnce) {
  SwimOptions options = swim_lan();
  options.lifeguard.dynamic_suspicion = false;
  EXPECT_EQ(suspicion_timeout(suspicion_terms(options, 1000), 0), seconds(12));
}

TEST(SuspicionTest, OnlyOtherAccusersConfirmAndOnlyAsManyAsExpected) {
  const base::Instant start{minutes(1)};
  Suspicion suspicion(suspicion_terms(swim_lan(), 10), NodeId{1}, start);
  EXPECT_EQ(suspicion.end(), start + seconds(24));
  EXPECT_FALSE(suspicion.confirm(NodeId{1}));
  EXPECT_TRUE(suspicion.confirm(NodeId{2}));
  EXPECT_FALSE(suspicion.confirm(NodeId{2}));
  EXPECT_LT(suspicion.end(), start + seconds(12));
  EXPECT_TRUE(suspicion.confirm(NodeId{3}));
  EXPECT_EQ(suspicion.end(), start + seconds(4));
  EXPECT_FALSE(suspicion.confirm(NodeId{4}));
  EXPECT_EQ(suspicion.confirmed(), 2u);
}

TEST(SuspicionTest, TimeInWhichTheAccuserStoodStillDoesNotCount) {
  const base::Instant start{minutes(1)};
  Suspicion suspicion(suspicion_terms(swim_lan(), 3), NodeId{1}, start);
  suspicion.postpone(seconds(7));
  EXPECT_EQ(suspicion.end(), start + seconds(11));
}

TEST(SuspicionTest, RetransmitsGrowWithTheLogarithmOfTheGroup) {
  EXPECT_EQ(retransmit_limit(4, 1), 4u);
  EXPECT_EQ(retransmit_limit(4, 9), 4u);
  EXPECT_EQ(retransmit_limit(4, 10), 8u);
  EXPECT_EQ(retransmit_limit(4, 99), 8u);
  EXPECT_EQ(retransmit_limit(4, 100), 12u);
  EXPECT_EQ(retransmit_limit(2, 10'000), 10u);
}

TEST(SuspicionTest, ExchangesOfViewsBecomeRarerInLargeGroups) {
  EXPECT_EQ(push_pull_period(seconds(30), 1), seconds(30));
  EXPECT_EQ(push_pull_period(seconds(30), 32), seconds(30));
  EXPECT_EQ(push_pull_period(seconds(30), 33), seconds(60));
  EXPECT_EQ(push_pull_period(seconds(30), 64), seconds(60));
  EXPECT_EQ(push_pull_period(seconds(30), 65), seconds(90));
  EXPECT_EQ(push_pull_period(seconds(30), 10'000), seconds(300));
}

TEST(SwimOptionsTest, PresetsAreAsDocumented) {
  EXPECT_EQ(swim_lan().probe_timeout, milliseconds(500));
  EXPECT_EQ(swim_wan().probe_interval, seconds(5));
  EXPECT_EQ(swim_wan().gossip_fanout, 4u);
  EXPECT_EQ(swim_local().suspicion_multiplier, 3u);
  EXPECT_EQ(swim_local().gossip_interval, milliseconds(100));
  EXPECT_EQ(swim_local().gossip_to_dead, seconds(15));
}

}  // namespace
}  // namespace muster::cores
