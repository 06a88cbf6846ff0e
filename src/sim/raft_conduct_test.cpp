#include "sim/raft_conduct.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace muster::sim {
namespace {

constexpr base::NodeId kSelf{1};
constexpr base::NodeId kPeer{2};
constexpr base::NodeId kStranger{9};

struct Nobody final : World {
  void begin(Kernel&) override {}
  std::unique_ptr<Process> boot(base::NodeId) override { return nullptr; }
};

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

}  // namespace
}  // namespace muster::sim
