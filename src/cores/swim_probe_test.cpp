#include <gtest/gtest.h>

#include <set>

#include "cores/swim_node_fixture.h"

namespace muster::cores {
namespace {

using enum MemberStatus;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Ack ack_of(const SwimNode::Sent& ping) {
  const auto& body = std::get<Ping>(ping.message.body);
  return {body.sequence, body.target, {}};
}

std::uint32_t target_of(const SwimNode::Sent& ping) {
  return static_cast<std::uint32_t>(number(std::get<Ping>(ping.message.body).target));
}

// Answers every probe until all have been probed once.
void answer_probes(SwimNode& node, int count) {
  for (int probe = 0; probe < count; ++probe) {
    const auto ping = node.run_until_sent<Ping>();
    node.hear(target_of(ping), ack_of(ping));
  }
}

TEST(SwimProbeTest, EveryMemberIsProbedOncePerRound) {
  SwimNode node;
  node.know(2, 9);
  std::set<std::uint32_t> probed;
  for (int probe = 0; probe < 8; ++probe) {
    const auto ping = node.run_until_sent<Ping>();
    probed.insert(target_of(ping));
    node.hear(target_of(ping), ack_of(ping));
  }
  EXPECT_EQ(probed.size(), 8u);
  EXPECT_EQ(node.core.counters().probes_acked, 8u);
}

TEST(SwimProbeTest, ASilentMemberIsProbedByOthersAndOverAStreamAfterTheTimeOut) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  const base::Instant began = node.now;
  node.run_until_sent<PingRequest>();
  EXPECT_EQ(node.now, began + milliseconds(500));
  const auto requests = node.all_sent<PingRequest>();
  ASSERT_EQ(requests.size(), 3u);
  std::set<Endpoint> asked;
  for (const auto& request : requests) {
    EXPECT_EQ(std::get<PingRequest>(request.message.body).target, std::get<Ping>(ping.message.body).target);
    asked.insert(request.to);
  }
  EXPECT_EQ(asked.size(), 3u);
  EXPECT_FALSE(asked.contains(ping.to));
  const auto streams = node.all_sent<Ping>();
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_EQ(streams[0].channel, SwimChannel::kStream);
  EXPECT_EQ(streams[0].to, ping.to);
}

TEST(SwimProbeTest, NobodyIsSuspectedIfARelayedAckComes) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  node.run_until_sent<PingRequest>();
  node.hear(target_of(ping) == 5 ? 6 : 5, ack_of(ping));
  EXPECT_EQ(node.core.counters().indirect_rescues, 1u);
  node.run_until_sent<Ping>();
  EXPECT_EQ(node.told(SwimEventKind::kSuspected), 0u);
}

TEST(SwimProbeTest, WithAllNacksAFailedProbeDoesNotCountAgainstTheProber) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  node.run_until_sent<PingRequest>();
  for (const auto& request : node.all_sent<PingRequest>()) {
    const Nack nack{std::get<PingRequest>(request.message.body).sequence};
    node.hear(ipv4_host(request.to) - 0x0a000000u, nack);
    node.hear(ipv4_host(request.to) - 0x0a000000u, nack);
  }
  node.run(seconds(1));
  EXPECT_EQ(node.core.counters().nacks_received, 3u);
  EXPECT_EQ(node.core.score(), 0u);
  EXPECT_EQ(node.status(target_of(ping)), kSuspect);
}

TEST(SwimProbeTest, EveryNackThatDoesNotComeCountsAgainstTheProber) {
  SwimNode node;
  node.know(2, 9);
  node.run_until_sent<Ping>();
  node.run_until_sent<PingRequest>();
  const auto request = node.all_sent<PingRequest>().at(0);
  node.hear(ipv4_host(request.to) - 0x0a000000u, Nack{std::get<PingRequest>(request.message.body).sequence});
  node.run_until_sent<Ping>();
  EXPECT_EQ(node.core.score(), 2u);
}

TEST(SwimProbeTest, AHighScoreStretchesIntervalAndTimeOutAndSuccessLowersIt) {
  SwimNode node;
  node.know(2, 9);
  answer_probes(node, 1);
  node.hear(2, {SwimNode::accused(kSuspect, 1, 1), SwimNode::accused(kSuspect, 1, 2)});
  ASSERT_EQ(node.core.score(), 2u);
  const auto ping = node.run_until_sent<Ping>();
  const base::Instant began = node.now;
  node.run_until_sent<PingRequest>();
  EXPECT_EQ(node.now, began + milliseconds(1500));
  node.hear(target_of(ping), ack_of(ping));
  EXPECT_EQ(node.core.score(), 1u);
  node.run_until_sent<Ping>();
  EXPECT_EQ(node.now, began + seconds(3));
}

