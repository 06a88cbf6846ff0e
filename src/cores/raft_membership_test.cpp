#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cores/raft_group.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

using Kind = RaftChange::Kind;

class RaftMembership : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(group.elect());
    group.run(Milliseconds(200));
    leader = group.leader();
  }

  RaftOutcome outcome(Kind kind, Node whom) {
    const RaftRequest request = group.change(leader, kind, whom);
    group.run_until([&] { return group.answer(leader, request) != nullptr; }, std::chrono::seconds(1));
    const RaftAnswer* answer = group.answer(leader, request);
    if (answer == nullptr) return RaftOutcome::kUnknown;
    refusal = answer->refusal;
    return answer->outcome;
  }

  RaftGroup group{3};
  Node leader = 0;
  RaftRefusal refusal = RaftRefusal::kNone;
};

TEST_F(RaftMembership, ANewMemberIsALearnerThatCatchesUpAndThenVotes) {
  for (int i = 0; i < 100; ++i) group.propose(leader, "old");
  group.join(4);
  ASSERT_EQ(outcome(Kind::kAddLearner, 4), RaftOutcome::kCommitted);
  EXPECT_TRUE(group[leader].members().is_learner(node(4)));
  group.run(Milliseconds(200));
  EXPECT_EQ(group.state(4), group.state(leader));
  EXPECT_EQ(outcome(Kind::kPromote, 4), RaftOutcome::kCommitted);
  group.run(Milliseconds(100));
  EXPECT_TRUE(group[4].members().is_voter(node(4)));
  EXPECT_EQ(group[leader].members().majority(), 3u);
}

TEST_F(RaftMembership, ALearnerThatIsBehindOrSilentIsNotPromoted) {
  ASSERT_EQ(outcome(Kind::kAddLearner, 4), RaftOutcome::kCommitted);
  EXPECT_EQ(outcome(Kind::kPromote, 4), RaftOutcome::kRefused);
  EXPECT_EQ(refusal, RaftRefusal::kNotCaughtUp);
}

TEST_F(RaftMembership, ALearnerCountsForNothing) {
  group.join(4);
  ASSERT_EQ(outcome(Kind::kAddLearner, 4), RaftOutcome::kCommitted);
  group.run(Milliseconds(100));
  for (Node other = 1; other <= 3; ++other) {
    if (other != leader) group.crash(other);
  }
  const RaftRequest request = group.propose(leader, "lonely");
  group.run(kT);
  EXPECT_EQ(group.answer(leader, request), nullptr);
}

TEST_F(RaftMembership, ChangesAreMadeOneAtATime) {
  group.isolate(leader);
  group.change(leader, Kind::kAddLearner, 4);
  const RaftAnswer* second = group.answer(leader, group.change(leader, Kind::kAddLearner, 5));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->refusal, RaftRefusal::kChangeUnderWay);
}

TEST_F(RaftMembership, ChangesThatMeanNothingAreRefused) {
  EXPECT_EQ(outcome(Kind::kAddLearner, 2), RaftOutcome::kRefused);
  EXPECT_EQ(refusal, RaftRefusal::kAlreadyMember);
  EXPECT_EQ(outcome(Kind::kRemove, 9), RaftOutcome::kRefused);
  EXPECT_EQ(refusal, RaftRefusal::kNotMember);
  EXPECT_EQ(outcome(Kind::kPromote, 9), RaftOutcome::kRefused);
  EXPECT_EQ(refusal, RaftRefusal::kNotMember);
}

