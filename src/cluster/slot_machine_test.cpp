#include "cluster/slot_machine.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "cluster/gate_command_codec.h"
#include "cluster/gate_followers.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SlotMachineTest : public ::testing::Test, public GateLedgerFixture {
 protected:
  SlotMachineTest() {
    led_by(kGateA.node);
    report(11, "east", 9, true);
    report(12, "east", 9, false);
    report(21, "west", 5, true);
  }

  void led_by(NodeId leader) {
    LogStanding standing;
    standing.leader = leader;
    standing.term = 1;
    standing.caught_up = true;
    proposals.standing(standing, bodies, now, effects);
  }
  void report(std::uint64_t manager, const std::string& datacenter, std::uint32_t free_cores, bool leader) {
    ManagerReport made;
    made.manager = NodeId{manager};
    made.datacenter = datacenter;
    made.leader = leader;
    made.has_quorum = true;
    made.workers = 1;
    made.healthy_workers = 1;
    made.free_cores = free_cores;
    datacenters.report(made);
  }
  GateDesk desk() {
    return {kGateA, options, ledger, proposals, leases, peers, bodies, datacenters, followers, effects, now};
  }
  // Steps and carries out what was proposed, until nothing more is.
  void step() {
    for (bool more = true; more;) {
      more = false;
      GateDesk at = desk();
      machine->step(at, job());
      for (Effect& effect : std::exchange(effects, {})) {
        if (auto* out = std::get_if<Send>(&effect)) {
          sent.push_back(*out);
        } else if (auto* proposal = std::get_if<Propose>(&effect)) {
          const auto entry = decode_gate_entry(proposal->entry);
          ASSERT_TRUE(entry.has_value());
          proposed.push_back(entry->command);
          ledger.apply(ledger.index() + 1, *entry);
          proposals.applied(*entry, now);
          more = true;
        }
      }
    }
  }
  void pass(base::Duration span) {
    for (const base::Instant end = now + span; now < end; now += milliseconds(100)) step();
  }
  void begin() { machine.emplace(kJob, 0, job().epoch, now); }
  void answer(Answer what, NodeId from = NodeId{11}, NodeId leader = kNoNode) {
    SubmitAnswer message;
    message.job = kJob;
    message.answer = what;
    message.epoch = 1;
    message.leader = leader;
    GateDesk at = desk();
    machine->receive(at, from, message);
    step();
  }
  void status_answer(Answer what, JobState state = JobState::kRunning) {
    StatusAnswer message;
    message.job = kJob;
    message.answer = what;
    message.state = state;
    message.epoch = 1;
    GateDesk at = desk();
    machine->receive(at, NodeId{11}, message);
    step();
  }
  template <class Kind>
  std::optional<Kind> last() const {
    for (auto at = proposed.rbegin(); at != proposed.rend(); ++at) {
      if (const auto* found = std::get_if<Kind>(&*at)) return *found;
    }
    return std::nullopt;
  }
  template <class Kind>
  NodeId told_last() const {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at) {
      if (std::holds_alternative<Kind>(at->message)) return at->to;
    }
    return kNoNode;
  }

  base::Instant now{std::chrono::hours(1)};
  GateOptions options;
  GateProposals proposals{kGateA, options};
  GateLeases leases{kGateA, 1, options};
  GatePeers peers{kGateA};
  Bodies bodies{kGateA, test_hash, BodyOptions{}, {}, now};
  DatacenterTable datacenters;
  GateFollowers followers;
  Effects effects;
  std::optional<SlotMachine> machine;
  std::vector<Send> sent;
  std::vector<GateCommand> proposed;
};

TEST_F(SlotMachineTest, CommitsAnOfferBeforeTheDatacenterIsTold) {
  submit_count(kJob, 1);
  begin();
  step();
  ASSERT_TRUE(last<SlotOffered>().has_value());
  EXPECT_EQ(last<SlotOffered>()->datacenter, "east");
  EXPECT_EQ(slot().phase, SlotPhase::kOffered);
  EXPECT_EQ(told_last<Submit>(), NodeId{11});
  answer(Answer::kAccepted);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  EXPECT_EQ(told_last<GateAnnounce>(), NodeId{11});
}

