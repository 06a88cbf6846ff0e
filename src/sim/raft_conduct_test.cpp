#include "sim/raft_conduct.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/nobody_fixture.h"

namespace muster::sim {
namespace {

constexpr base::NodeId kSelf{1};
constexpr base::NodeId kPeer{2};
constexpr base::NodeId kStranger{9};

cores::Raft raft_in_term(cores::RaftTerm term) {
  cores::RaftImage image = cores::founding_image({kSelf, kPeer});
  image.hard.term = term;
  return cores::Raft(kSelf, {}, 1, std::move(image), base::Instant());
}

cores::RaftMessage message_with(decltype(cores::RaftMessage::body) body, cores::RaftTerm term = 1) {
  cores::RaftMessage message;
  message.term = term;
  message.body = std::move(body);
  return message;
}

// A node that changes in between is played by two cores: one before the call and one after it.
struct RaftConductTest : testing::Test {
  Nobody world;
  Kernel kernel{1, world, {}};
  RaftOracle oracle{kernel};
  cores::RaftOptions options = small_options();
  RaftConduct conduct{kernel, oracle, options};
  cores::Raft first = raft_in_term(1);
  cores::Raft later = raft_in_term(2);

  static cores::RaftOptions small_options() {
    cores::RaftOptions options;
    options.batch_entries = 2;
    options.window = 2;
    options.snapshot_part_bytes = 10;
    options.pending_reads = 3;
    return options;
  }
  void SetUp() override {
    oracle.founded({kSelf, kPeer});
    conduct.before(first, base::Instant());
  }
  std::string violated() {
    const Record& record = kernel.record();
    return record.violation ? record.violation->invariant : "";
  }
  static cores::RaftAppend append_of(cores::RaftIndex from, std::size_t count) {
    cores::RaftAppend append;
    for (std::size_t i = 0; i < count; ++i) {
      cores::RaftEntry entry;
      entry.index = from + i;
      append.entries.push_back(entry);
    }
    return append;
  }
};

TEST_F(RaftConductTest, LetsAMemberChangeTheTerm) {
  conduct.received(later, kPeer, message_with(cores::RaftAppend()));
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftConductTest, LetsNoStrangerChangeTheTerm) {
  conduct.received(later, kStranger, message_with(cores::RaftAppend()));
  EXPECT_EQ(violated(), "raft-stranger");
}

TEST_F(RaftConductTest, LetsNoPreVoteChangeTheTerm) {
  conduct.received(later, kPeer, message_with(cores::RaftVoteRequest{.pre = true}));
  EXPECT_EQ(violated(), "raft-pre-vote");
}

TEST_F(RaftConductTest, BoundsTheEntriesOfAMessage) {
  conduct.leaves(first, kPeer, message_with(append_of(1, 2)), 100);
  EXPECT_EQ(violated(), "");
  conduct.leaves(first, kPeer, message_with(append_of(3, 3)), 100);
  EXPECT_EQ(violated(), "27");
}

TEST_F(RaftConductTest, BoundsWhatIsUnderWayUntilItIsAnswered) {
  for (cores::RaftIndex i = 1; i <= 3; ++i) conduct.leaves(first, kPeer, message_with(append_of(i, 1)), 100);
  cores::RaftAppendReply reply;
  reply.accepted = true;
  reply.index = 2;
  conduct.received(first, kPeer, message_with(reply));
  for (cores::RaftIndex i = 4; i <= 5; ++i) conduct.leaves(first, kPeer, message_with(append_of(i, 1)), 100);
  EXPECT_EQ(violated(), "");
  conduct.leaves(first, kPeer, message_with(append_of(6, 1)), 100);
  EXPECT_EQ(violated(), "27");
}

TEST_F(RaftConductTest, BoundsThePartsOfASnapshotAndTheReadsThatWait) {
  conduct.reads_waiting(3);
  cores::RaftSnapshotPart part;
  part.data = "ten bytes.";
  conduct.leaves(first, kPeer, message_with(part), 100);
  EXPECT_EQ(violated(), "");
  part.data += "!";
  conduct.leaves(first, kPeer, message_with(part), 100);
  EXPECT_EQ(violated(), "27");
}

TEST_F(RaftConductTest, SeesAnAcknowledgementOfMoreThanWasSent) {
  const cores::RaftMessage append = message_with(append_of(1, 2));
  conduct.received(first, kPeer, append);
  cores::RaftAppendReply reply;
  reply.accepted = true;
  reply.index = 3;
  cores::RaftEffects effects;
  effects.sends.push_back({kPeer, 0, message_with(reply)});
  conduct.takes(first, effects);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftConductTest, LetsNobodyHandOverToANodeThatIsLongDown) {
  oracle.went_down(kPeer);
  kernel.run(std::chrono::seconds(2));
  conduct.transfers(first, kPeer, 1);
  EXPECT_EQ(violated(), "raft-transfer");
}

TEST_F(RaftConductTest, LetsNoRivalOfTheSameTermEndACandidature) {
  for (base::Instant now; first.role() != cores::RaftRole::kCandidate; now = first.deadline()) {
    first.wake(now);
    if (first.role() == cores::RaftRole::kPreCandidate)
      first.receive(kPeer, message_with(cores::RaftVoteReply{.pre = true, .granted = true, .asked = first.term() + 1}),
                    now);
  }
  conduct.before(first, first.deadline());
  cores::RaftVoteRequest rival;
  rival.asked = first.term();
  conduct.received(first, kPeer, message_with(rival, first.term()));
  EXPECT_EQ(violated(), "");
  conduct.received(later, kPeer, message_with(rival, first.term()));
  EXPECT_EQ(violated(), "raft-standing");
}

TEST_F(RaftConductTest, DemandsThatANodeStopsWhenItsDiskFails) {
  conduct.disk_failed(first);
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftConductTest, IsContentWithANodeThatStoppedWhenItsDiskFailed) {
  first.disk_failed(base::Instant());
  conduct.disk_failed(first);
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftConductTest, LetsNobodyChangeMembersBeforeItsTermHasACommittedEntry) {
  cores::RaftImage image = cores::founding_image({kSelf, kPeer});
  image.hard.term = 1;
  image.entries.push_back({.index = 1, .term = 1, .kind = cores::RaftEntryKind::kNoop, .command = {}, .members = {}});
  const cores::Raft grown(kSelf, {}, 1, std::move(image), base::Instant());
  conduct.changed(grown, {.kind = cores::RaftChange::Kind::kAddLearner, .node = kStranger});
  EXPECT_EQ(violated(), "raft-members");
}

TEST_F(RaftConductTest, LetsNobodyWaitAsLongAsBeforeAgainAndAgain) {
  for (int i = 0; i < 10; ++i) {
    const base::Instant now{std::chrono::seconds(i)};
    const cores::Raft alike(kSelf, {}, 1, cores::founding_image({kSelf, kPeer}), now);
    conduct.rests(alike, now);
  }
  EXPECT_EQ(violated(), "raft-timing");
}

TEST_F(RaftConductTest, IsContentWithTimeOutsThatDiffer) {
  for (int i = 0; i < 10; ++i) {
    const base::Instant now{std::chrono::seconds(i)};
    const cores::Raft other(kSelf, {}, static_cast<std::uint64_t>(i), cores::founding_image({kSelf, kPeer}), now);
    conduct.rests(other, now);
  }
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftConductTest, LetsNobodyBorrowEntriesInTheTermItIsIn) {
  cores::RaftImage image = cores::founding_image({kSelf, kPeer});
  image.hard.term = 1;
  image.entries.push_back({.index = 1, .term = 1, .kind = cores::RaftEntryKind::kNoop, .command = {}, .members = {}});
  const cores::Raft grown(kSelf, {}, 1, std::move(image), base::Instant());
  conduct.received(grown, kPeer, message_with(cores::RaftLoan()));
  EXPECT_EQ(violated(), "log-kept");
}

TEST_F(RaftConductTest, DemandsThatANewLeaderSpeaksToAllMembersAtOnce) {
  cores::RaftImage image = cores::founding_image({kSelf});
  image.snapshot.members.learners = {kPeer};
  cores::Raft alone(kSelf, {}, 1, std::move(image), base::Instant());
  alone.wake(alone.deadline());
  const base::Instant elected = alone.deadline();
  conduct.before(alone, elected);
  alone.persisted(alone.take().writes.back().ticket, elected);
  ASSERT_TRUE(alone.leads());
  conduct.takes(alone, alone.take());
  conduct.rests(alone, elected);
  EXPECT_EQ(violated(), "");
  conduct.before(first, elected);
  conduct.rests(alone, elected);
  EXPECT_EQ(violated(), "raft-timing");
}

TEST_F(RaftConductTest, DemandsThatEveryChangeOfRoleIsTold) {
  conduct.rests(first, base::Instant());
  EXPECT_EQ(violated(), "");
  conduct.rests(later, base::Instant());
  EXPECT_EQ(violated(), "raft-standing");
}

TEST_F(RaftConductTest, IsContentWithAChangeThatWasTold) {
  conduct.rests(first, base::Instant());
  cores::RaftEffects effects;
  effects.standings.push_back({later.role(), later.term(), later.leader()});
  conduct.takes(later, effects);
  conduct.rests(later, base::Instant());
  EXPECT_EQ(violated(), "");
}

TEST_F(RaftConductTest, LetsOnlyVotersAskForVotes) {
  cores::RaftEffects effects;
  effects.sends.push_back({.to = kPeer, .after = 0, .message = message_with(cores::RaftVoteRequest())});
  conduct.takes(first, effects);
  EXPECT_EQ(violated(), "");
  const cores::Raft outside(kStranger, {}, 1, cores::founding_image({kSelf, kPeer}), base::Instant());
  conduct.before(outside, base::Instant());
  conduct.takes(outside, effects);
  EXPECT_EQ(violated(), "raft-members");
}

}  // namespace
}  // namespace muster::sim