TEST_F(RaftMembership, ALeaderThatIsRemovedStepsDownOnceThatIsCommitted) {
  EXPECT_EQ(outcome(Kind::kRemove, leader), RaftOutcome::kCommitted);
  EXPECT_FALSE(group[leader].leads());
  ASSERT_TRUE(group.run_until([&] { return group.leader() != 0; }, std::chrono::seconds(1)));
  const Node next = group.leader();
  EXPECT_NE(next, leader);
  group.run(std::chrono::seconds(2));
  EXPECT_EQ(group.leader(), next);
  EXPECT_FALSE(group[next].members().contains(node(leader)));
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

TEST_F(RaftMembership, ARemovedNodeDisturbsNobody) {
  const Node gone = leader == 1 ? 2 : 1;
  ASSERT_EQ(outcome(Kind::kRemove, gone), RaftOutcome::kCommitted);
  group.run(Milliseconds(100));
  const RaftTerm term = group[leader].term();
  group.run(std::chrono::seconds(5));
  EXPECT_EQ(group.leader(), leader);
  EXPECT_EQ(group[leader].term(), term);
  EXPECT_EQ(group[gone].leader(), base::kNoNode);
}

TEST_F(RaftMembership, ARemovedLeaderWithALongerLogDoesNotBlockElections) {
  const RaftRequest request = group.change(leader, Kind::kRemove, leader);
  // The others get the removal and nothing behind it.
  group.drop = [&](Node from, Node, const RaftMessage& message) {
    const auto* append = std::get_if<RaftAppend>(&message.body);
    return from == leader && append != nullptr && !append->entries.empty() &&
           append->entries.front().kind == RaftEntryKind::kCommand;
  };
  for (int i = 0; i < 50; ++i) group.propose(leader, "more");
  group.run_until([&] { return group.answer(leader, request) != nullptr; }, std::chrono::seconds(2));
  group.drop = nullptr;
  EXPECT_TRUE(
      group.run_until([&] { return group.leader() != 0 && group.leader() != leader; }, std::chrono::seconds(3)));
  const RaftRequest next = group.propose(group.leader(), "goes on");
  group.run(Milliseconds(300));
  EXPECT_EQ(group.answer(group.leader(), next)->outcome, RaftOutcome::kCommitted);
}

TEST_F(RaftMembership, ARemovedNodeCanComeBack) {
  const Node gone = leader == 1 ? 2 : 1;
  ASSERT_EQ(outcome(Kind::kRemove, gone), RaftOutcome::kCommitted);
  group.run(std::chrono::seconds(1));
  ASSERT_EQ(outcome(Kind::kAddLearner, gone), RaftOutcome::kCommitted);
  group.run(Milliseconds(500));
  EXPECT_EQ(outcome(Kind::kPromote, gone), RaftOutcome::kCommitted);
  group.run(Milliseconds(200));
  EXPECT_EQ(group.state(gone), group.state(leader));
}

TEST_F(RaftMembership, LeadershipIsHandedOverToWhoWasAsked) {
  const Node next = leader == 1 ? 2 : 1;
  group.propose(leader, "before");
  const RaftRequest request = group.transfer(leader, next);
  ASSERT_TRUE(group.run_until([&] { return group.leader() == next; }, kT));
  EXPECT_EQ(group.answer(leader, request)->outcome, RaftOutcome::kHandedOver);
}

TEST_F(RaftMembership, LeadershipIsNotHandedToWhoIsSilent) {
  const Node dead = leader == 1 ? 2 : 1;
  group.crash(dead);
  group.run(kT + Milliseconds(20));
  const RaftAnswer* answer = group.answer(leader, group.transfer(leader, dead));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->refusal, RaftRefusal::kUnreachable);
  const RaftAnswer* stranger = group.answer(leader, group.transfer(leader, 9));
  EXPECT_EQ(stranger->refusal, RaftRefusal::kNotMember);
}

TEST_F(RaftMembership, AHandOverIsGivenUpAfterTAndProposalsAreRefusedUntilThen) {
  const Node next = leader == 1 ? 2 : 1;
  group.drop = [](Node, Node, const RaftMessage& message) {
    return std::holds_alternative<RaftTimeoutNow>(message.body);
  };
  const RaftRequest request = group.transfer(leader, next);
  const RaftAnswer* refused = group.answer(leader, group.propose(leader, "meanwhile"));
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->refusal, RaftRefusal::kTransferring);
  group.run(kT - Milliseconds(1));
  EXPECT_EQ(group.answer(leader, request), nullptr);
  group.run(Milliseconds(1));
  ASSERT_NE(group.answer(leader, request), nullptr);
  EXPECT_EQ(group.answer(leader, request)->refusal, RaftRefusal::kTimedOut);
  const RaftRequest after = group.propose(leader, "after");
  group.run(Milliseconds(50));
  EXPECT_EQ(group.answer(leader, after)->outcome, RaftOutcome::kCommitted);
}

TEST(RaftMembers, AChangeWaitsForAnEntryOfTheOwnTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.lead();
  solo.raft.change({Kind::kAddLearner, node(4)}, solo.now);
  solo.settle();
  EXPECT_EQ(solo.answers.back().refusal, RaftRefusal::kChangeUnderWay);
}

TEST(RaftMembers, TheLastVoterStays) {
  RaftSolo solo(founding_image({node(1)}));
  solo.wait_for_election();
  solo.raft.change({Kind::kRemove, node(1)}, solo.now);
  solo.settle();
  EXPECT_EQ(solo.answers.back().refusal, RaftRefusal::kLastVoter);
}