TEST_F(SlotMachineTest, OneThatSaidNoForSureIsPassedOverAndMayBeAskedAgain) {
  submit_count(kJob, 1);
  begin();
  step();
  answer(Answer::kCapacityExceeded);
  EXPECT_EQ(slot().datacenter, "west");
  EXPECT_TRUE(job().abandoned.empty());
  answer(Answer::kCapacityExceeded, NodeId{21});
  pass(seconds(6));
  EXPECT_EQ(slot().datacenter, "west");
  answer(Answer::kCapacityExceeded, NodeId{21});
  EXPECT_EQ(slot().datacenter, "east");
}

TEST_F(SlotMachineTest, OneThatMayHaveAcceptedACopyIsAbandoned) {
  submit_count(kJob, 1);
  begin();
  pass(seconds(1));  // a second copy has gone to the other manager
  answer(Answer::kCapacityExceeded, NodeId{12});
  EXPECT_EQ(slot().datacenter, "west");
  EXPECT_EQ(job().abandoned, std::vector<std::string>{"east"});
}

TEST_F(SlotMachineTest, WhatAFormerOwnerOfferedMayStillBeAccepted) {
  submit_count(kJob, 1);
  offer("east");
  move(kGateB);
  move(kGateA);
  begin();
  step();
  answer(Answer::kCapacityExceeded);
  EXPECT_EQ(job().abandoned, std::vector<std::string>{"east"});
}

TEST_F(SlotMachineTest, AsksEveryManagerBeforeItHoldsTheDatacenterToHaveSaidNo) {
  submit_count(kJob, 1);
  begin();
  step();
  answer(Answer::kQuorumUnavailable, NodeId{11});
  EXPECT_EQ(slot().datacenter, "east");
  EXPECT_EQ(told_last<Submit>(), NodeId{12});
  answer(Answer::kDraining, NodeId{12});
  answer(Answer::kQuorumUnavailable, NodeId{11});
  EXPECT_EQ(slot().datacenter, "west");
  EXPECT_TRUE(job().abandoned.empty());
}

TEST_F(SlotMachineTest, FollowsAManagersPointer) {
  submit(kJob, {"east"});
  begin();
  step();
  answer(Answer::kNotOwner, NodeId{11}, NodeId{12});
  EXPECT_EQ(told_last<Submit>(), NodeId{12});
}

TEST_F(SlotMachineTest, ASilentDatacenterIsGivenUpAfterAWhile) {
  submit_count(kJob, 1);
  begin();
  pass(seconds(29));
  EXPECT_EQ(slot().datacenter, "east");
  pass(seconds(2));
  EXPECT_EQ(slot().datacenter, "west");
  EXPECT_EQ(job().abandoned, std::vector<std::string>{"east"});
}

TEST_F(SlotMachineTest, ADatacenterThatWasNamedIsNotReplaced) {
  submit(kJob, {"east"});
  begin();
  pass(seconds(100));
  EXPECT_EQ(slot().datacenter, "east");
  pass(seconds(210));
  EXPECT_EQ(job().end, JobState::kFailed);
  EXPECT_EQ(slot().reason, "no datacenter accepted it within 300 s");
}

TEST_F(SlotMachineTest, WhatIsInvalidOnceIsInvalidEverywhere) {
  submit_count(kJob, 1);
  begin();
  step();
  answer(Answer::kInvalid);
  EXPECT_EQ(job().end, JobState::kFailed);
  EXPECT_EQ(slot().reason, "datacenter 'east' refused it: invalid");
}

TEST_F(SlotMachineTest, OneThatHasForgottenTheJobHadAcceptedIt) {
  submit_count(kJob, 1);
  begin();
  step();
  answer(Answer::kEnded);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  status_answer(Answer::kEnded, JobState::kCompleted);
  EXPECT_EQ(job().end, JobState::kFailed);
  EXPECT_TRUE(slot().lost);
  EXPECT_EQ(last<SlotLost>()->loss, SlotLoss::kForgotten);
}

TEST_F(SlotMachineTest, OneManagerThatDoesNotKnowTheJobMayJustLag) {
  submit(kJob, {"east"});
  begin();
  step();
  answer(Answer::kAccepted);
  status_answer(Answer::kUnknownJob);
  status_answer(Answer::kUnknownJob);
  status_answer(Answer::kUnknownJob);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  status_answer(Answer::kAccepted);
  pass(seconds(4));
  status_answer(Answer::kUnknownJob);
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  status_answer(Answer::kUnknownJob);
  pass(seconds(4));
  status_answer(Answer::kUnknownJob);
  EXPECT_TRUE(slot().lost);
}

