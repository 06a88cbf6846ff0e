#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cores/raft_group.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

RaftAppend heartbeat(RaftIndex prev_index, RaftTerm prev_term, base::Instant stamp = {}) {
  return {.prev_index = prev_index,
          .prev_term = prev_term,
          .commit = 0,
          .members_index = 0,
          .stamp = stamp,
          .round = 0,
          .entries = {}};
}

TEST(RaftElection, GivesAGroupOneLeaderThatAllKnow) {
  RaftGroup group(5);
  ASSERT_TRUE(group.elect(std::chrono::seconds(1)));
  group.run(Milliseconds(100));
  const Node leader = group.leader();
  for (Node other = 1; other <= 5; ++other) EXPECT_EQ(group[other].leader(), node(leader));
}

TEST(RaftElection, ReplacesALeaderThatCrashed) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  const Node old = group.leader();
  group.crash(old);
  ASSERT_TRUE(group.run_until([&] { return group.leader() != 0; }, std::chrono::seconds(1)));
  EXPECT_NE(group.leader(), old);
}

TEST(RaftElection, WaitsARandomTimeBetweenTAndTwiceT) {
  base::Duration least = 10 * kT;
  base::Duration most{};
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const base::Instant now(std::chrono::seconds(1));
    const Raft raft(node(1), {}, seed, founding_image({node(1), node(2), node(3)}), now);
    least = std::min(least, raft.deadline() - now);
    most = std::max(most, raft.deadline() - now);
  }
  EXPECT_GE(least, kT);
  EXPECT_LT(least, kT + kT / 20);
  EXPECT_LT(most, 2 * kT);
  EXPECT_GT(most, 2 * kT - kT / 20);
}

TEST(RaftElection, IsFiveTimesSlowerOverWideAreas) {
  EXPECT_EQ(RaftOptions::lan().election_timeout, Milliseconds(150));
  EXPECT_EQ(RaftOptions::lan().heartbeat, Milliseconds(50));
  EXPECT_EQ(RaftOptions::wan().election_timeout, Milliseconds(750));
  EXPECT_EQ(RaftOptions::wan().heartbeat, Milliseconds(250));
}

TEST(RaftElection, WorksWithOptionsThatMakeNoSense) {
  RaftOptions options;
  options.batch_entries = options.batch_bytes = options.window = options.snapshot_part_bytes = 0;
  options.heartbeat = options.election_timeout = {};
  RaftSolo solo(founding_image({node(1)}), options);
  solo.wait_for_election();
  EXPECT_TRUE(solo.raft.leads());
}

TEST(RaftElection, AsksBeforeItChangesAnyTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.wait_for_election();
  EXPECT_EQ(solo.raft.term(), 1u);
  const auto asked = solo.last_sent<RaftVoteRequest>(2);
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->pre);
  EXPECT_EQ(asked->asked, 2u);
}

TEST(RaftElection, APreVoteNeverChangesTheReceiversTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  const std::size_t writes = solo.writes.size();
  solo.hear(2, 8, vote_for(9, 5, 1, true));
  EXPECT_EQ(solo.raft.term(), 1u);
  EXPECT_EQ(solo.writes.size(), writes);
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(2)->granted);
}

// pre-vote deadlock: the answers carry the term, so a longer log of a lower term gets there.
TEST(RaftElection, PreVoteDeadlockALongerLogOfALowerTermIsElected) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 1}, {1, base::kNoNode}));
  solo.wait_for_election();
  solo.hear(2, 5, RaftVoteReply{.pre = true, .granted = false, .asked = 2});
  EXPECT_EQ(solo.raft.term(), 5u);
  solo.wait_for_election();
  EXPECT_EQ(solo.last_sent<RaftVoteRequest>(2)->asked, 6u);
}

TEST(RaftElection, PreVoteDeadlockTheShorterLogOfAHigherTermAnswersWithItsTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {5, node(1)}));
  solo.hear(2, 1, vote_for(2, 2, 1, true));
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(2)->granted);
  EXPECT_EQ(solo.sends.back().message.term, 5u);
  solo.hear(2, 5, vote_for(6, 2, 1, true));
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(2)->granted);
}

// double vote
TEST(RaftElection, DoubleVoteANodeVotesOnceInATerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, 2, vote_for(2, 1, 1));
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(2)->granted);
  solo.hear(3, 2, vote_for(2, 1, 1));
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(3)->granted);
  solo.hear(2, 2, vote_for(2, 1, 1));
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(2)->granted);
}

