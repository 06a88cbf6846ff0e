#include "sim/swim_oracle.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/nobody_fixture.h"

namespace muster::sim {
namespace {

using cores::MemberStatus;
using cores::SwimEvent;
using cores::SwimEventKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::NodeId kViewer{1};
constexpr base::NodeId kSuspect{2};

cores::SwimSelf named(base::NodeId node) {
  cores::SwimSelf self;
  self.id = node;
  return self;
}

std::shared_ptr<const cores::Roster> everybody(std::uint64_t nodes) {
  std::vector<cores::Member> known;
  for (std::uint64_t name = 1; name <= nodes; ++name) {
    cores::Member member;
    member.id = base::NodeId{name};
    member.incarnation = 1;
    known.push_back(std::move(member));
  }
  return std::make_shared<const cores::Roster>(std::move(known));
}

// A group of ten with LAN settings: suspicions last 4 to 24 seconds, a little more should the group have grown.
struct SwimOracleTest : testing::Test {
  Nobody world;
  Kernel kernel{1, world, {}};
  SwimOracle oracle{kernel, {.nodes = 10, .true_clocks = true}};
  cores::Swim core{named(kViewer), cores::swim_lan(), 1, base::Instant(), everybody(10)};

  SwimOracleTest() {
    cores::Swim accused(named(kSuspect), cores::swim_lan(), 1, base::Instant());
    oracle.observe(accused);
  }
  void saw(SwimEventKind kind) {
    oracle.saw(core, SwimEvent{.kind = kind, .node = kSuspect, .incarnation = 1, .by = kViewer});
  }
  void wait(base::Duration length) { kernel.run(kernel.elapsed() + length); }
  std::string violated() {
    const Record& record = kernel.record();
    return record.violation ? record.violation->invariant : "";
  }
};

TEST_F(SwimOracleTest, LetsASuspicionEndInItsTime) {
  saw(SwimEventKind::kSuspected);
  wait(seconds(20));
  saw(SwimEventKind::kDead);
  EXPECT_EQ(violated(), "");
}

TEST_F(SwimOracleTest, SeesASuspicionThatEndsTooSoon) {
  saw(SwimEventKind::kSuspected);
  wait(milliseconds(3900));
  saw(SwimEventKind::kDead);
  EXPECT_EQ(violated(), "suspicion");
}

TEST_F(SwimOracleTest, SeesASuspicionThatEndsTooLate) {
  saw(SwimEventKind::kSuspected);
  wait(seconds(28));
  saw(SwimEventKind::kDead);
  EXPECT_EQ(violated(), "suspicion");
}

TEST_F(SwimOracleTest, SeesADeathThatNobodyFound) {
  oracle.saw(core, {.kind = SwimEventKind::kDead, .node = kSuspect, .incarnation = 1, .by = base::NodeId{3}});
  EXPECT_EQ(violated(), "suspicion");
}

TEST_F(SwimOracleTest, SeesAnIncarnationThatSomebodyElseRaised) {
  oracle.saw(core, {.kind = SwimEventKind::kSuspected, .node = kSuspect, .incarnation = 2, .by = kViewer});
  EXPECT_EQ(violated(), "19");
}

TEST(SwimFormulas, AreThoseOfTheSpecification) {
  EXPECT_EQ(suspicion_span(cores::swim_lan(), 10).shortest, seconds(4));
  EXPECT_EQ(suspicion_span(cores::swim_lan(), 100).shortest, seconds(8));
  EXPECT_EQ(suspicion_span(cores::swim_lan(), 100).longest, seconds(48));
  EXPECT_EQ(suspicion_span(cores::swim_lan(), 3).longest, seconds(4));
  EXPECT_EQ(suspicion_span(cores::swim_wan(), 6).longest, seconds(180));
  EXPECT_EQ(most_transmits(4, 9), 4u);
  EXPECT_EQ(most_transmits(4, 10), 8u);
  EXPECT_EQ(most_transmits(2, 10'000), 10u);
  EXPECT_EQ(exchange_period(seconds(30), 32), seconds(30));
  EXPECT_EQ(exchange_period(seconds(30), 33), seconds(60));
}

TEST(SwimFormulas, HoldTheSuspectToLiveAndTheDeadNot) {
  cores::Member member;
  for (const MemberStatus status : {MemberStatus::kAlive, MemberStatus::kSuspect}) {
    member.status = status;
    EXPECT_TRUE(held_to_live(&member));
  }
  for (const MemberStatus status : {MemberStatus::kDead, MemberStatus::kLeft}) {
    member.status = status;
    EXPECT_FALSE(held_to_live(&member));
  }
  EXPECT_FALSE(held_to_live(nullptr));
}

}  // namespace
}  // namespace muster::sim
