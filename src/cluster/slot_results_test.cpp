#include "cluster/slot_results.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "cluster/gate_command_codec.h"
#include "cluster/gate_followers.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

// A job of two workflows that a datacenter runs, and whatever it tells goes into the log at once.
class SlotResultsTest : public ::testing::Test, public GateLedgerFixture {
 protected:
  SlotResultsTest() {
    LogStanding standing;
    standing.leader = kGateA.node;
    standing.term = 1;
    standing.caught_up = true;
    proposals.standing(standing, bodies, now, effects);
    submit(kJob, {"east"}, false, 2);
    offer("east");
    accepted();
  }

  GateDesk desk() {
    return {kGateA, options, ledger, proposals, leases, peers, bodies, datacenters, followers, effects, now};
  }
  static WorkflowStatus without_body(std::uint32_t workflow) {
    WorkflowStatus told = status(workflow);
    told.results.clear();
    return told;
  }
  void end(JobState state, const std::vector<WorkflowStatus>& workflows) {
    GateDesk at = desk();
    results.end(at, job(), fence(), kManager, state, "", seconds(3), workflows);
    step();
  }
  void step() {
    for (bool more = true; more;) {
      more = false;
      GateDesk at = desk();
      if (slot().phase != SlotPhase::kEnded) results.step(at, job(), fence());
      for (Effect& effect : std::exchange(effects, {})) {
        const auto* proposal = std::get_if<Propose>(&effect);
        if (proposal == nullptr) continue;
        const auto entry = decode_gate_entry(proposal->entry);
        ASSERT_TRUE(entry.has_value());
        ledger.apply(ledger.index() + 1, *entry);
        proposals.applied(*entry, now);
        more = true;
      }
    }
  }

  static constexpr NodeId kManager{11};
  base::Instant now{std::chrono::hours(1)};
  GateOptions options;
  GateProposals proposals{kGateA, options};
  GateLeases leases{kGateA, 1, options};
  GatePeers peers{kGateA};
  Bodies bodies{kGateA, test_hash, BodyOptions{}, {}, now};
  DatacenterTable datacenters;
  GateFollowers followers;
  Effects effects;
  SlotResults results;
};

TEST_F(SlotResultsTest, ARunCompletesWithAllItsResults) {
  end(JobState::kCompleted, {without_body(0), without_body(1)});
  EXPECT_EQ(job().results.size(), 2u);
  EXPECT_EQ(job().end, JobState::kCompleted);
}

TEST_F(SlotResultsTest, ARunThatIsSaidToHaveCompletedWithoutAllItsResultsHasFailed) {
  end(JobState::kCompleted, {without_body(1)});
  EXPECT_EQ(job().results.size(), 1u);
  EXPECT_EQ(slot().state, JobState::kFailed);
  EXPECT_EQ(job().end, JobState::kPartial);
  EXPECT_NE(slot().reason.find("'east'"), std::string::npos) << slot().reason;
  EXPECT_NE(slot().reason.find("1 of its 2 workflows"), std::string::npos) << slot().reason;
  EXPECT_NE(slot().reason.find("'" + job().outline.workflows[0].name + "'"), std::string::npos) << slot().reason;
}

TEST_F(SlotResultsTest, ARunThatDidNotCompleteMayLackResults) {
  end(JobState::kPartial, {without_body(1)});
  EXPECT_EQ(slot().state, JobState::kPartial);
}

TEST_F(SlotResultsTest, WaitsForWhatAResultLeftBeforeItTellsTheEnd) {
  end(JobState::kCompleted, {status(0), without_body(1)});
  EXPECT_EQ(job().results.size(), 1u);
  EXPECT_FALSE(job().end);
  now += options.result_patience;
  step();
  EXPECT_EQ(job().results.size(), 2u);
  EXPECT_EQ(job().end, JobState::kCompleted);
}

}  // namespace
}  // namespace muster::cluster