TEST(SwimProbeTest, AnAckThatNobodyAskedForChangesNothing) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  Ack wrong = ack_of(ping);
  wrong.node = SwimNode::id(target_of(ping) == 5 ? 6 : 5);
  node.hear(3, wrong);
  wrong = ack_of(ping);
  wrong.sequence += 1;
  node.hear(3, wrong);
  EXPECT_EQ(node.core.counters().probes_acked, 0u);
}

TEST(SwimProbeTest, APingIsAnsweredOnItsChannelWithTheOwnStateUnlessMeantForAnother) {
  SwimNode node;
  node.know(2, 4);
  node.sent.clear();
  node.hear(2, Ping{77, SwimNode::id(9)});
  EXPECT_TRUE(node.sent.empty());
  node.hear(2, Ping{78, SwimNode::id(1)}, {}, SwimChannel::kStream);
  ASSERT_EQ(node.sent.size(), 1u);
  EXPECT_EQ(node.sent[0].channel, SwimChannel::kStream);
  const auto& ack = std::get<Ack>(node.sent[0].message.body);
  EXPECT_EQ(ack.sequence, 78u);
  EXPECT_EQ(ack.state.bytes, "one");
}

TEST(SwimProbeTest, AProbeForAnotherIsRelayedAndAnsweredByNackIfItStaysSilent) {
  SwimNode node;
  node.know(2, 4);
  node.sent.clear();
  node.hear(2, PingRequest{500, SwimNode::id(3), SwimNode::endpoint(3)});
  const auto pings = node.all_sent<Ping>();
  ASSERT_EQ(pings.size(), 1u);
  EXPECT_EQ(pings[0].to, SwimNode::endpoint(3));
  const base::Instant asked = node.now;
  const auto nack = node.run_until_sent<Nack>();
  EXPECT_EQ(node.now, asked + milliseconds(400));
  EXPECT_EQ(nack.to, SwimNode::endpoint(2));
  EXPECT_EQ(std::get<Nack>(nack.message.body).sequence, 500u);
  node.sent.clear();
  node.hear(3, ack_of(pings[0]));
  const auto acks = node.all_sent<Ack>();
  ASSERT_EQ(acks.size(), 1u) << "a late answer is still passed on";
  EXPECT_EQ(std::get<Ack>(acks[0].message.body).sequence, 500u);
  EXPECT_EQ(std::get<Ack>(acks[0].message.body).node, SwimNode::id(3));
}

TEST(SwimProbeTest, NacksComeInTimeWithEveryPreset) {
  for (const SwimOptions& options : {swim_lan(), swim_wan(), swim_local()}) {
    SwimNode node(options);
    node.know(2, 4);
    const base::Instant asked = node.now;
    node.hear(2, PingRequest{500, SwimNode::id(3), SwimNode::endpoint(3)});
    node.run_until_sent<Nack>();
    EXPECT_LT(options.probe_timeout + (node.now - asked), options.probe_interval);
  }
}

TEST(SwimProbeTest, RequestsToProbeAreBounded) {
  SwimNode node;
  node.know(2, 4);
  for (std::uint64_t sequence = 0; sequence < 2 * kMaxRelays; ++sequence) {
    node.hear(2, PingRequest{sequence, SwimNode::id(3), SwimNode::endpoint(3)});
  }
  EXPECT_EQ(node.core.counters().dropped_requests, kMaxRelays);
  node.sent.clear();
  node.run(seconds(1));
  EXPECT_EQ(node.core.counters().nacks_sent, kMaxRelays);
}

TEST(SwimProbeTest, APingToASuspectTellsItFirst) {
  SwimNode node;
  node.know(2, 3);
  node.hear(2, {SwimNode::accused(kSuspect, 3)});
  for (int probe = 0; probe < 4; ++probe) {
    const auto ping = node.run_until_sent<Ping>();
    if (target_of(ping) == 3) {
      ASSERT_FALSE(ping.message.claims.empty());
      EXPECT_EQ(ping.message.claims[0].status, kSuspect);
      EXPECT_EQ(ping.message.claims[0].node, SwimNode::id(3));
      return;
    }
    node.hear(target_of(ping), ack_of(ping));
  }
  FAIL() << "the suspect was not probed";
}

