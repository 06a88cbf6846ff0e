#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cores/raft_group.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

RaftImage three(std::vector<RaftTerm> terms, RaftTerm term) {
  return image_of({node(1), node(2), node(3)}, std::move(terms), {term, base::kNoNode});
}

TEST(RaftReplication, CommitsAndAppliesWhatTheLeaderIsGiven) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  const Node leader = group.leader();
  const RaftRequest request = group.propose(leader, "a");
  group.run(Milliseconds(100));
  ASSERT_NE(group.answer(leader, request), nullptr);
  EXPECT_EQ(group.answer(leader, request)->outcome, RaftOutcome::kCommitted);
  for (Node other = 1; other <= 3; ++other) EXPECT_EQ(group.state(other), group.state(leader));
}

TEST(RaftReplication, FollowersLearnOfACommitWithoutWaitingForAHeartbeat) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(200));
  group.weather.most_delay = group.weather.least_delay;
  const Node leader = group.leader();
  group.propose(leader, "a");
  const RaftIndex index = group[leader].log().last();
  EXPECT_TRUE(group.run_until(
      [&] { return group[1].commit() >= index && group[2].commit() >= index && group[3].commit() >= index; },
      Milliseconds(6)));
}

TEST(RaftReplication, OthersSayWhoLeads) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(100));
  const Node leader = group.leader();
  const Node other = leader == 1 ? 2 : 1;
  const RaftAnswer* answer = group.answer(other, group.propose(other, "a"));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->refusal, RaftRefusal::kNotLeader);
  EXPECT_EQ(answer->leader, node(leader));
}

// overclaim: an answer names what the request named, not the follower's own tail.
TEST(RaftReplication, OverclaimAHeartbeatIsAnsweredWithItsOwnIndex) {
  RaftSolo solo(three({1, 1, 1}, 2));
  solo.hear(2, 2, append_of(1, 1, {}));
  EXPECT_TRUE(solo.last_sent<RaftAppendReply>(2)->accepted);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 1u);
}

TEST(RaftReplication, OverclaimAnAppendIsAnsweredWithItsLastEntry) {
  RaftSolo solo(three({1, 1, 1, 1}, 2));
  solo.hear(2, 2, append_of(1, 1, {command_at(2, 1)}));
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 2u);
  EXPECT_EQ(solo.raft.log().last(), 4u);
}

TEST(RaftReplication, AnAppendIsAnsweredOnceItIsDurable) {
  RaftSolo solo(three({1}, 1));
  solo.disk_held = true;
  solo.hear(2, 1, append_of(1, 1, {command_at(2, 1)}));
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 2u);
  EXPECT_EQ(solo.sends.back().after, solo.writes.back().ticket);
}

TEST(RaftReplication, AHeartbeatIsAnsweredAtOnceAndClaimsWhatIsDurable) {
  RaftSolo solo(three({1}, 1));
  solo.disk_held = true;
  solo.hear(2, 1, append_of(1, 1, {command_at(2, 1)}));
  solo.hear(2, 1, append_of(2, 1, {}));
  EXPECT_EQ(solo.sends.back().after, 0u);
  EXPECT_TRUE(solo.last_sent<RaftAppendReply>(2)->accepted);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 1u);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->hint_index, 2u);
}

TEST(RaftReplication, AnAppendBehindAGapIsRefusedWithTheEndOfTheLog) {
  RaftSolo solo(three({1, 1}, 1));
  solo.hear(2, 1, append_of(7, 1, {command_at(8, 1)}));
  const auto reply = solo.last_sent<RaftAppendReply>(2);
  EXPECT_FALSE(reply->accepted);
  EXPECT_EQ(reply->index, 7u);
  EXPECT_EQ(reply->hint_index, 2u);
}

TEST(RaftReplication, EntriesThatContradictAreDroppedWithAllBehindThem) {
  RaftSolo solo(three({1, 2, 2, 2}, 3));
  solo.hear(2, 3, append_of(1, 1, {command_at(2, 3)}));
  EXPECT_EQ(solo.raft.log().last(), 2u);
  EXPECT_EQ(solo.raft.log().last_term(), 3u);
  ASSERT_GE(solo.writes.size(), 2u);
  EXPECT_EQ(std::get<RaftTruncate>(solo.writes[solo.writes.size() - 2].body).from, 2u);
}

