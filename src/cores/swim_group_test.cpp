#include <gtest/gtest.h>

#include <tuple>

#include "cores/swim_group_fixture.h"

namespace muster::cores {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(SwimGroupTest, JoiningNodesLearnOfEverybodyWithinASecond) {
  SwimGroup group;
  for (std::uint32_t number = 1; number <= 16; ++number) {
    group.add(number, number == 1 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{1});
  }
  EXPECT_TRUE(group.run_until(seconds(1), [&] { return group.all_know_all(); }));
}

TEST(SwimGroupTest, AQuietGroupSuspectsNobodyAndScoresStayZero) {
  SwimGroup group;
  group.start(10);
  group.run(minutes(5));
  for (std::uint32_t number = 1; number <= 10; ++number) {
    EXPECT_EQ(group.node(number).counters().suspicions, 0u);
    EXPECT_EQ(group.node(number).counters().probes_failed, 0u);
    EXPECT_EQ(group.node(number).score(), 0u);
  }
}

TEST(SwimGroupTest, ACrashIsFoundByAllWithinTheSuspicionAndItsSpreading) {
  SwimGroup group;
  group.start(10);
  group.crash(4);
  // A round of probes at worst, then the shortest suspicion of four seconds, twice that for late confirmations.
  EXPECT_TRUE(group.run_until(seconds(30), [&] { return group.holding(4, MemberStatus::kDead) == 9; }));
}

TEST(SwimGroupTest, WhoeverLeavesIsGoneAtOnceAndNeverSuspected) {
  SwimGroup group;
  group.start(8);
  bool may_go = false;
  group.saw = [&](base::NodeId node, const SwimEvent& event) {
    may_go = may_go || (node == SwimGroup::id(3) && event.kind == SwimEventKind::kLeft && event.node == node);
    EXPECT_NE(event.kind, SwimEventKind::kSuspected);
  };
  group.node(3).leave(group.now());
  group.drain(group.node(3));
  EXPECT_TRUE(group.run_until(seconds(3), [&] { return group.holding(3, MemberStatus::kLeft) == 7; }));
  EXPECT_TRUE(group.run_until(seconds(5), [&] { return may_go; }));
  group.crash(3);
  group.run(seconds(60));
}

TEST(SwimGroupTest, TheDeadAreForgottenAfterAQuarterOfAnHour) {
  SwimGroup group;
  group.start(5);
  group.crash(5);
  group.run(minutes(14));
  EXPECT_EQ(group.holding(5, MemberStatus::kDead), 4u);
  group.run(minutes(3));
  EXPECT_EQ(group.node(1).members().size(), 3u);
}

TEST(SwimGroupTest, ARestartAtAnotherAddressIsTakenInThoughItForgotItsIncarnation) {
  SwimGroup group;
  group.start(6);
  group.crash(2);
  group.run(seconds(40));
  ASSERT_EQ(group.holding(2, MemberStatus::kDead), 5u);
  group.add(2, std::vector<std::uint32_t>{1, 3}, 1, 77);
  EXPECT_TRUE(group.run_until(seconds(3), [&] { return group.all_know_all(); }));
  EXPECT_EQ(group.node(4).members().get(SwimGroup::id(2))->address, test_endpoint(77));
  EXPECT_GT(group.node(2).incarnation(), 1u);
}

TEST(SwimGroupTest, AQuickRestartAtAnotherAddressReplacesTheOldOneBeforeItIsSuspected) {
  SwimGroup group;
  group.start(6);
  group.crash(2);
  group.add(2, std::vector<std::uint32_t>{1}, 50, 78);
  EXPECT_TRUE(group.run_until(seconds(2), [&] { return group.all_know_all(); }));
  EXPECT_EQ(group.node(5).members().get(SwimGroup::id(2))->address, test_endpoint(78));
  EXPECT_EQ(group.node(2).incarnation(), 50u);
}

TEST(SwimGroupTest, APausedNodeIsSuspectedAndRefutesWhenItComesBack) {
  SwimGroup group;
  group.start(12);
  group.pause(7);
  ASSERT_TRUE(group.run_until(seconds(20), [&] { return group.holding(7, MemberStatus::kSuspect) == 11; }));
  group.resume(7);
  EXPECT_TRUE(group.run_until(seconds(5), [&] { return group.holding(7, MemberStatus::kAlive) == 11; }));
  EXPECT_GE(group.node(7).counters().refutations, 1u);
}

TEST(SwimGroupTest, ANodeThatWasHeldDeadComesBackByRefuting) {
  SwimGroup group;
  group.start(12);
  group.pause(7);
  ASSERT_TRUE(group.run_until(minutes(2), [&] { return group.holding(7, MemberStatus::kDead) == 11; }));
  group.run(minutes(2));  // beyond the gossip to the dead
  group.resume(7);
  EXPECT_TRUE(group.run_until(minutes(2), [&] { return group.all_know_all(); }));
}

TEST(SwimGroupTest, TwoHalvesThatWereCutApartFindBack) {
  SwimGroup group;
  group.start(16);
  group.lost = [](const SwimGroup::Packet& packet) { return (number(packet.from) % 2) != (number(packet.to) % 2); };
  group.run(minutes(3));
  EXPECT_EQ(group.holding(1, MemberStatus::kDead), 8u);
  group.lost = [](const SwimGroup::Packet&) { return false; };
  EXPECT_TRUE(group.run_until(minutes(3), [&] { return group.all_know_all(); }));
}

TEST(SwimGroupTest, HalvesThatForgotEachOtherFindBackByTheirSeeds) {
  SwimGroup group;
  group.start(6);
  group.lost = [](const SwimGroup::Packet& packet) { return (number(packet.from) % 2) != (number(packet.to) % 2); };
  group.run(minutes(20));
  ASSERT_EQ(group.node(2).members().size(), 2u);
  group.lost = [](const SwimGroup::Packet&) { return false; };
  EXPECT_TRUE(group.run_until(minutes(3), [&] { return group.all_know_all(); }));
}

TEST(SwimGroupTest, ANodeWhoseDatagramsAreFilteredIsKeptAliveByStreams) {
  SwimGroup group;
  group.start(6);
  group.lost = [](const SwimGroup::Packet& packet) {
    const bool filtered = packet.from == SwimGroup::id(3) || packet.to == SwimGroup::id(3);
    return filtered && packet.channel == SwimChannel::kDatagram;
  };
  group.saw = [](base::NodeId node, const SwimEvent& event) {
    EXPECT_FALSE(node != SwimGroup::id(3) && event.kind == SwimEventKind::kSuspected);
  };
  group.run(minutes(2));
  EXPECT_GT(group.node(1).counters().stream_rescues, 0u);
}

TEST(SwimGroupTest, ALinkThatIsCutIsBridgedByOthers) {
  SwimGroup group;
  group.start(6);
  group.lost = [](const SwimGroup::Packet& packet) {
    const std::uint64_t one = number(packet.from);
    const std::uint64_t other = number(packet.to);
    return (one == 1 && other == 2) || (one == 2 && other == 1);
  };
  group.saw = [](base::NodeId, const SwimEvent& event) { EXPECT_NE(event.kind, SwimEventKind::kSuspected); };
  group.run(minutes(2));
  EXPECT_GT(group.node(1).counters().indirect_rescues, 0u);
  EXPECT_GT(group.node(3).counters().relayed_acks, 0u);
}

TEST(SwimGroupTest, HundredsThatJoinAtOnceAllKnowOneAnotherSoon) {
  SwimGroup group;
  group.start(5);
  for (std::uint32_t number = 6; number <= 300; ++number) group.add(number, std::vector<std::uint32_t>{1, 2, 3});
  EXPECT_TRUE(group.run_until(seconds(10), [&] { return group.all_know_all(); }));
  EXPECT_LE(group.longest_datagram, kMaxSwimPayload);
}

TEST(SwimGroupTest, AGossipQueueThatOverflowsIsMadeUpForByExchanges) {
  SwimOptions options = swim_lan();
  options.max_queued_updates = 8;
  SwimGroup group(options);
  group.start(5);
  std::uint64_t overflows = 0;
  group.saw = [&](base::NodeId, const SwimEvent& event) { overflows += event.kind == SwimEventKind::kOverflow; };
  for (std::uint32_t number = 6; number <= 60; ++number) group.add(number, std::vector<std::uint32_t>{1});
  EXPECT_TRUE(group.run_until(minutes(3), [&] { return group.all_know_all(); }));
  EXPECT_GT(overflows, 0u);
}

TEST(SwimGroupTest, FivePercentLossKillsNobody) {
  SwimGroup group(swim_lan(), 3);
  group.start(32);
  base::Random random(5);
  group.lost = [&](const SwimGroup::Packet& packet) {
    return packet.channel == SwimChannel::kDatagram && random.unit() < 0.05;
  };
  group.saw = [](base::NodeId, const SwimEvent& event) { EXPECT_NE(event.kind, SwimEventKind::kDead); };
  group.run(minutes(5));
}

TEST(SwimGroupTest, AStateReachesEverybodyByAcksAndAtOnceIfAnnounced) {
  SwimGroup group;
  group.start(8);
  const auto heard = [&](const std::string& wanted) {
    return [&group, wanted] {
      for (std::uint32_t number = 2; number <= 8; ++number) {
        const Member* member = group.node(number).members().get(SwimGroup::id(1));
        if (!member->state || member->state->bytes != wanted) return false;
      }
      return true;
    };
  };
  group.node(1).set_state("busy", false, group.now());
  group.drain(group.node(1));
  EXPECT_TRUE(group.run_until(seconds(20), heard("busy")));
  group.node(1).set_state("draining", true, group.now());
  group.drain(group.node(1));
  EXPECT_TRUE(group.run_until(seconds(2), heard("draining")));
}

TEST(SwimGroupTest, PacketsThatComeAgainChangeNothing) {
  SwimGroup group;
  struct Heard {
    base::NodeId from;
    SwimChannel channel;
    std::string bytes;
  };
  std::vector<Heard> heard;
  group.delivered = [&](const SwimGroup::Packet& packet) {
    if (packet.to == SwimGroup::id(1)) heard.push_back({packet.from, packet.channel, *packet.bytes});
  };
  group.start(8);
  group.pause(5);
  group.run(seconds(12));
  group.resume(5);
  group.crash(6);
  group.run(seconds(60));
  Swim& node = group.node(1);
  const auto view = [&] {
    std::vector<std::tuple<base::NodeId, MemberStatus, std::uint64_t, std::string>> seen;
    node.members().each([&](MemberTable::Slot, const Member& member) {
      seen.emplace_back(member.id, member.status, member.incarnation, member.state ? member.state->bytes : "");
    });
    return seen;
  };
  const auto before = view();
  const std::uint64_t incarnation = node.incarnation();
  for (const Heard& one : heard) {
    const auto number = static_cast<std::uint32_t>(base::number(one.from));
    node.receive(one.from, test_endpoint(number), one.channel, one.bytes, group.now());
    node.take();
  }
  EXPECT_GT(heard.size(), 100u);
  EXPECT_EQ(view(), before);
  EXPECT_EQ(node.incarnation(), incarnation);
}

TEST(SwimGroupTest, RandomBytesChangeNothing) {
  SwimGroup group;
  group.start(4);
  Swim& node = group.node(1);
  base::Random random(11);
  const std::uint64_t malformed = node.counters().malformed + node.counters().other_group;
  constexpr int kPackets = 20'000;
  for (int packet = 0; packet < kPackets; ++packet) {
    // Every other one passes for the current version.
    std::string bytes(1 + random.below(120), static_cast<char>(1));
    for (std::size_t place = random.below(2); place < bytes.size(); ++place)
      bytes[place] = static_cast<char>(random.next());
    // Far from the shape of any message, so that none is one by chance.
    bytes += std::string(3, static_cast<char>(0xff));
    const auto channel = random.below(2) == 0 ? SwimChannel::kDatagram : SwimChannel::kStream;
    node.receive(SwimGroup::id(2), test_endpoint(2), channel, bytes, group.now());
  }
  EXPECT_EQ(node.counters().malformed + node.counters().other_group, malformed + kPackets);
  EXPECT_EQ(node.members().count(MemberStatus::kAlive), 3u);
  EXPECT_TRUE(node.take().sends.empty());
}

TEST(SwimGroupTest, EqualSeedsGiveEqualRuns) {
  const auto told = [] {
    SwimGroup group(swim_local(), 9);
    std::vector<std::tuple<base::Instant, base::NodeId, base::NodeId, SwimEventKind>> events;
    group.saw = [&](base::NodeId node, const SwimEvent& event) {
      events.emplace_back(group.now(), node, event.node, event.kind);
    };
    group.start(20);
    group.crash(3);
    group.run(seconds(60));
    return events;
  };
  EXPECT_EQ(told(), told());
}

}  // namespace
}  // namespace muster::cores