TEST(SwimProbeTest, AnAccusedNodeRefutesInTheAckItself) {
  SwimNode node;
  node.know(2, 4);
  node.sent.clear();
  node.hear(2, Ping{9, SwimNode::id(1)}, {SwimNode::accused(kSuspect, 1, 1)});
  ASSERT_EQ(node.sent.size(), 1u);
  ASSERT_FALSE(node.sent[0].message.claims.empty());
  EXPECT_EQ(node.sent[0].message.claims[0].status, kAlive);
  EXPECT_EQ(node.sent[0].message.claims[0].incarnation, 2u);
}

TEST(SwimProbeTest, WhoeverHearsOfASuspicionInASmallGroupProbesTheSuspectNext) {
  SwimNode node;
  node.know(2, 8);
  answer_probes(node, 1);
  node.hear(2, {SwimNode::accused(kSuspect, 5)});
  const auto ping = node.run_until_sent<Ping>();
  EXPECT_EQ(target_of(ping), 5u);
  EXPECT_EQ(node.core.counters().rechecks, 1u);
}

TEST(SwimProbeTest, AtTheWorstLevelOnlySuspectsAreProbedAndRestHealsIt) {
  SwimNode node;
  node.know(2, 40);
  for (std::uint64_t accused = 1; accused <= 8; ++accused) node.hear(2, {SwimNode::accused(kSuspect, 1, accused)});
  ASSERT_EQ(node.core.score(), 8u);
  EXPECT_TRUE(node.core.refuses_new_work(node.now));
  EXPECT_TRUE(node.core.must_step_down(node.now));
  node.sent.clear();
  node.run(seconds(2));  // the probe that was due already
  EXPECT_TRUE(node.all_sent<Ping>().empty());
  EXPECT_GE(node.core.counters().probes_skipped, 1u);
  for (int probe = 0; probe < 60; ++probe) {
    const auto ping = node.run_until_sent<Ping>(minutes(2));
    node.hear(target_of(ping), ack_of(ping));
  }
  EXPECT_EQ(node.core.score(), 0u);
}

TEST(SwimProbeTest, ANodeThatStoodStillBlamesItselfAndNobodyElse) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  node.now += seconds(20);
  node.core.wake(node.now);
  node.hear(target_of(ping), ack_of(ping));
  EXPECT_EQ(node.core.counters().stalls, 1u);
  EXPECT_EQ(node.core.counters().probes_failed, 0u);
  EXPECT_EQ(node.core.counters().probes_acked, 1u);
  EXPECT_EQ(node.core.score(), 1u);
}

TEST(SwimProbeTest, OthersGetAllOfTheirTimeThoughTheyWereAskedLate) {
  SwimNode node;
  node.know(2, 9);
  node.run_until_sent<Ping>();
  node.now += milliseconds(990);
  node.core.wake(node.now);
  const base::Instant asked = node.now;
  EXPECT_EQ(node.core.counters().indirect_requests, 3u);
  EXPECT_EQ(node.core.counters().stalls, 0u);
  while (node.core.counters().probes_failed == 0) node.run(milliseconds(10));
  EXPECT_GE(node.now, asked + milliseconds(500));
}

TEST(SwimProbeTest, ASignOfLifeDuringAProbeClearsItsTarget) {
  SwimNode node;
  node.know(2, 9);
  const auto ping = node.run_until_sent<Ping>();
  node.hear(2, {SwimNode::alive(target_of(ping), 2)});
  node.run_until_sent<Ping>();
  node.run_until_sent<Ping>();
  EXPECT_EQ(node.status(target_of(ping)), kAlive);
}

TEST(SwimProbeTest, DatagramsStayWithinTheirLimitWithTheLargestStatesAndMuchGossip) {
  SwimNode node;
  node.core.set_state(std::string(kMaxMemberState, 's'), true, node.now);
  const std::string state(kMaxMemberState, 'x');
  for (std::uint32_t member = 2; member <= 60; ++member) {
    Claim claim = SwimNode::alive(member);
    claim.state = {.incarnation = 1, .version = 1, .bytes = state};
    node.hear(member, {claim});
  }
  node.hear(2, Ping{1, SwimNode::id(1)});
  node.run(seconds(10));
  std::size_t longest = 0;
  for (const auto& one : node.sent) {
    if (one.channel == SwimChannel::kDatagram) longest = std::max(longest, one.bytes->size());
  }
  EXPECT_GT(longest, 1000u);
  EXPECT_LE(longest, kMaxSwimPayload);
}

TEST(SwimProbeTest, AStateThatIsTooLongIsNotTaken) {
  SwimNode node;
  node.core.set_state(std::string(kMaxMemberState + 1, 's'), true, node.now);
  node.hear(2, Ping{1, SwimNode::id(1)});
  EXPECT_EQ(std::get<Ack>(node.sent.back().message.body).state.bytes, "one");
}

}  // namespace
}  // namespace muster::cores