// membership rollback: an uncommitted configuration is used at once and undone by truncation.
TEST(RaftMembers, MembershipRollbackAnUncommittedConfigurationIsUndoneByTruncation) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, 1, append_of(1, 1, {members_at(2, 1, {node(1), node(2)})}));
  EXPECT_FALSE(solo.raft.members().is_voter(node(3)));
  solo.hear(3, 2, append_of(1, 1, {command_at(2, 2)}));
  EXPECT_TRUE(solo.raft.members().is_voter(node(3)));
  EXPECT_EQ(solo.raft.leader(), node(3));
}

TEST(RaftMembers, AVoterAddedByAnUncommittedConfigurationCountsAtOnce) {
  RaftImage image = image_of({node(1)}, {1}, {1, base::kNoNode});
  image.entries.push_back(members_at(2, 1, {node(1), node(2)}));
  RaftSolo solo(std::move(image));
  solo.wait_for_election();
  EXPECT_EQ(solo.raft.role(), RaftRole::kPreCandidate);
}

// Node 1 was to be removed, and only it has that entry: without it the others, whose logs are shorter, elect nobody.
TEST(RaftMembers, WhoIsToBeRemovedLeadsUntilThatIsCommitted) {
  RaftImage image = image_of({node(1), node(2)}, {1}, {1, base::kNoNode});
  image.entries.push_back(members_at(2, 1, {node(2)}));
  RaftSolo solo(std::move(image));
  solo.lead();
  ASSERT_TRUE(solo.raft.leads());
  solo.acknowledge(2, 3);
  EXPECT_EQ(solo.raft.commit(), 3u);
  EXPECT_FALSE(solo.raft.leads());
  solo.pass(std::chrono::seconds(2));
  EXPECT_EQ(solo.raft.role(), RaftRole::kFollower);
}

// stranger: messages from outside the configuration are dropped, whatever flags they carry.
TEST(RaftMembers, StrangerMessagesChangeNothing) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  const std::size_t writes = solo.writes.size();
  RaftVoteRequest request = vote_for(9, 99, 8);
  request.transfer = true;
  solo.hear(9, 9, request);
  request.pre = true;
  request.asked = 10;
  solo.hear(9, 9, request);
  solo.hear(9, 9, append_of(1, 1, {command_at(2, 9)}, 2));
  solo.hear(9, 9, RaftAppendReply{});
  solo.hear(9, 9, RaftVoteReply{.pre = true, .granted = true, .asked = 2});
  solo.hear(9, 9, RaftSnapshotReply{});
  solo.hear(9, 1, RaftTimeoutNow{});
  solo.hear(9, 9, RaftLoan{.prev_index = 1, .prev_term = 1, .entries = {command_at(2, 9)}});
  EXPECT_EQ(solo.raft.term(), 1u);
  EXPECT_EQ(solo.raft.log().last(), 1u);
  EXPECT_EQ(solo.raft.leader(), base::kNoNode);
  EXPECT_EQ(solo.writes.size(), writes);
  EXPECT_TRUE(solo.sends.empty());
}

TEST(RaftMembers, StrangerVotesDoNotCount) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.lead(9);
  EXPECT_EQ(solo.raft.role(), RaftRole::kPreCandidate);
}

TEST(RaftMembers, AStrangerWithALaterConfigurationIsHeardOnceTheOwnLeaderIsSilent) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, 1, append_of(1, 1, {}));
  RaftAppend append = append_of(1, 1, {});
  append.members_index = 5;
  solo.hear(4, 2, append);
  EXPECT_EQ(solo.raft.leader(), node(2));
  solo.now += kT;
  solo.hear(4, 2, append);
  EXPECT_EQ(solo.raft.leader(), node(4));
  EXPECT_EQ(solo.raft.term(), 2u);
}

// Node 4 is a voter of a committed configuration that node 1 has not heard of; 1 and 4 are what is left of it.
TEST(RaftMembers, AVoterThatIsUnknownHereCanBeElected) {
  RaftSolo solo(image_of({node(1), node(2)}, {1}, {1, base::kNoNode}));
  RaftVoteRequest request = vote_for(2, 3, 1);
  request.members_index = 3;
  solo.hear(4, 2, request);
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(4)->granted);
}

}  // namespace
}  // namespace muster::cores
