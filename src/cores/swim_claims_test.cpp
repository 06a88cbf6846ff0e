#include <gtest/gtest.h>

#include "cores/swim_node_fixture.h"

namespace muster::cores {
namespace {

using enum MemberStatus;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(SwimClaimsTest, AliveNeedsAStrictlyHigherIncarnation) {
  SwimNode node;
  node.know(2, 6);
  node.hear(2, {SwimNode::accused(kSuspect, 4, 1)});
  ASSERT_EQ(node.status(4), kSuspect);
  node.hear(2, {SwimNode::alive(4, 1)});
  EXPECT_EQ(node.status(4), kSuspect);
  node.hear(2, {SwimNode::alive(4, 2)});
  EXPECT_EQ(node.status(4), kAlive);
  EXPECT_EQ(node.told(SwimEventKind::kCleared), 1u);
}

TEST(SwimClaimsTest, AccusationsOfAnOlderIncarnationAreStale) {
  SwimNode node;
  node.know(2, 6);
  node.hear(2, {SwimNode::alive(4, 5)});
  node.hear(2, {SwimNode::accused(kSuspect, 4, 4), SwimNode::accused(kDead, 4, 4)});
  EXPECT_EQ(node.status(4), kAlive);
}

TEST(SwimClaimsTest, TheDeadComeBackOnlyWithAHigherIncarnation) {
  SwimNode node;
  node.know(2, 6);
  node.hear(2, {SwimNode::accused(kDead, 4, 3)});
  node.hear(2, {SwimNode::alive(4, 3), SwimNode::accused(kSuspect, 4, 9)});
  EXPECT_EQ(node.status(4), kDead);
  node.hear(2, {SwimNode::alive(4, 4)});
  EXPECT_EQ(node.status(4), kAlive);
}

TEST(SwimClaimsTest, WhoeverLeftIsNotHeldDeadAfterwards) {
  SwimNode node;
  node.know(2, 6);
  Claim left;
  left.status = kLeft;
  left.node = SwimNode::id(4);
  left.incarnation = 1;
  node.hear(4, {left});
  node.hear(2, {SwimNode::accused(kDead, 4, 1), SwimNode::accused(kSuspect, 4, 1)});
  EXPECT_EQ(node.status(4), kLeft);
  EXPECT_EQ(node.told(SwimEventKind::kLeft), 1u);
}

TEST(SwimClaimsTest, AnAccusationIsRefutedAboveBothIncarnations) {
  SwimNode node;
  node.know(2, 6);
  node.hear(2, {SwimNode::accused(kSuspect, 1, 7)});
  EXPECT_EQ(node.core.incarnation(), 8u);
  node.hear(2, {SwimNode::accused(kDead, 1, 8)});
  EXPECT_EQ(node.core.incarnation(), 9u);
  EXPECT_EQ(node.told(SwimEventKind::kRefuted), 2u);
  EXPECT_EQ(node.core.score(), 2u);
}

TEST(SwimClaimsTest, TheHighestAccusationIsStillRefuted) {
  SwimNode node;
  node.know(2, 6);
  node.hear(2, {SwimNode::accused(kDead, 1, kMaxIncarnation - 1)});
  EXPECT_EQ(node.core.incarnation(), kMaxIncarnation);
  const auto gossip = node.run_until_sent<Rumours>();
  EXPECT_EQ(gossip.message.claims.at(0).node, SwimNode::id(1));
  EXPECT_EQ(gossip.message.claims.at(0).incarnation, kMaxIncarnation);
  node.hear(2, {SwimNode::accused(kDead, 1, kMaxIncarnation - 1)});
  EXPECT_EQ(node.core.incarnation(), kMaxIncarnation);
}

TEST(SwimClaimsTest, AMemberAtTheHighestIncarnationIsHeldDeadByOwnProbesAlone) {
  SwimNode node;
  node.hear_view(2, {SwimNode::alive(2, kMaxIncarnation)});
  node.run(seconds(20));
  EXPECT_EQ(node.status(2), kDead);
}

TEST(SwimClaimsTest, AStaleAccusationIsAnsweredAgainWithoutRaisingTheIncarnation) {
  SwimNode node(swim_lan(), 9);
  node.know(2, 3);
  node.run(seconds(3));
  node.hear(2, {SwimNode::accused(kSuspect, 1, 4)});
  EXPECT_EQ(node.core.incarnation(), 9u);
  EXPECT_TRUE(node.core.gossip().waits(SwimNode::id(1)));
  EXPECT_EQ(node.core.counters().refutations, 0u);
}

TEST(SwimClaimsTest, ARecordOfAnEarlierLifeElsewhereIsOutbidWithoutBlame) {
  SwimNode node;
  Claim earlier = SwimNode::alive(1, 30);
  earlier.address = SwimNode::endpoint(99);
  earlier.state = {.incarnation = 30, .version = 12, .bytes = "old"};
  node.hear_view(2, {SwimNode::alive(2), earlier});
  EXPECT_EQ(node.core.incarnation(), 31u);
  EXPECT_EQ(node.core.score(), 0u);
  node.sent.clear();
  node.hear(2, Ping{5, SwimNode::id(1)});
  EXPECT_EQ(std::get<Ack>(node.sent.at(0).message.body).state.incarnation, 31u);
}

TEST(SwimClaimsTest, AStateThatThisLifeNeverToldBetraysAnEarlierOneAtTheSameIncarnation) {
  SwimNode node;
  Claim earlier = SwimNode::alive(1);
  earlier.state = {.incarnation = 1, .version = 0, .bytes = "one"};
  node.hear_view(2, {SwimNode::alive(2), earlier});
  EXPECT_EQ(node.core.incarnation(), 1u) << "that is what this life itself told";
  earlier.state.bytes = "old";
  node.hear_view(2, {SwimNode::alive(2), earlier});
  EXPECT_EQ(node.core.incarnation(), 2u);
  EXPECT_EQ(node.core.score(), 0u);
}

TEST(SwimClaimsTest, AnotherAddressAtTheSameIncarnationIsAConflictAndRefused) {
  SwimNode node;
  node.know(2, 4);
  Claim impostor = SwimNode::alive(3);
  impostor.address = SwimNode::endpoint(77);
  node.hear(2, {impostor});
  EXPECT_EQ(node.told(SwimEventKind::kConflict), 1u);
  EXPECT_EQ(node.core.members().get(SwimNode::id(3))->address, SwimNode::endpoint(3));
  impostor.incarnation = 2;
  node.hear(2, {impostor});
  EXPECT_EQ(node.told(SwimEventKind::kMoved), 1u);
  EXPECT_EQ(node.core.members().get(SwimNode::id(3))->address, SwimNode::endpoint(77));
}

TEST(SwimClaimsTest, ConfirmationsShortenASuspicionAndArePassedOn) {
  SwimNode node;
  node.know(2, 12);
  node.hear(2, {SwimNode::accused(kSuspect, 4, 1, 2)});
  node.hear(3, {SwimNode::accused(kSuspect, 4, 1, 2)});
  EXPECT_EQ(node.core.counters().confirmations, 0u);
  node.hear(3, {SwimNode::accused(kSuspect, 4, 1, 3), SwimNode::accused(kSuspect, 4, 1, 5)});
  EXPECT_EQ(node.core.counters().confirmations, 2u);
  node.run(milliseconds(4400));
  EXPECT_EQ(node.status(4), kDead);
}

TEST(SwimClaimsTest, DeadInAViewCountsAsSuspect) {
  SwimNode node;
  node.know(2, 6);
  Claim dead = SwimNode::alive(4);
  dead.status = kDead;
  Claim unknown = SwimNode::alive(44);
  unknown.status = kDead;
  node.hear_view(2, {SwimNode::alive(2), dead, unknown});
  EXPECT_EQ(node.status(4), kSuspect);
  EXPECT_EQ(node.core.members().get(SwimNode::id(44)), nullptr);
  EXPECT_EQ(node.core.counters().dead_by_exchange, 1u);
}

TEST(SwimClaimsTest, ASuspicionInAViewConfirmsNothing) {
  SwimNode node;
  node.know(2, 6);
  Claim suspect = SwimNode::alive(4);
  suspect.status = kSuspect;
  node.hear_view(2, {SwimNode::alive(2), suspect});
  node.hear_view(3, {SwimNode::alive(3), suspect});
  EXPECT_EQ(node.status(4), kSuspect);
  EXPECT_EQ(node.core.counters().confirmations, 0u);
}

TEST(SwimClaimsTest, OwnDeathInAViewIsRefutedInTheAnswer) {
  SwimNode node;
  node.know(2, 6);
  Claim dead = SwimNode::alive(1, 3);
  dead.status = kDead;
  node.hear_view(2, {SwimNode::alive(2), dead}, false);
  const auto answer = node.run_until_sent<Exchange>(seconds(1));
  EXPECT_EQ(std::get<Exchange>(answer.message.body).view.at(0).incarnation, 4u);
}

TEST(SwimClaimsTest, AnOldStateNeverReplacesANewerOne) {
  SwimNode node;
  Claim claim = SwimNode::alive(2, 5);
  claim.state = {.incarnation = 5, .version = 3, .bytes = "new"};
  node.hear(2, {claim});
  claim.state = {.incarnation = 5, .version = 2, .bytes = "old"};
  node.hear(2, {claim});
  claim.state = {.incarnation = 4, .version = 9, .bytes = "older"};
  node.hear(2, {claim});
  EXPECT_EQ(node.core.members().get(SwimNode::id(2))->state->bytes, "new");
  EXPECT_EQ(node.told(SwimEventKind::kStateChanged), 1u);
}

TEST(SwimClaimsTest, InventedMembersFillTheTableAndNoMore) {
  SwimNode node;
  std::vector<Claim> view;
  for (std::uint32_t invented = 2; invented < 2 + 70'000; ++invented) {
    view.push_back(SwimNode::alive(invented));
    if (view.size() < 1000) continue;
    node.hear_view(2, view);
    view.clear();
  }
  EXPECT_EQ(node.core.members().size(), kMaxMembers);
  EXPECT_GT(node.core.counters().refused_members, 0u);
}

TEST(SwimClaimsTest, PacketsOfOtherGroupsGarbageAndOwnEchoesChangeNothing) {
  SwimOptions options = swim_lan();
  options.group = 5;
  SwimNode node(options);
  const std::string foreign = encode_swim({.group = 6, .message = {Rumours{}, {SwimNode::alive(9)}}});
  node.core.receive(SwimNode::id(2), SwimNode::endpoint(2), SwimChannel::kDatagram, foreign, node.now);
  node.core.receive(SwimNode::id(2), SwimNode::endpoint(2), SwimChannel::kDatagram, "garbage", node.now);
  node.core.receive(SwimNode::id(1), SwimNode::endpoint(1), SwimChannel::kDatagram,
                    encode_swim({.group = 5, .message = {Rumours{}, {SwimNode::alive(9)}}}), node.now);
  const std::string view =
      encode_swim({.group = 5, .message = {Exchange{.reply = true, .last = true, .view = {SwimNode::alive(9)}}, {}}});
  node.core.receive(SwimNode::id(2), SwimNode::endpoint(2), SwimChannel::kDatagram, view, node.now);
  EXPECT_EQ(node.core.members().size(), 0u);
  EXPECT_EQ(node.core.counters().other_group, 1u);
  EXPECT_EQ(node.core.counters().malformed, 2u);
  EXPECT_TRUE(node.core.take().sends.empty());
}

TEST(SwimClaimsTest, TheAuditLogKeepsTheLatestAndIsBounded) {
  SwimOptions options = swim_lan();
  options.audit_entries = 3;
  SwimNode node(options);
  node.know(2, 9);
  ASSERT_EQ(node.core.audit().size(), 3u);
  EXPECT_EQ(node.core.audit().back().event.node, SwimNode::id(9));
  EXPECT_EQ(node.core.audit().back().event.kind, SwimEventKind::kJoined);
}

TEST(SwimClaimsTest, AMemberThatFlapsLeavesNothingBehind) {
  SwimNode node;
  node.know(2, 4);
  for (std::uint64_t incarnation = 2; incarnation < 200; ++incarnation) {
    node.hear(2, {SwimNode::accused(kDead, 3, incarnation - 1), SwimNode::alive(3, incarnation)});
  }
  EXPECT_EQ(node.status(3), kAlive);
  node.run(milliseconds(10));
  EXPECT_LT(node.core.deadline(), node.now + seconds(1));
}

}  // namespace
}  // namespace muster::cores
