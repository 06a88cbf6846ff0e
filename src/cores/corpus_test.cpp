#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/corpus_fixture.h"
#include "cores/raft_codec.h"
#include "cores/raft_journal.h"
#include "cores/raft_solo.h"
#include "cores/swim_codec.h"

namespace muster::cores {
namespace {

base::Corpus corpus(const std::string& target) {
  return base::Corpus(MUSTER_TEST_DATA "/../corpus/" + target);
}

// As the follower in raft_codec_fuzz may hear them: node 1 of three, in term 3, with three entries.
TEST(Corpus, HasEveryKindOfRaftMessage) {
  const base::Instant stamp(std::chrono::milliseconds(900));
  const RaftMembers members{{node(1), node(2), node(3)}, {node(4)}};
  const RaftEntry changed{.index = 5, .term = 3, .kind = RaftEntryKind::kMembers, .command = {}, .members = members};
  const RaftEntry noop{.index = 4, .term = 4, .kind = RaftEntryKind::kNoop, .command = {}, .members = {}};
  const std::vector<std::pair<std::string, RaftMessage>> messages = {
      {"pre_vote", {3, RaftVoteRequest{true, false, 4, 3, 3, 0, 2}}},
      {"vote", {4, RaftVoteRequest{false, true, 4, 3, 3, 0, 2}}},
      {"vote_reply", {4, RaftVoteReply{true, true, 4}}},
      {"append", {3, RaftAppend{3, 3, 3, 0, stamp, 7, {command_at(4, 3, "four"), changed}}}},
      {"conflict", {4, RaftAppend{2, 3, 2, 0, stamp, 7, {command_at(3, 4, "other"), noop}}}},
      {"heartbeat", {3, RaftAppend{3, 3, 2, 0, stamp, 8, {}, stamp}}},
      {"append_reply", {3, RaftAppendReply{true, 3, 3, 0, stamp, 7, stamp}}},
      {"refusal", {3, RaftAppendReply{false, 3, 2, 1, stamp, 7}}},
      {"snapshot_part", {3, RaftSnapshotPart{9, 3, members, 8, 0, 10, 0xfedcba9876543210u, 0, stamp, 7, "state"}}},
      {"snapshot_end", {3, RaftSnapshotPart{9, 3, members, 8, 0, 10, 0xfedcba9876543210u, 5, stamp, 7, "state"}}},
      {"snapshot_reply", {3, RaftSnapshotReply{9, false, 5, stamp, 7}}},
      {"timeout_now", {3, RaftTimeoutNow{}}},
      {"loan", {3, RaftLoan{3, 3, {command_at(4, 3, "four")}}}},
  };
  for (const auto& [name, message] : messages) {
    std::string bytes;
    encode(message, bytes);
    corpus("raft_codec_fuzz").expect(name, bytes);
  }
  for (const auto& [name, bytes] : corpus("raft_codec_fuzz").seeds()) EXPECT_TRUE(decode_raft_message(bytes)) << name;
}

TEST(Corpus, HasEveryKindOfSwimMessageAndClaim) {
  using enum MemberStatus;
  const Endpoint there = ipv4_endpoint(0x0a000003, 9000);
  Endpoint long_address = there;
  long_address.host.fill(0x20);
  const auto claim = [&](MemberStatus status, std::uint64_t node, const Endpoint& address) {
    const StateClaim state{.incarnation = 4, .version = 3, .bytes = "state"};
    return Claim{status, base::NodeId{node}, 5, base::NodeId{7}, address, state};
  };
  const std::vector<std::pair<std::string, SwimMessage>> messages = {
      {"ping", {Ping{1, node(1)}, {claim(kAlive, 3, there), claim(kSuspect, 4, {})}}},
      {"ack", {Ack{1, node(2), {3, 4, "state"}}, {claim(kDead, 5, {})}}},
      {"ping_request", {PingRequest{1, node(3), there}, {}}},
      {"nack", {Nack{1}, {claim(kLeft, 6, {})}}},
      {"rumours", {Rumours{}, {claim(kSuspect, 1, {}), claim(kAlive, 3, long_address)}}},
      {"exchange", {Exchange{false, true, {claim(kAlive, 3, there), claim(kSuspect, 4, there)}}, {}}},
      {"exchange_reply", {Exchange{true, false, {claim(kDead, 3, there), claim(kLeft, 4, long_address)}}, {}}},
  };
  for (const auto& [name, message] : messages) {
    corpus("swim_codec_fuzz").expect(name, encode_swim({.group = 0, .message = message}));
  }
  for (const auto& [name, bytes] : corpus("swim_codec_fuzz").seeds()) EXPECT_TRUE(decode_swim(bytes)) << name;
}

// The bytes behind the first are a journal; those named damaged and contradiction are refused.
TEST(Corpus, HasJournalsOfEveryKindOfRecord) {
  const RaftImage image = image_of({node(1), node(2), node(3)}, {1, 2}, {2, node(3)});
  const std::vector<RaftWrite> writes = {
      {1, RaftCheckpoint{founding_image({node(1), node(2), node(3)})}},
      {2, RaftHardState{2, node(3)}},
      {3, RaftAppendWrite{{command_at(1, 1, "a"), command_at(2, 2, "b")}}},
      {4, RaftTruncate{2}},
      {5, RaftCheckpoint{image}},
  };
  std::string bytes = "\x01";
  RaftJournal journal;
  for (const RaftWrite& write : writes) {
    bytes += journal.record(write);
    journal.persisted(write.ticket);
  }
  const base::Corpus seeds = corpus("raft_journal_fuzz");
  seeds.expect("raw", bytes);
  seeds.expect("torn", std::string_view(bytes).substr(0, bytes.size() - 9));
  for (const std::string name : {"raw", "torn"}) {
    const auto recovered = recover_raft_journal(std::string_view(seeds.seeds().at(name)).substr(1));
    ASSERT_TRUE(recovered) << name << ": " << recovered.error().message;
    EXPECT_EQ(recovered->next, name == "raw" ? 6u : 5u);
  }
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  seeds.expect("damaged", bytes);
  EXPECT_FALSE(recover_raft_journal(std::string_view(seeds.seeds().at("damaged")).substr(1)));
}

}  // namespace
}  // namespace muster::cores