// late duplicate: an old append to a node that has compacted is harmless.
TEST(RaftReplication, LateDuplicateOfACompactedAppendChangesNothing) {
  RaftOptions options;
  options.kept_entries = 0;
  RaftSolo solo(three({}, 1), options);
  const RaftAppend old = append_of(0, 0, {command_at(1, 1), command_at(2, 1)}, 2);
  solo.hear(2, 1, old);
  solo.hear(2, 1, append_of(2, 1, {command_at(3, 1), command_at(4, 1)}, 3));
  ASSERT_TRUE(solo.raft.compact(3, "state"));
  solo.settle();
  const std::size_t writes = solo.writes.size();
  solo.hear(2, 1, old);
  EXPECT_TRUE(solo.last_sent<RaftAppendReply>(2)->accepted);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 2u);
  EXPECT_EQ(solo.raft.log().last(), 4u);
  EXPECT_EQ(solo.raft.commit(), 3u);
  EXPECT_EQ(solo.writes.size(), writes);
}

TEST(RaftReplication, LateDuplicateThatReachesBehindTheSnapshotAddsOnlyWhatIsNew) {
  RaftOptions options;
  options.kept_entries = 0;
  RaftSolo solo(three({}, 1), options);
  solo.hear(2, 1, append_of(0, 0, {command_at(1, 1), command_at(2, 1)}, 2));
  ASSERT_TRUE(solo.raft.compact(2, "state"));
  solo.hear(2, 1, append_of(1, 1, {command_at(2, 1), command_at(3, 1)}));
  EXPECT_EQ(solo.raft.log().last(), 3u);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 3u);
}

TEST(RaftReplication, NothingUndoesWhatIsCommitted) {
  RaftSolo solo(three({}, 1));
  solo.hear(2, 1, append_of(0, 0, {command_at(1, 1, "kept"), command_at(2, 1)}, 2));
  solo.hear(3, 4, append_of(0, 0, {command_at(1, 4, "other")}));
  EXPECT_EQ(solo.raft.log().at(1).command, "kept");
  EXPECT_EQ(solo.raft.log().last(), 2u);
}

// old-term commit: a majority that holds an entry of an earlier term does not commit it.
TEST(RaftReplication, OldTermCommitWaitsForAnEntryOfTheOwnTerm) {
  RaftSolo solo(three({1, 1}, 1));
  solo.lead();
  ASSERT_EQ(solo.raft.log().last(), 3u);
  solo.acknowledge(2, 2);
  EXPECT_EQ(solo.raft.commit(), 0u);
  solo.acknowledge(2, 3);
  EXPECT_EQ(solo.raft.commit(), 3u);
}

// A node that joins gets entries from the first on, and none of them told who the founders were.
TEST(RaftReplication, TheFirstTermOpensWithTheFoundersConfiguration) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  ASSERT_EQ(solo.raft.log().last(), 1u);
  EXPECT_EQ(solo.raft.log().at(1).kind, RaftEntryKind::kMembers);
  EXPECT_EQ(solo.raft.log().at(1).members, solo.raft.members());
  EXPECT_EQ(solo.raft.log().members_index(), 1u);
}

TEST(RaftReplication, ANoOpOpensEveryTerm) {
  RaftImage image = three({1}, 1);
  image.entries.front().kind = RaftEntryKind::kMembers;
  image.entries.front().members = image.snapshot.members;
  RaftSolo solo(std::move(image));
  solo.lead();
  EXPECT_EQ(solo.raft.log().at(2).kind, RaftEntryKind::kNoop);
  EXPECT_EQ(solo.raft.log().at(2).term, 2u);
}

TEST(RaftReplication, TheLeadersOwnEntriesCountOnceTheyAreDurable) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.acknowledge(2, 1);
  ASSERT_EQ(solo.raft.commit(), 1u);
  solo.disk_held = true;
  solo.raft.propose("a", solo.now);
  solo.settle();
  solo.acknowledge(2, 2);
  EXPECT_EQ(solo.raft.commit(), 1u);
  solo.raft.persisted(solo.writes.back().ticket, solo.now);
  EXPECT_EQ(solo.raft.commit(), 2u);
}