TEST(RaftElection, DoubleVoteALeaderThatHandsOverVotesOnce) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.lead();
  solo.acknowledge(2, 2);
  solo.raft.transfer(node(2), solo.now);
  solo.settle();
  EXPECT_EQ(solo.count_sent<RaftTimeoutNow>(), 1u);
  RaftVoteRequest request = vote_for(3, 2, 2);
  request.transfer = true;
  solo.hear(2, 3, request);
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(2)->granted);
  EXPECT_EQ(solo.raft.role(), RaftRole::kFollower);
  solo.hear(3, 3, request);
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(3)->granted);
}

TEST(RaftElection, AVoteIsDurableBeforeItIsGiven) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.disk_held = true;
  solo.hear(2, 2, vote_for(2, 1, 1));
  const RaftSend& reply = solo.sends.back();
  EXPECT_EQ(reply.after, solo.writes.back().ticket);
  EXPECT_EQ(std::get<RaftHardState>(solo.writes.back().body), (RaftHardState{2, node(2)}));
}

TEST(RaftElection, ATermIsDurableBeforeAnythingIsSaidInIt) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.disk_held = true;
  solo.hear(2, 4, heartbeat(1, 1));
  EXPECT_EQ(solo.sends.back().after, solo.writes.back().ticket);
  EXPECT_EQ(std::get<RaftHardState>(solo.writes.back().body).term, 4u);
}

TEST(RaftElection, AnOnlyVoterLeadsOnceItsVoteIsDurable) {
  RaftSolo solo(founding_image({node(1)}));
  solo.disk_held = true;
  solo.wait_for_election();
  EXPECT_EQ(solo.raft.role(), RaftRole::kCandidate);
  solo.raft.persisted(solo.writes.back().ticket, solo.now);
  EXPECT_EQ(solo.raft.role(), RaftRole::kLeader);
}

TEST(RaftElection, NobodyIsElectedWithAShorterLog) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 2, 2}, {2, base::kNoNode}));
  solo.hear(2, 3, vote_for(3, 2, 2));
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(2)->granted);
  solo.hear(3, 3, vote_for(3, 9, 1));
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(3)->granted);
  EXPECT_EQ(solo.raft.term(), 3u);
}

TEST(RaftElection, WhoHearsALeaderRefusesAndKeepsItsTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, 1, heartbeat(1, 1));
  solo.now += kT - Milliseconds(1);
  solo.hear(3, 9, vote_for(9, 5, 5));
  EXPECT_FALSE(solo.last_sent<RaftVoteReply>(3)->granted);
  EXPECT_EQ(solo.raft.term(), 1u);
  solo.now += Milliseconds(1);
  solo.hear(3, 9, vote_for(9, 5, 5));
  EXPECT_TRUE(solo.last_sent<RaftVoteReply>(3)->granted);
}

TEST(RaftElection, AnIsolatedLeaderStepsDownWithinTwiceT) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(200));
  const Node old = group.leader();
  group.isolate(old);
  EXPECT_TRUE(group.run_until([&] { return !group[old].leads(); }, 2 * kT));
}

TEST(RaftElection, TheMajorityIsCountedFromWhenTheAnsweredHeartbeatWasSent) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.lead();
  const base::Instant sent = solo.now;
  solo.pass(kT);
  solo.hear(2, 2,
            RaftAppendReply{
                .accepted = true, .index = 2, .hint_index = 2, .hint_term = 0, .stamp = sent + kT / 3, .round = 0});
  EXPECT_EQ(solo.raft.silent_since(node(2)), sent + kT / 3);
  solo.pass(kT + kT / 3 - Milliseconds(1));
  EXPECT_TRUE(solo.raft.leads());
  solo.pass(Milliseconds(1));
  EXPECT_FALSE(solo.raft.leads());
}

TEST(RaftElection, StampsOfAnEarlierTimeOrFromTheFutureProveNothing) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.lead();
  const base::Instant since = solo.now;
  for (const base::Instant stamp : {since - kT, since + 9 * kT}) {
    solo.hear(
        2, 2,
        RaftAppendReply{.accepted = true, .index = 2, .hint_index = 2, .hint_term = 0, .stamp = stamp, .round = 0});
  }
  EXPECT_EQ(solo.raft.silent_since(node(2)), since);
}

TEST(RaftElection, AStaleAppendIsAnsweredWithoutItsStamp) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {3, base::kNoNode}));
  solo.hear(2, 2, heartbeat(1, 1, solo.now));
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->stamp, base::Instant{});
  EXPECT_FALSE(solo.last_sent<RaftAppendReply>(2)->accepted);
  EXPECT_EQ(solo.sends.back().message.term, 3u);
}

TEST(RaftElection, ANodeThatWasCutOffDoesNotDisturbWhenItReturns) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(200));
  const Node leader = group.leader();
  const RaftTerm term = group[leader].term();
  const Node away = leader == 1 ? 2 : 1;
  group.isolate(away);
  group.run(std::chrono::seconds(3));
  group.heal();
  group.run(std::chrono::seconds(1));
  EXPECT_EQ(group.leader(), leader);
  EXPECT_EQ(group[leader].term(), term);
  EXPECT_EQ(group[away].leader(), node(leader));
}

