#include "cluster/gate_proposals.h"

#include <gtest/gtest.h>

#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

class GateProposalsTest : public ::testing::Test {
 protected:
  void lead(NodeId leader, std::uint64_t term) {
    LogStanding standing;
    standing.leader = leader;
    standing.term = term;
    standing.caught_up = true;
    proposals.standing(standing, bodies, now, effects);
  }
  Effects taken() { return std::exchange(effects, {}); }

  base::Instant now{std::chrono::hours(1)};
  GateProposals proposals{kGateA, {}};
  Bodies bodies{kGateA, test_hash, {}, {}, now};
  Effects effects;
};

TEST_F(GateProposalsTest, GoToTheLeaderAndToTheNextOneAtOnce) {
  lead(kGateB.node, 1);
  ASSERT_TRUE(proposals.propose(EndAcknowledged{kJob}, now, effects));
  auto sent = taken();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(std::get<Send>(sent[0]).to, kGateB.node);
  lead(kGateA.node, 2);
  sent = taken();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Propose>(sent[0]));
}

TEST_F(GateProposalsTest, AreSentAgainUntilApplied) {
  lead(kGateB.node, 1);
  const auto sequence = proposals.propose(EndAcknowledged{kJob}, now, effects);
  taken();
  now = proposals.deadline();
  EXPECT_TRUE(proposals.wake(bodies, now, effects).empty());
  EXPECT_EQ(taken().size(), 1u);
  EXPECT_TRUE(proposals.applied({kGateA, *sequence, EndAcknowledged{kJob}}, now));
  EXPECT_FALSE(proposals.applied({kGateA, *sequence, EndAcknowledged{kJob}}, now));
  EXPECT_EQ(proposals.deadline(), base::kNever);
}

TEST_F(GateProposalsTest, OneAboutOneThingAtATime) {
  lead(kGateB.node, 1);
  EXPECT_TRUE(proposals.propose(SlotAccepted{{kJob, 1, 0, 1}}, now, effects));
  EXPECT_FALSE(proposals.propose(SlotFailed{{kJob, 1, 0, 1}, JobState::kFailed, true, ""}, now, effects));
  EXPECT_TRUE(proposals.propose(SlotAccepted{{kJob, 1, 1, 1}}, now, effects));
}

TEST_F(GateProposalsTest, AreGivenUpAndOpenTheCircuit) {
  lead(kGateB.node, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(proposals.circuit_closed(now));
    ASSERT_TRUE(proposals.propose(EndAcknowledged{kJob}, now, effects));
    now += seconds(5);
    EXPECT_EQ(proposals.wake(bodies, now, effects).size(), 1u);
  }
  EXPECT_FALSE(proposals.circuit_closed(now));
  EXPECT_TRUE(proposals.circuit_closed(now + seconds(10)));
}

TEST_F(GateProposalsTest, AreBounded) {
  for (std::uint64_t i = 0; i < kMaxProposals; ++i) {
    ASSERT_TRUE(proposals.propose(EndAcknowledged{JobId{i}}, now, effects));
  }
  EXPECT_FALSE(proposals.propose(EndAcknowledged{JobId{kMaxProposals}}, now, effects));
}

}  // namespace
}  // namespace muster::cluster
