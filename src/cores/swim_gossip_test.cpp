#include "cores/swim_gossip.h"

#include <gtest/gtest.h>

namespace muster::cores {
namespace {

using base::NodeId;

std::string filled(GossipQueue& queue, std::size_t room = 1000, std::uint32_t transmits = 3) {
  std::string out;
  queue.fill(out, room, transmits);
  return out;
}

TEST(GossipQueueTest, TheMostImportantLeavesFirst) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kDead, "dead");
  queue.add(NodeId{2}, GossipClass::kSuspect, "susp");
  queue.add(NodeId{3}, GossipClass::kAlive, "aliv");
  queue.add(NodeId{4}, GossipClass::kLeave, "leav");
  queue.add(NodeId{5}, GossipClass::kJoin, "join");
  EXPECT_EQ(filled(queue), "joinleavalivsuspdead");
}

TEST(GossipQueueTest, WithinAClassTheLeastSentAndOldestLeavesFirst) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kAlive, "1111");
  queue.add(NodeId{2}, GossipClass::kAlive, "2222");
  EXPECT_EQ(filled(queue, 4), "1111");
  EXPECT_EQ(filled(queue, 4), "2222");
  queue.add(NodeId{3}, GossipClass::kAlive, "3333");
  EXPECT_EQ(filled(queue, 8), "33331111");
}

TEST(GossipQueueTest, AnUpdateIsSentAsOftenAsTheLimitSaysAndNoMore) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kAlive, "1111");
  for (int sent = 0; sent < 3; ++sent) EXPECT_EQ(filled(queue), "1111");
  EXPECT_EQ(filled(queue), "");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.most_sent(), 3u);
}

TEST(GossipQueueTest, ALimitThatShrinksDropsWhatWasSentOftenEnough) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kAlive, "1111");
  filled(queue, 100, 5);
  filled(queue, 100, 5);
  std::string out;
  EXPECT_EQ(queue.fill(out, 100, 2), 0u);
  EXPECT_TRUE(queue.empty());
}

TEST(GossipQueueTest, NewsAboutAMemberReplaceWhatWaitedAndStartAnew) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kSuspect, "susp");
  filled(queue);
  queue.add(NodeId{1}, GossipClass::kAlive, "aliv");
  EXPECT_EQ(queue.size(), 1u);
  for (int sent = 0; sent < 3; ++sent) EXPECT_EQ(filled(queue), "aliv");
  EXPECT_FALSE(queue.waits(NodeId{1}));
}

TEST(GossipQueueTest, SmallerUpdatesFillTheRoomThatALargeOneDoesNotFit) {
  GossipQueue queue(10);
  queue.add(NodeId{1}, GossipClass::kJoin, std::string(50, 'x'));
  queue.add(NodeId{2}, GossipClass::kDead, "dead");
  EXPECT_EQ(filled(queue, 20), "dead");
  EXPECT_TRUE(queue.waits(NodeId{1}));
}

TEST(GossipQueueTest, WhenFullTheLeastImportantIsDroppedAndTold) {
  GossipQueue queue(2);
  EXPECT_TRUE(queue.add(NodeId{1}, GossipClass::kDead, "dead"));
  EXPECT_TRUE(queue.add(NodeId{2}, GossipClass::kAlive, "aliv"));
  EXPECT_FALSE(queue.add(NodeId{3}, GossipClass::kJoin, "join"));
  EXPECT_FALSE(queue.waits(NodeId{1}));
  EXPECT_FALSE(queue.add(NodeId{4}, GossipClass::kDead, "dead"));
  EXPECT_EQ(filled(queue), "joinaliv");
}

}  // namespace
}  // namespace muster::cores
