#include "sim/raft_oracle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "sim/nobody_fixture.h"
#include "sim/nodes_fixture.h"

namespace muster::sim {
namespace {

using cores::RaftEntry;
using cores::RaftMessage;

RaftEntry entry(cores::RaftIndex index, cores::RaftTerm term, std::uint64_t operation) {
  RaftEntry made;
  made.index = index;
  made.term = term;
  made.kind = cores::RaftEntryKind::kCommand;
  made.command.resize(sizeof operation);
  std::memcpy(made.command.data(), &operation, sizeof operation);
  return made;
}

cores::RaftWrite hard_write(cores::RaftTerm term, base::NodeId vote) {
  cores::RaftWrite write;
  write.ticket = 1;
  write.body = cores::RaftHardState{term, vote};
  return write;
}

cores::RaftWrite append_write(std::vector<RaftEntry> entries) {
  cores::RaftWrite write;
  write.ticket = 1;
  write.body = cores::RaftAppendWrite{std::move(entries)};
  return write;
}

RaftMessage vote_of(cores::RaftTerm term) {
  RaftMessage message;
  message.term = term;
  message.body = cores::RaftVoteReply{.pre = false, .granted = true, .asked = term};
  return message;
}

RaftMessage request_of(cores::RaftTerm term) {
  RaftMessage message;
  message.term = term;
  message.body = cores::RaftVoteRequest{.asked = term};
  return message;
}

RaftMessage append_of(cores::RaftTerm term, std::vector<RaftEntry> entries) {
  RaftMessage message;
  message.term = term;
  cores::RaftAppend append;
  append.entries = std::move(entries);
  message.body = std::move(append);
  return message;
}

RaftMessage stored_of(cores::RaftTerm term, cores::RaftIndex index) {
  RaftMessage message;
  message.term = term;
  cores::RaftAppendReply reply;
  reply.accepted = true;
  reply.index = index;
  message.body = reply;
  return message;
}

RaftMessage installed_of(cores::RaftTerm term, cores::RaftIndex index) {
  RaftMessage message;
  message.term = term;
  cores::RaftSnapshotReply reply;
  reply.index = index;
  reply.done = true;
  message.body = reply;
  return message;
}

struct RaftOracleTest : testing::Test {
  Nobody world;
  Kernel kernel{1, world, {}};
  RaftOracle oracle{kernel};
  cores::Raft raft{kFirst, {}, 1, cores::founding_image({kFirst, kSecond, kThird}), base::Instant()};

  RaftOracleTest() { oracle.founded({kFirst, kSecond, kThird}); }
  std::string violated() {
    const Record& record = kernel.record();
    return record.violation ? record.violation->invariant : "";
  }
  // As if a majority had it on disk.
  void commit(const RaftEntry& made, std::uint64_t state) {
    for (const base::NodeId node : {kFirst, kSecond}) oracle.durable(node, append_write({made}));
    oracle.applied(kFirst, raft, made, state);
    oracle.applied_all(kFirst, raft);
  }
};

TEST_F(RaftOracleTest, LetsAnHonestGroupPass) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  commit(entry(1, 0, 7), 70);
  oracle.applied(kSecond, raft, entry(1, 0, 7), 70);
  oracle.acknowledged(kFirst, raft, 7, 1);
  oracle.read_ready(kFirst, 1, 1);
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftOracleTest, SeesTwoVotesInOneTerm) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  oracle.leaves(kFirst, kThird, vote_of(5));
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, SeesAVoteThatIsForgottenOverARestart) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  cores::RaftImage image = cores::founding_image({kFirst, kSecond, kThird});
  image.hard = {5, base::kNoNode};
  oracle.recovered(kFirst, image);
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, SeesATermThatGoesBackOverARestart) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  oracle.recovered(kFirst, cores::founding_image({kFirst, kSecond, kThird}));
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, SeesANodeThatSpeaksBeforeItsTermIsDurable) {
  oracle.leaves(kFirst, kSecond, vote_of(5));
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, SeesAVoteThatLeavesBeforeItIsDurableThoughTheTermIs) {
  oracle.durable(kFirst, hard_write(5, base::kNoNode));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, SeesACandidateThatAsksBeforeItsOwnVoteIsDurable) {
  oracle.durable(kFirst, hard_write(5, base::kNoNode));
  oracle.leaves(kFirst, kSecond, request_of(5));
  EXPECT_EQ(violated(), "2");
}

