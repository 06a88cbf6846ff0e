#include "cores/raft_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cores/options.h"
#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

std::string bytes_of(const RaftMessage& message) {
  std::string bytes;
  encode(message, bytes);
  return bytes;
}

const base::Instant kStamp(std::chrono::milliseconds(12345));
const RaftMembers kMembers{{node(1), node(2), node(300)}, {node(7)}};

std::vector<RaftMessage> samples() {
  const RaftEntry members{.index = 8, .term = 4, .kind = RaftEntryKind::kMembers, .command = {}, .members = kMembers};
  const RaftEntry noop{.index = 9, .term = 5, .kind = RaftEntryKind::kNoop, .command = {}, .members = {}};
  return {
      {5, RaftVoteRequest{true, false, 6, 100, 4, 99, 3}},
      {6, RaftVoteRequest{false, true, 6, 100, 4, 99, 3}},
      {5, RaftVoteReply{true, true, 6}},
      {5, RaftAppend{6, 3, 5, 2, kStamp, 17, {command_at(7, 4, "command"), members, noop}}},
      {5, RaftAppend{6, 3, 5, 2, kStamp, 17, {}, kStamp + std::chrono::nanoseconds(3)}},
      {5, RaftAppendReply{true, 9, 9, 0, kStamp, 17, kStamp + std::chrono::nanoseconds(5)}},
      {5, RaftAppendReply{false, 9, 4, 3, kStamp, 17}},
      {5, RaftSnapshotPart{9, 4, kMembers, 8, 8, 1000, 0xfedcba9876543210u, 500, kStamp, 17, std::string(500, 'x')}},
      {5, RaftSnapshotReply{9, false, 500, kStamp, 17}},
      {5, RaftTimeoutNow{}},
      {5, RaftLoan{6, 3, {command_at(7, 4, std::string("\0\xff", 2))}}},
  };
}

TEST(RaftCodec, ReadsBackEveryKindOfMessage) {
  for (const RaftMessage& message : samples()) {
    const auto decoded = decode_raft_message(bytes_of(message));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(*decoded == message) << "kind " << message.body.index();
  }
}

TEST(RaftCodec, RefusesWhatIsCutOffOrGoesOn) {
  for (const RaftMessage& message : samples()) {
    const std::string bytes = bytes_of(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_raft_message(std::string_view(bytes).substr(0, size))) << "kind " << message.body.index();
    }
    EXPECT_FALSE(decode_raft_message(bytes + '\0'));
  }
}

TEST(RaftCodec, RefusesAnUnknownKind) {
  const auto decoded = decode_raft_message(std::string("\x08\x01", 2));
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, testing::HasSubstr("Raft message"));
}

TEST(RaftCodec, RefusesTermsAndIndicesThatNoGroupReaches) {
  EXPECT_FALSE(decode_raft_message(bytes_of({kRaftMaxTerm + 1, RaftTimeoutNow{}})));
  EXPECT_FALSE(decode_raft_message(bytes_of({1, RaftAppend{kRaftMaxTerm + 1, 0, 0, 0, {}, 0, {}}})));
}

TEST(RaftCodec, RefusesACommandOrMessageThatIsTooLong) {
  const std::string command(kRaftMaxCommandBytes + 1, 'x');
  EXPECT_FALSE(decode_raft_message(bytes_of({1, RaftAppend{0, 0, 0, 0, {}, 0, {command_at(1, 1, command)}}})));
  EXPECT_FALSE(decode_raft_message(std::string(kRaftMaxMessageBytes + 1, '\0')));
}

TEST(RaftCodec, TakesTheFullestMessageThatTheCoreSends) {
  RaftAppend append{0, 0, 0, 0, {}, 0, {}};
  const std::size_t each = kRaftMaxBatchBytes / kRaftMaxBatchEntries;
  for (RaftIndex index = 1; index <= kRaftMaxBatchEntries; ++index) {
    append.entries.push_back(command_at(index, kRaftMaxTerm, std::string(each, 'x')));
  }
  EXPECT_TRUE(decode_raft_message(bytes_of({kRaftMaxTerm, append})));
}

TEST(RaftCodec, RefusesEntriesWhoseTermsFall) {
  EXPECT_FALSE(decode_raft_message(bytes_of({9, RaftLoan{0, 0, {command_at(1, 5), command_at(2, 4)}}})));
}

TEST(RaftCodec, RefusesConfigurationsThatAreNotInOrder) {
  RaftSnapshotPart part{};
  part.members.voters = {node(2), node(1)};
  EXPECT_FALSE(decode_raft_message(bytes_of({1, part})));
}

TEST(RaftCodec, RefusesPartsBeyondTheirSnapshot) {
  RaftSnapshotPart part{};
  part.total_bytes = 10;
  part.offset = 8;
  part.data = "xyz";
  EXPECT_FALSE(decode_raft_message(bytes_of({1, part})));
  part.offset = 7;
  EXPECT_TRUE(decode_raft_message(bytes_of({1, part})));
}

}  // namespace
}  // namespace muster::cores
