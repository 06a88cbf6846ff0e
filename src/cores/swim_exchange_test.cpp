#include <gtest/gtest.h>

#include "cores/swim_node_fixture.h"

namespace muster::cores {
namespace {

using enum MemberStatus;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::vector<Endpoint> seeds(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Endpoint> made;
  for (const std::uint32_t number : numbers) made.push_back(SwimNode::endpoint(number));
  return made;
}

TEST(SwimExchangeTest, SeedsThatStaySilentAreAskedAgainAtGrowingWaits) {
  SwimNode node;
  node.core.join(seeds({7}), node.now);
  std::vector<base::Duration> waits;
  base::Instant before = node.now;
  for (int attempt = 0; attempt < 9; ++attempt) {
    node.run_until_sent<Exchange>();
    waits.push_back(node.now - before);
    before = node.now;
  }
  EXPECT_EQ(waits[0], base::Duration{});
  EXPECT_GE(waits[1], milliseconds(500));
  EXPECT_LE(waits[1], milliseconds(625));
  EXPECT_GE(waits[2], milliseconds(1000));
  for (const base::Duration wait : waits) EXPECT_LE(wait, milliseconds(18'750));
  EXPECT_FALSE(node.core.joined());
}

TEST(SwimExchangeTest, NewAddressesOfSeedsAreTriedAtOnceAndOldOnesKeepTheirTurn) {
  SwimNode node;
  node.core.join(seeds({7}), node.now);
  for (int attempt = 0; attempt < 6; ++attempt) node.run_until_sent<Exchange>();
  const base::Instant due = node.core.deadline();
  node.core.join(seeds({7}), node.now);
  EXPECT_EQ(node.core.deadline(), due);
  node.core.join(seeds({8}), node.now);
  EXPECT_EQ(node.core.deadline(), node.now);
  EXPECT_EQ(node.run_until_sent<Exchange>().to, SwimNode::endpoint(8));
}

TEST(SwimExchangeTest, AnAnswerEndsTheJoiningAndIsNotGossiped) {
  SwimNode node;
  node.core.join(seeds({2}), node.now);
  node.run_until_sent<Exchange>();
  node.know(2, 30);
  EXPECT_TRUE(node.core.joined());
  EXPECT_EQ(node.core.members().size(), 29u);
  EXPECT_TRUE(node.core.gossip().empty());
}

TEST(SwimExchangeTest, WhoeverHasFriendsAlreadyTellsThemWhomItJoined) {
  SwimNode node;
  node.core.join(seeds({2}), node.now);
  node.hear_view(8, {SwimNode::alive(8)}, false);
  node.know(2, 5);
  for (const std::uint64_t number : {2u, 3u, 4u, 5u, 8u}) EXPECT_TRUE(node.core.gossip().waits(SwimNode::id(number)));
}

TEST(SwimExchangeTest, TheFirstOfAGroupHasNobodyToAsk) {
  SwimNode node;
  node.core.join(seeds({1}), node.now);
  EXPECT_TRUE(node.core.joined());
  node.run(minutes(2));
  EXPECT_TRUE(node.sent.empty());
}

TEST(SwimExchangeTest, RequestsWithinABatchAreAnsweredTogetherAndLearnOfOneAnother) {
  SwimNode node;
  node.core.join({}, node.now);
  for (std::uint32_t joiner = 2; joiner <= 6; ++joiner) node.hear_view(joiner, {SwimNode::alive(joiner)}, false);
  node.sent.clear();
  node.run(milliseconds(50));
  const auto answers = node.all_sent<Exchange>();
  ASSERT_EQ(answers.size(), 5u);
  for (const auto& answer : answers) {
    EXPECT_EQ(std::get<Exchange>(answer.message.body).view.size(), 6u);
    EXPECT_TRUE(std::get<Exchange>(answer.message.body).reply);
  }
}

TEST(SwimExchangeTest, RequestsThatWaitAreBounded) {
  SwimNode node;
  node.core.join({}, node.now);
  for (std::uint32_t joiner = 2; joiner < 2 + 2 * kMaxWaitingExchanges; ++joiner) node.hear_view(joiner, {}, false);
  EXPECT_EQ(node.core.counters().dropped_requests, kMaxWaitingExchanges);
  node.run(milliseconds(50));
  EXPECT_EQ(node.all_sent<Exchange>().size(), kMaxWaitingExchanges);
}

TEST(SwimExchangeTest, ALargeViewTravelsInSeveralFramesOfWhichTheLastSaysSo) {
  SwimNode node;
  const std::string state(kMaxMemberState, 's');
  for (std::uint32_t first = 2; first < 602; first += 100) {
    std::vector<Claim> view;
    for (std::uint32_t number = first; number < first + 100; ++number) {
      view.push_back(SwimNode::alive(number));
      view.back().state = {.incarnation = 1, .version = 1, .bytes = state};
    }
    node.hear_view(2, view);
  }
  node.sent.clear();
  node.hear_view(2, {SwimNode::alive(2)}, false);
  node.run(milliseconds(50));
  const auto frames = node.all_sent<Exchange>();
  ASSERT_GE(frames.size(), 4u);
  std::size_t entries = 0;
  for (const auto& frame : frames) {
    const auto& exchange = std::get<Exchange>(frame.message.body);
    EXPECT_LE(frame.bytes->size(), kMaxExchangeBytes);
    EXPECT_EQ(exchange.last, &frame == &frames.back());
    entries += exchange.view.size();
  }
  EXPECT_EQ(entries, 601u);
}

TEST(SwimExchangeTest, OfManyNewMembersOnlyAFewArePassedOnByGossip) {
  SwimNode node;
  node.know(2, 3);
  std::vector<Claim> view;
  for (std::uint32_t number = 4; number < 204; ++number) view.push_back(SwimNode::alive(number));
  node.hear_view(2, view);
  EXPECT_EQ(node.core.members().size(), 202u);
  EXPECT_EQ(node.core.gossip().size(), kMaxRumoursPerExchange);
}

TEST(SwimExchangeTest, GossipThatOverflowsBringsTheNextExchangeForward) {
  SwimOptions options = swim_lan();
  options.max_queued_updates = 2;
  SwimNode node(options);
  node.know(2, 3);
  node.run(seconds(40));
  const std::uint64_t before = node.core.counters().exchanges;
  node.hear(2, {SwimNode::alive(4), SwimNode::alive(5), SwimNode::alive(6)});
  EXPECT_EQ(node.told(SwimEventKind::kOverflow), 1u);
  node.run(seconds(7));
  EXPECT_GT(node.core.counters().exchanges, before);
}

TEST(SwimExchangeTest, ASeedThatNobodyLivesAtIsAskedFromTimeToTime) {
  SwimNode node;
  node.core.join(seeds({9}), node.now);
  node.know(2, 3);
  bool asked = false;
  node.sent.clear();
  node.run(minutes(2));
  for (const auto& frame : node.all_sent<Exchange>()) asked = asked || frame.to == SwimNode::endpoint(9);
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace muster::cores
