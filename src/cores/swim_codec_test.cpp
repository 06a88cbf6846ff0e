#include "cores/swim_codec.h"

#include <gtest/gtest.h>

#include "cores/swim_options.h"

namespace muster::cores {
namespace {

using base::NodeId;

Claim claim(MemberStatus status, std::uint64_t incarnation = 5) {
  Claim made;
  made.status = status;
  made.node = NodeId{42};
  made.incarnation = incarnation;
  made.by = NodeId{7};
  made.address = ipv4_endpoint(0x0a000001, 9000);
  made.state = {.incarnation = 4, .version = 3, .bytes = "state"};
  return made;
}

std::string message(const SwimBody& body, const std::vector<Claim>& claims = {}) {
  return encode_swim({.group = 12, .message = {body, claims}});
}

// Whether decoding and encoding again gives the same bytes.
void expect_same(const std::string& bytes) {
  const auto packet = decode_swim(bytes);
  ASSERT_TRUE(packet.has_value()) << packet.error().message;
  EXPECT_EQ(encode_swim(*packet), bytes);
}

TEST(SwimCodecTest, EveryKindOfMessageComesBack) {
  expect_same(message(Ping{1, NodeId{2}}));
  expect_same(message(Ack{1, NodeId{2}, {3, 4, "state"}}));
  expect_same(message(PingRequest{1, NodeId{2}, ipv4_endpoint(1, 2)}));
  expect_same(message(Nack{~std::uint64_t{0}}));
  expect_same(message(Rumours{}));
  expect_same(message(Exchange{.reply = true, .last = false, .view = {claim(MemberStatus::kLeft)}}));
}

TEST(SwimCodecTest, EveryKindOfClaimComesBack) {
  using enum MemberStatus;
  const std::vector<Claim> claims{claim(kAlive), claim(kSuspect), claim(kDead), claim(kLeft)};
  const std::string bytes = message(Rumours{}, claims);
  expect_same(bytes);
  const auto packet = decode_swim(bytes);
  ASSERT_EQ(packet->message.claims.size(), 4u);
  EXPECT_EQ(packet->group, 12u);
  EXPECT_EQ(packet->message.claims[0].address, claims[0].address);
  EXPECT_EQ(packet->message.claims[0].state.bytes, "state");
  EXPECT_EQ(packet->message.claims[1].by, NodeId{7});
}

TEST(SwimCodecTest, LongAddressesComeBackAndShortOnesHaveOneForm) {
  Claim made = claim(MemberStatus::kAlive);
  made.address.host.fill(0x20);
  expect_same(message(Rumours{}, {made}));
  std::string bytes = message(PingRequest{1, NodeId{2}, ipv4_endpoint(0x01020304, 0)});
  const std::size_t place = bytes.size() - 7;
  bytes.replace(place, 1, 1, 16);
  bytes.insert(place + 1, std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12));
  EXPECT_FALSE(decode_swim(bytes).has_value());
}

TEST(SwimCodecTest, NothingLessThanAMessageDecodes) {
  for (const std::string& bytes : {message(Ping{1, NodeId{2}}), message(Ack{1, NodeId{2}, {3, 4, "state"}}),
                                   message(PingRequest{1, NodeId{2}, ipv4_endpoint(1, 2)})}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_swim(bytes.substr(0, size)));
  }
}

TEST(SwimCodecTest, AccusationsStayBelowTheHighestIncarnation) {
  using enum MemberStatus;
  EXPECT_FALSE(decode_swim(message(Rumours{}, {claim(kSuspect, kMaxIncarnation)})));
  EXPECT_FALSE(decode_swim(message(Rumours{}, {claim(kDead, kMaxIncarnation)})));
  EXPECT_TRUE(decode_swim(message(Rumours{}, {claim(kDead, kMaxIncarnation - 1)})));
  EXPECT_TRUE(decode_swim(message(Rumours{}, {claim(kAlive, kMaxIncarnation)})));
  EXPECT_FALSE(decode_swim(message(Rumours{}, {claim(kAlive, kMaxIncarnation + 1)})));
}

TEST(SwimCodecTest, AStateIsNeverNewerThanItsClaim) {
  Claim made = claim(MemberStatus::kAlive);
  made.state.incarnation = made.incarnation + 1;
  EXPECT_FALSE(decode_swim(message(Rumours{}, {made})));
}

TEST(SwimCodecTest, WhatIsTooLongIsRefused) {
  const std::string state(kMaxMemberState + 1, 'x');
  EXPECT_FALSE(decode_swim(message(Ack{1, NodeId{2}, {3, 4, state}})));
  EXPECT_FALSE(decode_swim(message(Rumours{}, std::vector<Claim>(200, claim(MemberStatus::kAlive)))));
  EXPECT_FALSE(decode_swim(std::string(kMaxExchangeBytes + 1, '\1')));
}

TEST(SwimCodecTest, NodesWithoutANameAndUnknownKindsAndVersionsAreRefused) {
  EXPECT_FALSE(decode_swim(message(Ping{1, base::kNoNode})));
  std::string bytes = message(Rumours{});
  bytes.back() = 9;
  EXPECT_FALSE(decode_swim(bytes));
  bytes = message(Rumours{});
  bytes.front() = 9;
  const auto refused = decode_swim(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("its version is 9"), std::string::npos);
}

}  // namespace
}  // namespace muster::cores
