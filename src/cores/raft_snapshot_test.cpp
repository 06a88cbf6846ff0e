#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "cores/raft_group.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

RaftOptions short_logs() {
  RaftOptions options;
  options.kept_entries = 0;
  options.snapshot_part_bytes = 20;
  return options;
}

// A part of a snapshot of `state` at index 10 of term 2, with members 1, 2 and 3.
RaftSnapshotPart part_of(const std::string& state, std::uint64_t offset, std::size_t size) {
  return {.index = 10,
          .snapshot_term = 2,
          .members = {{node(1), node(2), node(3)}, {}},
          .snapshot_members_index = 0,
          .members_index = 0,
          .total_bytes = state.size(),
          .total_hash = base::hash_of(state),
          .offset = offset,
          .stamp = {},
          .round = 0,
          .data = state.substr(offset, size)};
}

RaftSolo follower() {
  return RaftSolo(image_of({node(1), node(2), node(3)}, {1, 1}, {2, node(3)}), short_logs());
}

TEST(RaftSnapshots, ReachAFollowerThatWasAwayTooLong) {
  RaftGroup group(3, 1, short_logs());
  ASSERT_TRUE(group.elect());
  const Node leader = group.leader();
  const Node away = leader == 1 ? 2 : 1;
  group.crash(away);
  for (int i = 0; i < 50; ++i) group.propose(leader, std::to_string(i));
  group.run(Milliseconds(200));
  group.compact(leader);
  group.propose(leader, "behind the snapshot");
  group.restart(away);
  group.run(std::chrono::seconds(1));
  EXPECT_EQ(group.state(away), group.state(leader));
  EXPECT_GT(group[away].log().snapshot().index, 50u);
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

TEST(RaftSnapshots, TellANewMemberWhoTheMembersAre) {
  RaftGroup group(3, 1, short_logs());
  ASSERT_TRUE(group.elect());
  const Node leader = group.leader();
  for (int i = 0; i < 20; ++i) group.propose(leader, std::to_string(i));
  group.run(Milliseconds(200));
  group.compact(leader);
  group.join(4);
  group.change(leader, RaftChange::Kind::kAddLearner, 4);
  group.run(std::chrono::seconds(1));
  EXPECT_EQ(group.state(4), group.state(leader));
  EXPECT_EQ(group[4].members(), group[leader].members());
  group.change(leader, RaftChange::Kind::kPromote, 4);
  group.run(Milliseconds(200));
  group.compact(4);
  group.restart(4);
  group.run(Milliseconds(500));
  EXPECT_TRUE(group[4].members().is_voter(node(4)));
}

// It read the log from its first entry on, and not from a snapshot.
TEST(RaftSnapshots, OfANewMemberNameTheFounders) {
  RaftGroup group(3, 1, short_logs());
  ASSERT_TRUE(group.elect());
  group.join(4);
  group.run(Milliseconds(200));
  const Node leader = group.leader();
  group.cut(leader, 4);
  group.change(leader, RaftChange::Kind::kAddLearner, 4);
  group.run(Milliseconds(100));
  group.heal();
  ASSERT_TRUE(group.run_until([&] { return group.state(4).index >= 1; }, std::chrono::seconds(1)));
  group.compact(4);
  EXPECT_EQ(group[4].log().snapshot().members.voters.size(), 3u);
}

TEST(RaftSnapshots, ArriveOverABadLink) {
  RaftGroup group(3, 3, short_logs());
  ASSERT_TRUE(group.elect());
  group.weather.loss = 0.2;
  group.weather.doubling = 0.2;
  const Node leader = group.leader();
  const Node away = leader == 1 ? 2 : 1;
  group.crash(away);
  for (int i = 0; i < 50; ++i) group.propose(leader, std::to_string(i));
  group.run(std::chrono::seconds(1));
  group.compact(leader);
  group.restart(away);
  EXPECT_TRUE(group.run_until([&] { return group[away].log().snapshot().index > 0; }, std::chrono::seconds(10)));
  EXPECT_THAT(group.history.violations(), testing::IsEmpty());
}

TEST(RaftSnapshots, ComeInPartsAndAreAskedForInOrder) {
  RaftSolo solo = follower();
  const std::string state(45, 's');
  solo.hear(2, 2, part_of(state, 20, 20));
  EXPECT_EQ(solo.last_sent<RaftSnapshotReply>(2)->next, 0u);
  solo.hear(2, 2, part_of(state, 0, 20));
  EXPECT_EQ(solo.last_sent<RaftSnapshotReply>(2)->next, 20u);
  solo.hear(2, 2, part_of(state, 0, 20));
  EXPECT_EQ(solo.last_sent<RaftSnapshotReply>(2)->next, 20u);
  solo.hear(2, 2, part_of(state, 20, 20));
  EXPECT_FALSE(solo.last_sent<RaftSnapshotReply>(2)->done);
  solo.hear(2, 2, part_of(state, 40, 20));
  EXPECT_TRUE(solo.last_sent<RaftSnapshotReply>(2)->done);
  ASSERT_EQ(solo.applies.size(), 1u);
  EXPECT_EQ(std::get<RaftSnapshot>(solo.applies[0]).bytes(), state);
  EXPECT_EQ(solo.raft.commit(), 10u);
  EXPECT_EQ(solo.raft.log().last(), 10u);
}

TEST(RaftSnapshots, AreConfirmedOnceDurableAndKeepTermAndVote) {
  RaftSolo solo = follower();
  solo.disk_held = true;
  solo.hear(2, 2, part_of("state", 0, 20));
  EXPECT_TRUE(solo.last_sent<RaftSnapshotReply>(2)->done);
  EXPECT_EQ(solo.sends.back().after, solo.writes.back().ticket);
  const RaftImage& image = std::get<RaftCheckpoint>(solo.writes.back().body).image;
  EXPECT_EQ(image.hard, (RaftHardState{2, node(3)}));
  EXPECT_EQ(image.snapshot.members.voters.size(), 3u);
}

TEST(RaftSnapshots, WithAWrongHashAreDroppedAndAskedForAnew) {
  RaftSolo solo = follower();
  RaftSnapshotPart part = part_of("state", 0, 20);
  part.total_hash ^= 1;
  solo.hear(2, 2, part);
  EXPECT_FALSE(solo.last_sent<RaftSnapshotReply>(2)->done);
  EXPECT_EQ(solo.last_sent<RaftSnapshotReply>(2)->next, 0u);
  EXPECT_EQ(solo.raft.commit(), 0u);
}

TEST(RaftSnapshots, OfWhatIsCommittedHereAreConfirmedUnread) {
  RaftSolo solo = follower();
  solo.hear(2, 2, part_of("state", 0, 20));
  const std::size_t writes = solo.writes.size();
  solo.hear(2, 2, part_of("another", 0, 3));
  EXPECT_TRUE(solo.last_sent<RaftSnapshotReply>(2)->done);
  EXPECT_EQ(solo.writes.size(), writes);
}

TEST(RaftSnapshots, ThatAreTooLargeOrMalformedAreIgnored) {
  RaftSolo solo = follower();
  RaftSnapshotPart huge = part_of("state", 0, 20);
  huge.total_bytes = kRaftMaxSnapshotBytes + 1;
  solo.hear(2, 2, huge);
  RaftSnapshotPart beyond = part_of("state", 0, 20);
  beyond.offset = 3;
  solo.hear(2, 2, beyond);
  RaftSnapshotPart nobody = part_of("state", 0, 20);
  nobody.members = {};
  solo.hear(2, 2, nobody);
  EXPECT_TRUE(solo.sends.empty());
  EXPECT_EQ(solo.raft.leader(), base::kNoNode);
}

TEST(RaftSnapshots, AreTakenOnlyOfWhatWasApplied) {
  RaftSolo solo(image_of({node(1), node(2)}, {1, 1}, {1, base::kNoNode}));
  EXPECT_FALSE(solo.raft.compact(1, "too early"));
  solo.lead();
  solo.acknowledge(2, 3);
  EXPECT_TRUE(solo.raft.compact(3, "state"));
  EXPECT_FALSE(solo.raft.compact(3, "again"));
  EXPECT_FALSE(solo.raft.compact(4, "not there"));
}

TEST(RaftSnapshots, HoldBackNoHeartbeatWhileTheyAreWritten) {
  RaftSolo solo(image_of({node(1), node(2)}, {1}, {1, base::kNoNode}));
  solo.lead();
  solo.acknowledge(2, 2);
  solo.disk_held = true;
  ASSERT_TRUE(solo.raft.compact(2, "state"));
  solo.sends.clear();
  solo.pass(RaftOptions{}.heartbeat);
  ASSERT_FALSE(solo.sends.empty());
  EXPECT_EQ(solo.sends.back().after, 0u);
}

TEST(RaftSnapshots, DoubledAnswersDoNotDoubleTheParts) {
  RaftOptions options = short_logs();
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 1, 1}, {1, base::kNoNode}), options);
  solo.lead();
  solo.acknowledge(2, 4);
  ASSERT_TRUE(solo.raft.compact(4, std::string(100, 's')));
  solo.settle();
  solo.hear(
      3, 2,
      RaftAppendReply{.accepted = false, .index = 3, .hint_index = 0, .hint_term = 0, .stamp = solo.now, .round = 0});
  ASSERT_EQ(solo.count_sent<RaftSnapshotPart>(), 1u);
  const RaftSnapshotReply reply{.index = 4, .done = false, .next = 20, .stamp = solo.now, .round = 0};
  solo.hear(3, 2, reply);
  solo.hear(3, 2, reply);
  EXPECT_EQ(solo.count_sent<RaftSnapshotPart>(), 2u);
  EXPECT_EQ(solo.last_sent<RaftSnapshotPart>(3)->offset, 20u);
}