TEST(RaftElection, ALearnerForgetsALeaderThatIsSilentForTwiceT) {
  RaftImage image = founding_image({node(2), node(3)});
  image.snapshot.members.learners = {node(1)};
  image.hard.term = 1;
  RaftSolo solo(std::move(image));
  solo.hear(2, 1, heartbeat(0, 0));
  EXPECT_EQ(solo.raft.leader(), node(2));
  solo.pass(2 * kT - Milliseconds(1));
  EXPECT_EQ(solo.raft.leader(), node(2));
  solo.pass(Milliseconds(1));
  EXPECT_EQ(solo.raft.leader(), base::kNoNode);
  solo.pass(std::chrono::seconds(5));
  EXPECT_EQ(solo.count_sent<RaftVoteRequest>(), 0u);
}

TEST(RaftElection, ATimeoutNowCountsOnlyFromTheLeaderOfTheTerm) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, 1, heartbeat(1, 1));
  solo.hear(3, 1, RaftTimeoutNow{});
  solo.hear(2, 0, RaftTimeoutNow{});
  EXPECT_EQ(solo.raft.role(), RaftRole::kFollower);
  solo.hear(2, 1, RaftTimeoutNow{});
  EXPECT_EQ(solo.raft.role(), RaftRole::kCandidate);
  EXPECT_TRUE(solo.last_sent<RaftVoteRequest>(3)->transfer);
}

TEST(RaftElection, AnAbsurdTermIsIgnored) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1}, {1, base::kNoNode}));
  solo.hear(2, ~RaftTerm{0}, heartbeat(1, 1));
  EXPECT_EQ(solo.raft.term(), 1u);
}

TEST(RaftElection, ABridgeBetweenTwoThatCannotHearEachOtherKeepsALeader) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.cut(1, 3);
  group.cut(3, 1);
  group.run(std::chrono::seconds(2));
  ASSERT_NE(group.leader(), 0u);
  const RaftTerm term = group[group.leader()].term();
  group.run(std::chrono::seconds(5));
  ASSERT_NE(group.leader(), 0u);
  EXPECT_EQ(group[group.leader()].term(), term);
}

TEST(RaftElection, ALeaderThatCanOnlySpeakStepsDownAndAnotherTakesOver) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  const Node old = group.leader();
  for (Node other = 1; other <= 3; ++other) group.cut(other, old);
  EXPECT_TRUE(group.run_until([&] { return group.leader() != 0 && group.leader() != old; }, std::chrono::seconds(2)));
}

// The only node with links to a majority lacks what the others have: they lend it what it needs to be elected.
TEST(RaftElection, AHubWithAShorterLogIsLentEntriesAndElected) {
  RaftGroup group(5);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(200));
  const Node old = group.leader();
  const Node hub = old == 1 ? 2 : 1;
  group.cut(old, hub);
  const RaftRequest request = group.propose(old, "not at the hub");
  group.run(Milliseconds(20));
  ASSERT_EQ(group.answer(old, request)->outcome, RaftOutcome::kCommitted);
  group.crash(old);
  for (Node one = 1; one <= 5; ++one) {
    for (Node other = 1; other <= 5; ++other) {
      if (one != hub && other != hub) group.cut(one, other);
    }
  }
  EXPECT_TRUE(group.run_until([&] { return group.leader() == hub; }, std::chrono::seconds(3)));
  group.run(Milliseconds(200));
  EXPECT_GE(group[hub].commit(), group.history.acknowledged());
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

TEST(RaftElection, ALoanIsTakenOnlyIfItMakesTheLogMoreUpToDate) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 3, 3}, {3, base::kNoNode}));
  solo.wait_for_election();
  solo.hear(2, 3, RaftLoan{.prev_index = 1, .prev_term = 1, .entries = {command_at(2, 2), command_at(3, 2)}});
  EXPECT_EQ(solo.raft.log().last_term(), 3u);
  solo.hear(2, 3, RaftLoan{.prev_index = 3, .prev_term = 2, .entries = {command_at(4, 3)}});
  EXPECT_EQ(solo.raft.log().last(), 3u);
  solo.hear(2, 4, RaftLoan{.prev_index = 1, .prev_term = 1, .entries = {command_at(2, 4)}});
  EXPECT_EQ(solo.raft.log().last_term(), 4u);
  EXPECT_EQ(solo.raft.log().last(), 2u);
  EXPECT_EQ(solo.raft.term(), 5u);
}

}  // namespace
}  // namespace muster::cores