TEST_F(SlotMachineTest, IsLostOnlyIfItWasReallyNotHeardOf) {
  submit(kJob, {"east"});
  begin();
  step();
  answer(Answer::kAccepted);
  pass(seconds(20));
  machine->heard(1, now);
  machine->unheard();
  pass(seconds(5));
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  pass(seconds(26));
  machine->unheard();
  step();
  EXPECT_TRUE(slot().lost);
}

TEST_F(SlotMachineTest, IsNotGivenUpWhileNobodyCanDecideOnIt) {
  submit(kJob, {"east"});
  begin();
  step();
  answer(Answer::kAccepted);
  led_by(kNoNode);
  pass(seconds(31));
  machine->unheard();
  step();
  // Heard of in the last moment.
  machine->heard(1, now);
  led_by(kGateA.node);
  step();
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  led_by(kNoNode);
  pass(seconds(31));
  machine->unheard();
  step();
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  led_by(kGateA.node);
  pass(seconds(1));
  EXPECT_TRUE(slot().lost);
}

TEST_F(SlotMachineTest, FailsNothingWhileNobodyCanDecideOnIt) {
  submit(kJob, {"east"});
  begin();
  step();
  led_by(kNoNode);
  pass(options.dispatch_timeout + seconds(1));
  EXPECT_FALSE(last<SlotFailed>().has_value());
  answer(Answer::kAccepted);
  led_by(kGateA.node);
  pass(seconds(1));
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
}

TEST_F(SlotMachineTest, WaitsForADatacenterFromWhenNoneWasLeft) {
  submit(kJob, {"east"});
  begin();
  led_by(kNoNode);
  // It was to be offered all the time, and nobody could decide on that.
  pass(options.no_datacenter_patience + seconds(1));
  datacenters.died(NodeId{11});
  datacenters.died(NodeId{12});
  now += seconds(6);
  static_cast<void>(proposals.wake(bodies, now, effects));
  effects.clear();
  led_by(kGateA.node);
  step();
  EXPECT_EQ(slot().phase, SlotPhase::kOpen);
  pass(options.no_datacenter_patience + seconds(1));
  EXPECT_EQ(slot().phase, SlotPhase::kEnded);
}

TEST_F(SlotMachineTest, ASupersededManagerIsNotASignOfLife) {
  submit(kJob, {"east"});
  begin();
  step();
  answer(Answer::kAccepted);
  static_cast<void>(machine->take_heard());
  EXPECT_TRUE(machine->heard(2, now));
  EXPECT_TRUE(machine->take_heard());
  EXPECT_FALSE(machine->heard(1, now));
  EXPECT_FALSE(machine->take_heard());
}

TEST_F(SlotMachineTest, ACancelledOfferIsWithdrawn) {
  submit(kJob, {"east"});
  begin();
  step();
  apply(JobCancelled{kJob, kClient, "me", "enough"});
  step();
  EXPECT_NE(told_last<Cancel>(), kNoNode);
  CancelAnswer unknown;
  unknown.job = kJob;
  unknown.answer = Answer::kUnknownJob;
  GateDesk at = desk();
  machine->receive(at, unknown);
  step();
  EXPECT_EQ(job().end, JobState::kCancelled);
}

TEST_F(SlotMachineTest, AnOfferThatWasAcceptedMeanwhileIsCancelledThere) {
  submit(kJob, {"east"});
  begin();
  step();
  apply(JobCancelled{kJob, kClient, "me", "enough"});
  step();
  CancelAnswer requested;
  requested.job = kJob;
  GateDesk at = desk();
  machine->receive(at, requested);
  step();
  EXPECT_EQ(slot().phase, SlotPhase::kAccepted);
  EXPECT_FALSE(job().end.has_value());
  requested.done = true;
  requested.stopped = 3;
  GateDesk later = desk();
  machine->receive(later, requested);
  EXPECT_EQ(machine->stopped(), 3u);
}

}  // namespace
}  // namespace muster::cluster