TEST_F(RaftOracleTest, LetsAVoteLeaveLateAndACandidateAsk) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.durable(kFirst, hard_write(6, kFirst));
  oracle.leaves(kFirst, kSecond, vote_of(5));
  oracle.leaves(kFirst, kSecond, request_of(6));
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftOracleTest, LetsAnswersLeaveThatClaimWhatIsOnDisk) {
  for (const base::NodeId node : {kFirst, kSecond}) oracle.durable(node, hard_write(5, kFirst));
  oracle.leaves(kFirst, kSecond, append_of(5, {entry(1, 5, 7), entry(2, 5, 8)}));
  oracle.durable(kSecond, append_write({entry(1, 5, 7), entry(2, 5, 8)}));
  oracle.leaves(kSecond, kFirst, stored_of(5, 2));
  oracle.leaves(kSecond, kFirst, stored_of(5, 0));
  oracle.leaves(kSecond, kFirst, installed_of(5, 1));
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftOracleTest, SeesAnAnswerToAnAppendThatIsNotOnDisk) {
  oracle.durable(kSecond, hard_write(5, kFirst));
  oracle.durable(kSecond, append_write({entry(1, 5, 7)}));
  oracle.leaves(kSecond, kFirst, stored_of(5, 2));
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAnAnswerToAnAppendWhileTheDiskHasAnotherEntryThere) {
  for (const base::NodeId node : {kFirst, kSecond}) oracle.durable(node, hard_write(5, kFirst));
  oracle.durable(kSecond, append_write({entry(1, 4, 6)}));
  oracle.leaves(kFirst, kSecond, append_of(5, {entry(1, 5, 7)}));
  oracle.leaves(kSecond, kFirst, stored_of(5, 1));
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAnAnswerToASnapshotThatIsNotOnDisk) {
  oracle.durable(kSecond, hard_write(5, kFirst));
  oracle.leaves(kSecond, kFirst, installed_of(5, 3));
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAnotherEntryAtACommittedIndex) {
  commit(entry(1, 0, 7), 70);
  oracle.applied(kSecond, raft, entry(1, 0, 8), 70);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAnotherStateAfterTheSameEntry) {
  commit(entry(1, 0, 7), 70);
  oracle.applied(kSecond, raft, entry(1, 0, 7), 71);
  EXPECT_EQ(violated(), "log-equal");
}

TEST_F(RaftOracleTest, SeesAnEntryThatIsCommittedOnAMinority) {
  oracle.durable(kFirst, append_write({entry(1, 0, 7)}));
  oracle.applied(kFirst, raft, entry(1, 0, 7), 70);
  oracle.applied_all(kFirst, raft);
  EXPECT_EQ(violated(), "6");
}

TEST_F(RaftOracleTest, SeesAnEntryOfAnotherTermThatIsCommittedByCounting) {
  commit(entry(1, 3, 7), 70);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesACommittedEntryCutOff) {
  commit(entry(1, 0, 7), 70);
  cores::RaftWrite cut;
  cut.body = cores::RaftTruncate{1};
  oracle.durable(kSecond, cut);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesACommittedEntryThatADiskLost) {
  commit(entry(1, 0, 7), 70);
  oracle.recovered(kSecond, cores::founding_image({kFirst, kSecond, kThird}));
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAnAcknowledgementOfSomethingElse) {
  commit(entry(1, 0, 7), 70);
  oracle.acknowledged(kFirst, raft, 8, 1);
  EXPECT_EQ(violated(), "log-acknowledged");
}