TEST(RaftReplication, AMajorityOfOthersCommitsWhatTheLeaderCouldNotWriteYet) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.disk_held = true;
  solo.raft.propose("a", solo.now);
  solo.settle();
  solo.acknowledge(2, 2);
  solo.acknowledge(3, 2);
  EXPECT_EQ(solo.raft.commit(), 2u);
}

TEST(RaftReplication, AStaleConfirmationSaysNothingOfEntriesThatTookTheirPlace) {
  RaftSolo solo(three({1}, 1));
  solo.disk_held = true;
  solo.hear(2, 1, append_of(1, 1, {command_at(2, 1), command_at(3, 1)}));
  const RaftTicket old = solo.writes.back().ticket;
  solo.hear(3, 2, append_of(1, 1, {command_at(2, 2)}));
  EXPECT_GT(solo.writes.back().ticket, old);
  solo.raft.persisted(old, solo.now);
  EXPECT_EQ(solo.raft.log().durable(), 1u);
  solo.raft.persisted(solo.writes.back().ticket, solo.now);
  EXPECT_EQ(solo.raft.log().durable(), 2u);
}

// append failure: fail-stop.
TEST(RaftReplication, AppendFailureStopsTheNodeForGood) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.acknowledge(2, 1);
  solo.disk_held = true;
  const RaftRequest request = solo.raft.propose("a", solo.now);
  solo.raft.disk_failed(solo.now);
  const std::size_t sends = solo.sends.size();
  solo.settle();
  EXPECT_EQ(solo.raft.role(), RaftRole::kStopped);
  ASSERT_FALSE(solo.answers.empty());
  EXPECT_EQ(solo.answers.back().request, request);
  EXPECT_EQ(solo.answers.back().outcome, RaftOutcome::kUnknown);
  solo.hear(2, 9, append_of(0, 0, {command_at(1, 9)}));
  solo.raft.persisted(solo.writes.back().ticket, solo.now);
  solo.raft.propose("b", solo.now);
  solo.pass(std::chrono::seconds(1));
  solo.settle();
  EXPECT_EQ(solo.answers.back().refusal, RaftRefusal::kStopped);
  EXPECT_EQ(solo.sends.size(), sends);
  EXPECT_EQ(solo.raft.deadline(), base::kNever);
}

// starvation: what a majority holds is committed though more is under way all the time.
TEST(RaftReplication, StarvationDoesNotHappenUnderPipelinedLoad) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  const Node leader = group.leader();
  for (int i = 0; i < 15; ++i) {
    const RaftIndex before = group[leader].commit();
    for (int j = 0; j < 20; ++j) {
      for (int k = 0; k < 3; ++k) group.propose(leader, "load");
      group.run(Milliseconds(1));
    }
    EXPECT_GE(group[leader].commit(), before + (i == 0 ? 1u : 20u)) << "after " << 20 * i << " ms";
  }
}

TEST(RaftReplication, AMajorityAtAnIndexCommitsItThoughLaterEntriesAreUnderWay) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  for (int i = 0; i < 5; ++i) {
    solo.raft.propose("a", solo.now);
    solo.settle();
  }
  solo.acknowledge(2, 3);
  EXPECT_EQ(solo.raft.commit(), 3u);
}

// re-entry: leadership is lost in the same call in which proposals would be answered.
TEST(RaftReplication, ReEntryEveryRequestIsAnsweredOnceWhenLeadershipIsLost) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.acknowledge(2, 1);
  const RaftRequest first = solo.raft.propose("a", solo.now);
  const RaftRequest second = solo.raft.propose("b", solo.now);
  const RaftRequest read = solo.raft.read(solo.now);
  solo.settle();
  solo.hear(3, 7, append_of(0, 0, {command_at(1, 7)}));
  const RaftRequest late = solo.raft.propose("c", solo.now);
  solo.settle();
  std::vector<std::pair<RaftRequest, RaftOutcome>> outcomes;
  for (const RaftAnswer& answer : solo.answers) outcomes.emplace_back(answer.request, answer.outcome);
  EXPECT_THAT(outcomes, testing::ElementsAre(
                            testing::Pair(first, RaftOutcome::kUnknown), testing::Pair(second, RaftOutcome::kUnknown),
                            testing::Pair(read, RaftOutcome::kUnknown), testing::Pair(late, RaftOutcome::kRefused)));
  EXPECT_EQ(solo.answers.back().leader, node(3));
}