TEST(RaftSnapshots, APartThatWasLostIsSentAgain) {
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 1, 1}, {1, base::kNoNode}), short_logs());
  solo.lead();
  solo.acknowledge(2, 4);
  ASSERT_TRUE(solo.raft.compact(4, std::string(100, 's')));
  solo.hear(
      3, 2,
      RaftAppendReply{.accepted = false, .index = 3, .hint_index = 0, .hint_term = 0, .stamp = solo.now, .round = 0});
  solo.sends.clear();
  solo.pass(RaftOptions{}.heartbeat);
  const auto probe = solo.last_sent<RaftSnapshotPart>(3);
  ASSERT_TRUE(probe);
  EXPECT_TRUE(probe->data.empty());
  solo.hear(3, 2, RaftSnapshotReply{.index = 4, .done = false, .next = 0, .stamp = probe->stamp, .round = 0});
  EXPECT_EQ(solo.last_sent<RaftSnapshotPart>(3)->data.size(), 20u);
}

TEST(RaftSnapshots, AreGivenToTheStateMachineAtTheStart) {
  RaftImage image = founding_image({node(1), node(2)});
  image.hard.term = 3;
  image.snapshot.index = 7;
  image.snapshot.term = 3;
  image.snapshot.state = std::make_shared<const std::string>("state");
  RaftSolo solo(std::move(image));
  ASSERT_EQ(solo.applies.size(), 1u);
  EXPECT_EQ(std::get<RaftSnapshot>(solo.applies[0]).bytes(), "state");
  EXPECT_EQ(solo.raft.commit(), 7u);
}

TEST(RaftSnapshots, OfAFounderAreDurableBeforeItSpeaks) {
  Raft raft(node(1), {}, 1, founding_image({node(1), node(2), node(3)}), base::Instant(kT));
  raft.wake(raft.deadline());
  const RaftEffects effects = raft.take();
  ASSERT_EQ(effects.writes.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<RaftCheckpoint>(effects.writes[0].body));
  ASSERT_FALSE(effects.sends.empty());
  EXPECT_EQ(effects.sends[0].after, effects.writes[0].ticket);
}

}  // namespace
}  // namespace muster::cores
