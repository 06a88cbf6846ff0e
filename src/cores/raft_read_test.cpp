#include <gtest/gtest.h>

#include "cores/raft_group.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

class RaftRead : public testing::Test {
 protected:
  // Leads in term 2 with the no-op at index 2, of which node 2 has heard nothing yet.
  void SetUp() override { solo.lead(); }

  void answer_round(std::uint64_t from, std::uint64_t round, RaftIndex index = 2) {
    solo.hear(
        from, solo.raft.term(),
        RaftAppendReply{
            .accepted = true, .index = index, .hint_index = index, .hint_term = 0, .stamp = solo.now, .round = round});
  }

  RaftSolo solo{image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode})};
};

TEST_F(RaftRead, IsReadyAfterARoundOfHeartbeatsThatBeganAfterIt) {
  answer_round(2, 0);
  ASSERT_EQ(solo.raft.commit(), 2u);
  solo.sends.clear();
  const RaftRequest request = solo.raft.read(solo.now);
  solo.settle();
  const auto heartbeat = solo.last_sent<RaftAppend>(2);
  ASSERT_TRUE(heartbeat);
  answer_round(2, heartbeat->round - 1);
  EXPECT_TRUE(solo.answers.empty());
  answer_round(2, heartbeat->round);
  ASSERT_EQ(solo.answers.size(), 1u);
  EXPECT_EQ(solo.answers[0].request, request);
  EXPECT_EQ(solo.answers[0].outcome, RaftOutcome::kReadReady);
  EXPECT_EQ(solo.answers[0].index, 2u);
}

TEST_F(RaftRead, WaitsForAnEntryOfTheOwnTermToBeCommitted) {
  solo.raft.read(solo.now);
  solo.settle();
  answer_round(2, solo.last_sent<RaftAppend>(2)->round, 1);
  EXPECT_TRUE(solo.answers.empty());
  answer_round(2, solo.last_sent<RaftAppend>(2)->round, 2);
  ASSERT_EQ(solo.answers.size(), 1u);
  EXPECT_EQ(solo.answers[0].index, 2u);
}

TEST_F(RaftRead, ManyShareARound) {
  answer_round(2, 0);
  solo.sends.clear();
  solo.raft.read(solo.now);
  solo.settle();
  const std::size_t sent = solo.sends.size();
  for (int i = 0; i < 10; ++i) {
    solo.raft.read(solo.now);
    solo.settle();
  }
  EXPECT_EQ(solo.sends.size(), sent);
  answer_round(2, solo.last_sent<RaftAppend>(2)->round);
  EXPECT_EQ(solo.answers.size(), 1u);
  answer_round(2, solo.last_sent<RaftAppend>(2)->round);
  EXPECT_EQ(solo.answers.size(), 11u);
}

TEST_F(RaftRead, IsRepeatedWithTheHeartbeatIfItsRoundWasLost) {
  answer_round(2, 0);
  solo.raft.read(solo.now);
  solo.settle();
  solo.sends.clear();
  solo.pass(RaftOptions{}.heartbeat);
  ASSERT_TRUE(solo.last_sent<RaftAppend>(3));
  answer_round(3, solo.last_sent<RaftAppend>(3)->round);
  EXPECT_EQ(solo.answers.size(), 1u);
}

TEST_F(RaftRead, IsRefusedByOthersAndWhenTooManyWait) {
  RaftSolo other(image_of({node(1), node(2)}, {}, {}));
  other.raft.read(other.now);
  other.settle();
  EXPECT_EQ(other.answers.back().refusal, RaftRefusal::kNotLeader);
  for (std::size_t i = 0; i <= RaftOptions{}.pending_reads; ++i) solo.raft.read(solo.now);
  solo.settle();
  ASSERT_EQ(solo.answers.size(), 1u);
  EXPECT_EQ(solo.answers.back().refusal, RaftRefusal::kBusy);
}

TEST(RaftReadAlone, IsReadyAtOnceForAnOnlyVoter) {
  RaftSolo solo(founding_image({node(1)}));
  solo.wait_for_election();
  ASSERT_TRUE(solo.raft.leads());
  solo.raft.read(solo.now);
  solo.settle();
  EXPECT_EQ(solo.answers.back().outcome, RaftOutcome::kReadReady);
}

TEST(RaftReadGroup, AnIsolatedLeaderAnswersNone) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(100));
  const Node old = group.leader();
  group.isolate(old);
  const RaftRequest request = group.read(old);
  group.run(std::chrono::seconds(1));
  EXPECT_EQ(group.answer(old, request)->outcome, RaftOutcome::kUnknown);
}

}  // namespace
}  // namespace muster::cores