TEST(RaftReplication, ProposalsAreRefusedWhenTooMuchIsUncommitted) {
  RaftOptions options;
  options.uncommitted_entries = 3;
  RaftSolo solo(three({}, 0), options);
  solo.lead();
  solo.raft.propose("a", solo.now);
  solo.raft.propose("b", solo.now);
  solo.settle();
  EXPECT_TRUE(solo.answers.empty());
  solo.raft.propose("c", solo.now);
  solo.settle();
  ASSERT_EQ(solo.answers.size(), 1u);
  EXPECT_EQ(solo.answers.front().refusal, RaftRefusal::kBusy);
  solo.acknowledge(2, 3);
  solo.raft.propose("d", solo.now);
  solo.settle();
  EXPECT_EQ(solo.answers.back().outcome, RaftOutcome::kCommitted);
}

TEST(RaftReplication, ProposalsAreRefusedWhenTooManyBytesAreUncommittedOrInOne) {
  RaftOptions options;
  options.uncommitted_bytes = 100;
  RaftSolo solo(three({}, 0), options);
  solo.lead();
  solo.raft.propose(std::string(90, 'a'), solo.now);
  solo.raft.propose(std::string(20, 'a'), solo.now);
  solo.raft.propose(std::string(kRaftMaxCommandBytes + 1, 'a'), solo.now);
  solo.settle();
  ASSERT_EQ(solo.answers.size(), 2u);
  EXPECT_EQ(solo.answers[0].refusal, RaftRefusal::kBusy);
  EXPECT_EQ(solo.answers[1].refusal, RaftRefusal::kTooLarge);
}

TEST(RaftReplication, AFollowerStoresNoMoreThanItHasRoomFor) {
  RaftOptions options;
  options.log_entries = 3;
  RaftSolo solo(three({}, 1), options);
  solo.hear(2, 1, append_of(0, 0, {command_at(1, 1), command_at(2, 1), command_at(3, 1), command_at(4, 1)}));
  EXPECT_EQ(solo.raft.log().last(), 3u);
  EXPECT_EQ(solo.last_sent<RaftAppendReply>(2)->index, 3u);
}

TEST(RaftReplication, MessagesAndTheWindowAreBounded) {
  RaftOptions options;
  options.batch_entries = 2;
  options.window = 3;
  RaftSolo solo(three({}, 0), options);
  solo.lead();
  solo.acknowledge(2, 1);
  solo.sends.clear();
  for (int i = 0; i < 20; ++i) solo.raft.propose("a", solo.now);
  solo.settle();
  std::size_t messages = 0;
  for (const RaftSend& send : solo.sends) {
    if (send.to != node(2)) continue;
    ++messages;
    EXPECT_LE(std::get<RaftAppend>(send.message.body).entries.size(), 2u);
  }
  EXPECT_EQ(messages, 3u);
}

TEST(RaftReplication, ProposalsBetweenTwoTakesTravelAndAreWrittenTogether) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.acknowledge(2, 1);
  solo.sends.clear();
  const std::size_t writes = solo.writes.size();
  for (int i = 0; i < 10; ++i) solo.raft.propose("a", solo.now);
  solo.settle();
  EXPECT_EQ(solo.writes.size(), writes + 1);
  EXPECT_EQ(solo.last_sent<RaftAppend>(2)->entries.size(), 10u);
}

TEST(RaftReplication, ANodeThatIsDownCostsOnlyEmptyMessages) {
  RaftSolo solo(three({}, 0));
  solo.lead();
  solo.acknowledge(2, 1);
  for (int i = 0; i < 10; ++i) solo.raft.propose(std::string(1000, 'a'), solo.now);
  solo.settle();
  solo.sends.clear();
  solo.pass(kT);
  for (const RaftSend& send : solo.sends) {
    if (send.to != node(3)) continue;
    EXPECT_TRUE(std::get<RaftAppend>(send.message.body).entries.empty());
  }
}