TEST_F(RaftOracleTest, SeesAReadThatMissesWhatWasAcknowledged) {
  commit(entry(1, 0, 7), 70);
  oracle.read_ready(kFirst, 1, 0);
  EXPECT_EQ(violated(), "log-read");
}

TEST_F(RaftOracleTest, SeesASnapshotWithoutMembers) {
  commit(entry(1, 0, 7), 70);
  cores::RaftSnapshot snapshot;
  snapshot.index = 1;
  oracle.installed(kThird, snapshot, 70);
  EXPECT_EQ(violated(), "log-equal");
}

TEST_F(RaftOracleTest, SeesASnapshotOfAnEntryThatNobodyCommitted) {
  commit(entry(1, 0, 7), 70);
  cores::RaftCheckpoint checkpoint;
  checkpoint.image.snapshot.index = 2;
  checkpoint.image.snapshot.members.voters = {kFirst, kSecond, kThird};
  cores::RaftWrite write;
  write.body = checkpoint;
  oracle.durable(kSecond, write);
  EXPECT_EQ(violated(), "log-equal");
}

TEST_F(RaftOracleTest, SeesACommittedEntryThatACheckpointForgets) {
  commit(entry(1, 0, 7), 70);
  cores::RaftWrite write;
  write.body = cores::RaftCheckpoint{cores::founding_image({kFirst, kSecond, kThird})};
  oracle.durable(kSecond, write);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftOracleTest, SeesAVoteThatWasDurableAndIsForgottenThoughNobodyHeardOfIt) {
  oracle.durable(kFirst, hard_write(5, kSecond));
  oracle.recovered(kFirst, cores::founding_image({kFirst, kSecond, kThird}));
  EXPECT_EQ(violated(), "2");
}

// Two of four are no majority, whatever the node counts.
TEST_F(RaftOracleTest, CountsTheVotersThatTheLogNames) {
  RaftEntry members;
  members.index = 1;
  members.term = 1;
  members.kind = cores::RaftEntryKind::kMembers;
  members.members.voters = {kFirst, kSecond, kThird, base::NodeId{4}};
  cores::RaftImage image = cores::founding_image({kFirst, kSecond, kThird});
  image.hard.term = 1;
  image.entries = {members};
  const cores::Raft four(kFirst, {}, 1, image, base::Instant());
  for (const base::NodeId node : {kFirst, kSecond}) oracle.durable(node, append_write({members}));
  oracle.applied(kFirst, four, members, 70);
  oracle.applied_all(kFirst, four);
  EXPECT_EQ(violated(), "6");
}

TEST_F(RaftOracleTest, KnowsWhoBelongsToAConfigurationOrALaterOne) {
  EXPECT_TRUE(oracle.may_belong(kThird, 0));
  EXPECT_FALSE(oracle.may_belong(base::NodeId{4}, 0));
  RaftEntry members;
  members.index = 1;
  members.kind = cores::RaftEntryKind::kMembers;
  members.members.voters = {kFirst, kSecond};
  members.members.learners = {base::NodeId{4}};
  oracle.applied(kFirst, raft, members, 70);
  EXPECT_TRUE(oracle.may_belong(kThird, 0));
  EXPECT_FALSE(oracle.may_belong(kThird, 1));
  EXPECT_TRUE(oracle.may_belong(base::NodeId{4}, 0));
}

TEST_F(RaftOracleTest, SeesASnapshotOfAStateThatNobodyHad) {
  commit(entry(1, 0, 7), 70);
  cores::RaftSnapshot snapshot;
  snapshot.index = 1;
  snapshot.members.voters = {kFirst, kSecond, kThird};
  oracle.installed(kThird, snapshot, 99);
  EXPECT_EQ(violated(), "log-equal");
}

}  // namespace
}  // namespace muster::sim
