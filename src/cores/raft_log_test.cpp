#include "cores/raft_log.h"

#include <gtest/gtest.h>

#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

RaftLog log_of(std::vector<RaftTerm> terms) {
  return RaftLog(image_of({node(1)}, std::move(terms), {}));
}

TEST(RaftLog, KnowsTheTermsOfWhatItHolds) {
  const RaftLog log = log_of({1, 1, 3});
  EXPECT_EQ(log.last(), 3u);
  EXPECT_EQ(log.last_term(), 3u);
  EXPECT_EQ(log.term_at(0), 0u);
  EXPECT_EQ(log.term_at(2), 1u);
  EXPECT_EQ(log.term_at(4), std::nullopt);
}

TEST(RaftLog, CutsBatchesByNumberAndBytesButNeverToNothing) {
  RaftLog log = log_of({});
  for (RaftIndex index = 1; index <= 4; ++index) log.append(command_at(index, 1, std::string(10, 'x')));
  EXPECT_EQ(log.batch(1, 3, 1000).size(), 3u);
  EXPECT_EQ(log.batch(1, 9, 25).size(), 2u);
  EXPECT_EQ(log.batch(1, 9, 1).size(), 1u);
  EXPECT_EQ(log.batch(5, 9, 1000).size(), 0u);
  EXPECT_EQ(log.bytes_behind(1), 30u);
}

TEST(RaftLog, ForgetsOldEntriesButKeepsTheirLastTerm) {
  RaftLog log = log_of({1, 1, 2, 2, 3});
  log.compact(4, "state", 1);
  EXPECT_EQ(log.first(), 4u);
  EXPECT_EQ(log.term_at(3), 2u);
  EXPECT_EQ(log.term_at(2), std::nullopt);
  EXPECT_EQ(log.snapshot().index, 4u);
  EXPECT_EQ(log.snapshot().term, 2u);
  EXPECT_EQ(log.image({}).entries.size(), 1u);
  EXPECT_EQ(log.bytes_behind(4), 1u);
}

TEST(RaftLog, UsesTheLatestConfigurationAndGoesBackWhenItIsCutOff) {
  RaftLog log = log_of({1});
  log.append(members_at(2, 1, {node(1), node(2)}));
  log.append(members_at(3, 1, {node(1), node(2), node(3)}));
  EXPECT_EQ(log.members_index(), 3u);
  log.truncate(3);
  EXPECT_EQ(log.members().voters.size(), 2u);
  log.truncate(2);
  EXPECT_EQ(log.members().voters.size(), 1u);
  EXPECT_EQ(log.members_index(), 0u);
}

TEST(RaftLog, TellsMembersOfTheCommittedAndOfLaterConfigurations) {
  RaftLog log = log_of({1});
  log.append(members_at(2, 1, {node(2), node(3)}));
  log.append(members_at(3, 1, {node(3), node(4)}));
  EXPECT_TRUE(log.member_since(1, node(1)));
  EXPECT_FALSE(log.member_since(2, node(1)));
  EXPECT_TRUE(log.member_since(2, node(2)));
  EXPECT_FALSE(log.member_since(3, node(2)));
  EXPECT_TRUE(log.member_since(0, node(4)));
  EXPECT_EQ(log.members_index_at(2), 2u);
}

TEST(RaftLog, PutsTheConfigurationOfItsIndexIntoASnapshot) {
  RaftLog log = log_of({1});
  log.append(members_at(2, 1, {node(1), node(2)}));
  log.append(command_at(3, 1));
  log.append(members_at(4, 1, {node(1), node(2), node(3)}));
  log.compact(3, "state", 0);
  EXPECT_EQ(log.snapshot().members.voters.size(), 2u);
  EXPECT_EQ(log.snapshot().members_index, 2u);
  EXPECT_EQ(log.members().voters.size(), 3u);
  log.truncate(4);
  EXPECT_EQ(log.members().voters.size(), 2u);
}

TEST(RaftLog, KeepsWhatStandsBehindAnInstalledSnapshotIfItAgrees) {
  RaftSnapshot snapshot{2, 1, {{node(1)}, {}}, 0, nullptr};
  RaftLog agreeing = log_of({1, 1, 1});
  agreeing.install(snapshot);
  EXPECT_EQ(agreeing.last(), 3u);
  RaftLog other = log_of({1, 2, 2});
  other.install(snapshot);
  EXPECT_EQ(other.last(), 2u);
  EXPECT_EQ(other.last_term(), 1u);
  EXPECT_EQ(other.durable(), 0u);
}

TEST(RaftLog, FollowsWhatIsDurableThroughTruncation) {
  RaftLog log = log_of({1, 1});
  EXPECT_EQ(log.durable(), 2u);
  log.append(command_at(3, 1));
  log.wrote(1);
  log.append(command_at(4, 1));
  log.wrote(2);
  EXPECT_EQ(log.ticket_of(2), 0u);
  EXPECT_EQ(log.ticket_of(3), 1u);
  EXPECT_EQ(log.ticket_of(4), 2u);
  log.truncate(4);
  log.append(command_at(4, 2));
  log.wrote(4);
  log.persisted(2);
  EXPECT_EQ(log.durable(), 3u);
  EXPECT_EQ(log.ticket_of(4), 4u);
  log.persisted(4);
  EXPECT_EQ(log.durable(), 4u);
}

TEST(RaftMembers, AreWellFormedIfSortedDistinctAndWithinTheLimit) {
  EXPECT_TRUE(well_formed({{node(1), node(2)}, {node(3)}}));
  EXPECT_FALSE(well_formed({{node(2), node(1)}, {}}));
  EXPECT_FALSE(well_formed({{node(1), node(1)}, {}}));
  EXPECT_FALSE(well_formed({{node(1)}, {node(1)}}));
  EXPECT_FALSE(well_formed({{base::kNoNode}, {}}));
  RaftMembers many;
  for (std::uint64_t i = 1; i <= kRaftMaxMembers + 1; ++i) many.voters.push_back(node(i));
  EXPECT_FALSE(well_formed(many));
}

}  // namespace
}  // namespace muster::cores