TEST(RaftReplication, ALossyLinkStillCarriesEverything) {
  RaftGroup group(3, 5);
  group.weather.loss = 0.3;
  group.weather.doubling = 0.3;
  group.weather.most_delay = Milliseconds(20);
  ASSERT_TRUE(group.elect());
  for (int i = 0; i < 200; ++i) {
    if (group.leader() != 0) group.propose(group.leader(), std::to_string(i));
    group.run(Milliseconds(5));
  }
  group.weather.loss = 0;
  group.run(std::chrono::seconds(2));
  EXPECT_GT(group.history.committed(), 50u);
  EXPECT_EQ(group.state(1), group.state(2));
  EXPECT_EQ(group.state(1), group.state(3));
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

TEST(RaftReplication, SlowDisksDoNotCostTheLeaderItsMajority) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  const Node leader = group.leader();
  const RaftTerm term = group[leader].term();
  group.weather.disk = 4 * kT;
  const RaftRequest request = group.propose(leader, "slow");
  group.run(20 * kT);
  EXPECT_EQ(group.leader(), leader);
  EXPECT_EQ(group[leader].term(), term);
  EXPECT_EQ(group.answer(leader, request)->outcome, RaftOutcome::kCommitted);
}

TEST(RaftReplication, EverythingAcknowledgedSurvivesARestartOfEverybody) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  for (int i = 0; i < 20; ++i) group.propose(group.leader(), std::to_string(i));
  group.run(Milliseconds(100));
  const RaftIndex acknowledged = group.history.acknowledged();
  EXPECT_GE(acknowledged, 20u);
  for (Node one = 1; one <= 3; ++one) group.crash(one);
  for (Node one = 1; one <= 3; ++one) group.restart(one);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(300));
  for (Node one = 1; one <= 3; ++one) EXPECT_GE(group.state(one).index, acknowledged);
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

RaftAppend echoing(base::Instant echo, RaftAppend append) {
  append.echo = echo;
  return append;
}

TEST(RaftReplication, AFollowerIsCaughtUpForTwiceTAfterItHadAllThatWasCommitted) {
  RaftSolo solo(three({}, 1));
  solo.now += Milliseconds(1);
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, echoing(solo.now, append_of(0, 0, {command_at(1, 1)}, 5)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, echoing(solo.now, append_of(1, 1, {command_at(2, 1)}, 2)));
  EXPECT_TRUE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, echoing(solo.now, append_of(2, 1, {}, 9)));
  EXPECT_TRUE(solo.raft.caught_up(solo.now + 2 * kT - Milliseconds(1)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now + 2 * kT));
}

TEST(RaftReplication, AnAppendThatWasLongOnItsWayMakesNobodyCaughtUp) {
  RaftSolo solo(three({}, 1));
  solo.now += Milliseconds(1);
  const base::Instant answered = solo.now;
  solo.now += std::chrono::seconds(10);
  solo.hear(2, 1, echoing(answered, append_of(0, 0, {command_at(1, 1)}, 1)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, append_of(1, 1, {}, 1));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, echoing(solo.now + Milliseconds(1), append_of(1, 1, {}, 1)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(2, 1, echoing(solo.now, append_of(1, 1, {}, 1)));
  EXPECT_TRUE(solo.raft.caught_up(solo.now));
}

TEST(RaftReplication, FollowersAreToldTheTimeOfTheirOwnAnswers) {
  RaftGroup group(3);
  ASSERT_TRUE(group.elect());
  group.run(Milliseconds(300));
  for (Node one = 1; one <= 3; ++one) EXPECT_TRUE(group[one].caught_up(group.now())) << one;
}

TEST(RaftReplication, AFollowerIsNotCaughtUpWithALeaderThatDoesNotKnowYetWhatIsCommitted) {
  RaftSolo solo(three({}, 1));
  solo.hear(2, 1, append_of(0, 0, {command_at(1, 1)}, 1));
  solo.now += Milliseconds(1);
  solo.hear(3, 2, echoing(solo.now, append_of(1, 1, {}, 1)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(3, 2, echoing(solo.now, append_of(1, 1, {command_at(2, 2)}, 1)));
  EXPECT_FALSE(solo.raft.caught_up(solo.now));
  solo.hear(3, 2, echoing(solo.now, append_of(2, 2, {}, 2)));
  EXPECT_TRUE(solo.raft.caught_up(solo.now));
}

}  // namespace
}  // namespace muster::cores
