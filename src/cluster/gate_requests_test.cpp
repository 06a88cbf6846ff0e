#include "cluster/gate_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cluster/gate.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kCaller{900};

// One gate whose log commits at once, unless told not to.
class GateRequestsTest : public ::testing::Test {
 protected:
  GateRequestsTest() {
    standing.leader = kGateA.node;
    standing.term = 1;
    standing.caught_up = true;
    standing.voters = {kGateA.node};
    gate.standing(standing, now);
    ManagerReport report;
    report.manager = NodeId{11};
    report.datacenter = "east";
    report.leader = true;
    report.has_quorum = true;
    report.workers = 1;
    report.healthy_workers = 1;
    report.free_cores = 4;
    gate.manager(report, now);
    pump();
  }

  static GateSettings settings() {
    GateSettings made;
    made.self = kGateA;
    made.hash = test_hash;
    return made;
  }

  void pump() {
    for (Effects effects = gate.take(); !effects.empty(); effects = gate.take()) {
      for (Effect& effect : effects) {
        if (auto* out = std::get_if<Send>(&effect)) {
          sent.push_back(*out);
        } else if (auto* proposal = std::get_if<Propose>(&effect)) {
          if (commits) gate.applied(++index, proposal->entry, now);
        } else if (auto* stored = std::get_if<StoreBody>(&effect)) {
          gate.body_stored(stored->body.hash, true, now);
        } else if (const auto* note = std::get_if<Note>(&effect)) {
          ++noted[note->what];
        }
      }
    }
  }
  void receive(const Message& message, ClientId client = kClient) {
    gate.receive(kCaller, client, message, now);
    pump();
  }
  void advance(base::Duration span) {
    const base::Instant end = now + span;
    while (gate.deadline() < end) {
      now = std::max(now + milliseconds(1), gate.deadline());
      gate.wake(now);
      pump();
    }
    now = end;
    gate.wake(now);
    pump();
  }
  // Another gate's command, committed.
  void commit(GateCommand command) {
    std::string bytes;
    encode(GateEntry{kGateB, ++others, std::move(command)}, bytes);
    gate.applied(++index, bytes, now);
    pump();
  }

  static Submit submission(JobId job) {
    const std::string bytes = "bundle";
    return {job, ClientId{}, 0, {test_hash(bytes), bytes.size()}, outline({{}}), {"east"}, 0, false};
  }
  void submit(JobId job, ClientId client = kClient) {
    receive(submission(job), client);
    const std::string bytes = "bundle";
    receive(BodyPiece{test_hash(bytes), 0, bytes}, client);
  }
  // The last message of this kind to the caller.
  template <class Kind>
  std::optional<Kind> last() const {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at) {
      if (const auto* found = std::get_if<Kind>(&at->message); found != nullptr && at->to == kCaller) return *found;
    }
    return std::nullopt;
  }

  base::Instant now{std::chrono::hours(1)};
  LogStanding standing;
  Gate gate{settings(), {}, now};
  std::vector<Send> sent;
  std::map<Noted, std::size_t> noted;
  std::uint64_t index = 0;
  std::uint64_t others = 0;
  bool commits = true;
};

TEST_F(GateRequestsTest, ARepeatedSubmitIsTheSameJob) {
  submit(kJob);
  ASSERT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  sent.clear();
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  EXPECT_EQ(gate.ledger().jobs().size(), 1u);
}

TEST_F(GateRequestsTest, ShedsWhatClientsAskForButNeverCancels) {
  submit(kJob);
  gate.loaded(resilience::Load::kStressed);
  receive(StatusAsk{kJob});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kOverloaded);
  EXPECT_GT(last<StatusAnswer>()->retry_after, seconds(0));
  sent.clear();
  receive(Reconnect{kJob, kClient, 0, 0});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kOverloaded);
  gate.loaded(resilience::Load::kOverloaded);
  receive(submission(JobId{2}));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kOverloaded);
  receive(Cancel{kJob, kClient, 0, "", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kAccepted);
  gate.loaded(resilience::Load::kHealthy);
  receive(StatusAsk{kJob});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kAccepted);
}

TEST_F(GateRequestsTest, TheCredentialSaysWhoseJobItIs) {
  Submit forged = submission(kJob);
  forged.client = ClientId{99};
  receive(forged);
  receive(BodyPiece{forged.bundle.hash, 0, "bundle"});
  ASSERT_NE(gate.ledger().job(kJob), nullptr);
  EXPECT_EQ(gate.ledger().job(kJob)->client, kClient);
}

TEST_F(GateRequestsTest, AnotherClientsIdIsAConflict) {
  submit(kJob);
  receive(submission(kJob), ClientId{6});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kConflict);
  receive(StatusAsk{kJob}, ClientId{6});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kConflict);
  receive(Cancel{kJob, kClient, 0, "", ""}, ClientId{6});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kConflict);
  receive(Reconnect{kJob, kClient, 0, 0}, ClientId{6});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kConflict);
}

// A datacenter that was given up runs it on: also when the gates have forgotten the job.
TEST_F(GateRequestsTest, StopsWhatRunsOfAJobThatHasEnded) {
  const NodeId manager{11};
  const auto cancels = [&] {
    std::vector<Cancel> found;
    for (const Send& out : sent) {
      if (const auto* cancel = std::get_if<Cancel>(&out.message); cancel != nullptr && out.to == manager) {
        found.push_back(*cancel);
      }
    }
    sent.clear();
    return found;
  };
  submit(kJob);
  ASSERT_EQ(gate.ledger().job(kJob)->slots[0].phase, SlotPhase::kOffered);
  commit(SlotAccepted{{kJob, 1, 0, 1}});
  commit(SlotLost{{kJob, 1, 0, 1}, gate.ledger().job(kJob)->slots[0].heard, SlotLoss::kUnheard, ""});
  ASSERT_TRUE(gate.ledger().job(kJob)->end);
  sent.clear();
  gate.receive(manager, {}, WindowPush{kJob, 1, {}, {}}, now);
  pump();
  EXPECT_EQ(cancels(), (std::vector<Cancel>{{kJob, kClient, 1, "gate", "the job has ended at the gates"}}));
  commit(GateJobForgotten{kJob});
  ASSERT_NE(gate.ledger().tombstone(kJob), nullptr);
  for (const Message& message : {Message(WindowPush{kJob, 1, {}, {}}), Message(OwnerAsk{kJob})}) {
    gate.receive(manager, {}, message, now);
    pump();
    EXPECT_EQ(cancels(), (std::vector<Cancel>{{kJob, kClient, UINT64_MAX, "gate", "the job has ended at the gates"}}));
  }
  gate.receive(manager, {}, JobEnd{kJob, 1, JobState::kCompleted, "", {}}, now);
  pump();
  EXPECT_TRUE(cancels().empty());
}

TEST_F(GateRequestsTest, SaysWhatIsWrongWithASubmission) {
  Submit message = submission(kJob);
  message.datacenters.clear();
  receive(message);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kInvalid);
  EXPECT_EQ(last<SubmitAnswer>()->reason, "Name a datacenter, or how many.");
  message.datacenters = {"east", "east"};
  receive(message);
  EXPECT_EQ(last<SubmitAnswer>()->reason, "A datacenter is named twice.");
  message.datacenters.clear();
  for (char c = 'A'; c < 'A' + 50; ++c) message.datacenters.emplace_back(kMaxName, c);
  receive(message);
  EXPECT_EQ(last<SubmitAnswer>()->reason, "The names of the datacenters are too long, taken together.");
  message = submission(kJob);
  message.outline.workflows.clear();
  receive(message);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kInvalid);
}

TEST_F(GateRequestsTest, WarnsOfADatacenterThatIsNotWell) {
  submit(kJob);
  EXPECT_EQ(last<SubmitAnswer>()->reason, "");
  Submit message = submission(JobId{78});
  message.datacenters.push_back("west");
  receive(message);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  EXPECT_EQ(last<SubmitAnswer>()->reason, "datacenter 'west' is unhealthy");
}

TEST_F(GateRequestsTest, LimitsCountPerClient) {
  for (std::uint64_t i = 0; i < 60; ++i) receive(submission(JobId{1000 + i}));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kLimited);
  EXPECT_GT(last<SubmitAnswer>()->retry_after, base::Duration::zero());
  submit(kJob, ClientId{6});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
}

TEST_F(GateRequestsTest, WhatAClientSubmitsThroughOtherGatesCountsForIt) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    commit(JobSubmitted{JobId{1000 + i}, kClient, kGateB, RenewalId{i}, body(1), outline({{}}), {"east"}, 0, false});
  }
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kLimited);
}

TEST_F(GateRequestsTest, ALimitedCancellationIsToldSo) {
  submit(kJob);
  for (int i = 0; i < 30; ++i) receive(Cancel{kJob, kClient, 0, "me", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kLimited);
  EXPECT_GT(last<CancelAnswer>()->retry_after, base::Duration::zero());
}

TEST_F(GateRequestsTest, NamesTheTrueOwner) {
  commit(JobSubmitted{kJob, kClient, kGateB, RenewalId{1}, body(1), outline({{}}), {"east"}, 0, false});
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kNotOwner);
  EXPECT_EQ(last<SubmitAnswer>()->leader, kGateB.node);
  receive(StatusAsk{kJob});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kNotOwner);
  EXPECT_EQ(last<StatusAnswer>()->leader, kGateB.node);
  sent.clear();
  receive(Reconnect{kJob, kClient, 0, 0});
  EXPECT_EQ(last<SubmitAnswer>()->leader, kGateB.node);
}

TEST_F(GateRequestsTest, AnyGateTakesACancellation) {
  commit(JobSubmitted{kJob, kClient, kGateB, RenewalId{1}, body(1), outline({{}}), {"east"}, 0, false});
  receive(Cancel{kJob, kClient, 0, "me", "enough"});
  EXPECT_TRUE(gate.ledger().job(kJob)->cancel.has_value());
  EXPECT_TRUE(gate.ledger().job(kJob)->end.has_value());
  EXPECT_TRUE(last<CancelAnswer>()->done);
}

TEST_F(GateRequestsTest, AGateWhoseLeaseHasLapsedSpeaksForNobody) {
  submit(kJob);
  commits = false;
  advance(seconds(31));
  receive(StatusAsk{kJob});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kQuorumUnavailable);
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumUnavailable);
  EXPECT_FALSE(gate.acts_for(kJob, now));
}

TEST_F(GateRequestsTest, TellsTheThreeFailuresOfAQuorumApart) {
  standing.leader = kNoNode;
  standing.caught_up = false;
  gate.standing(standing, now);
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumUnavailable);
  standing.leader = kGateA.node;
  standing.caught_up = true;
  gate.standing(standing, now);
  commits = false;
  for (std::uint64_t i = 0; i < 3; ++i) {
    submit(JobId{100 + i});
    advance(seconds(6));
    EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumTimeout);
  }
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumCircuitOpen);
}

TEST_F(GateRequestsTest, AHalfOpenCircuitLetsOneThroughAndClosesWithItsSuccess) {
  commits = false;
  for (std::uint64_t i = 0; i < 3; ++i) {
    submit(JobId{100 + i});
    advance(seconds(6));
  }
  advance(seconds(10));
  receive(submission(JobId{200}));
  receive(submission(JobId{201}));
  EXPECT_EQ(last<SubmitAnswer>()->job, JobId{201});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumCircuitOpen);
  // The one that is under way is not refused when it is repeated.
  receive(submission(JobId{200}));
  EXPECT_EQ(last<SubmitAnswer>()->job, JobId{201});
  commits = true;
  advance(seconds(3));
  EXPECT_EQ(last<SubmitAnswer>()->job, JobId{200});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  submit(JobId{201});
  EXPECT_EQ(last<SubmitAnswer>()->job, JobId{201});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
}

TEST_F(GateRequestsTest, AHalfOpenCircuitOpensAgainWhenItsTrialFails) {
  commits = false;
  for (std::uint64_t i = 0; i < 3; ++i) {
    submit(JobId{100 + i});
    advance(seconds(6));
  }
  advance(seconds(10));
  submit(JobId{200});
  advance(seconds(6));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumTimeout);
  submit(JobId{201});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumCircuitOpen);
}

TEST_F(GateRequestsTest, EveryQuorumTimeoutIsNoted) {
  submit(kJob);
  ASSERT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  commits = false;
  // Nothing is asked for a client: it is the lease that cannot be renewed.
  advance(seconds(20));
  EXPECT_GT(noted[Noted::kQuorumTimeout], 0u);
}

TEST_F(GateRequestsTest, ASubmissionThatWasGivenUpIsCopiedNoMore) {
  standing.voters = {kGateA.node, kGateB.node, NodeId{303}};
  gate.standing(standing, now);
  submit(kJob);
  advance(seconds(31));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumTimeout);
  sent.clear();
  advance(seconds(60));
  EXPECT_TRUE(
      std::ranges::none_of(sent, [](const Send& each) { return std::holds_alternative<BodyOffer>(each.message); }));
}

TEST_F(GateRequestsTest, ABundleThatDoesNotComeIsToldSo) {
  receive(submission(kJob));
  advance(seconds(31));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kBundleMissing);
  EXPECT_EQ(gate.ledger().job(kJob), nullptr);
}

TEST_F(GateRequestsTest, OnlyItsClientLetsAnEndBeForgotten) {
  submit(kJob);
  receive(Cancel{kJob, kClient, 0, "me", ""});
  advance(seconds(40));
  ASSERT_TRUE(gate.ledger().job(kJob)->end.has_value());
  receive(EndAck{kJob}, ClientId{6});
  EXPECT_FALSE(gate.ledger().job(kJob)->acknowledged);
  receive(EndAck{kJob});
  EXPECT_TRUE(gate.ledger().job(kJob)->acknowledged);
}

TEST_F(GateRequestsTest, AForgottenJobIsAnsweredByItsEnd) {
  submit(kJob);
  receive(Cancel{kJob, kClient, 0, "me", ""});
  advance(seconds(40));
  commit(GateJobForgotten{kJob});
  receive(submission(kJob));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kEnded);
  EXPECT_EQ(last<SubmitAnswer>()->state, JobState::kCancelled);
  receive(Reconnect{kJob, kClient, 0, 0});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kEnded);
  receive(Cancel{kJob, kClient, 0, "me", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kEnded);
}

TEST_F(GateRequestsTest, WhatAClientMayNotSayIsNotHeard) {
  submit(kJob);
  const std::uint64_t before = gate.ledger().index();
  std::string bytes;
  encode(GateEntry{{kCaller, Life{1}}, 1, LeaseMoved{kJob, 2, gate.ledger().job(kJob)->renewal, {}, kGateB}}, bytes);
  receive(Forward{bytes});
  gate.receive(kCaller, ClientId{}, Forward{bytes}, now);
  pump();
  EXPECT_EQ(gate.ledger().index(), before);
  EXPECT_EQ(gate.ledger().job(kJob)->owner, kGateA);
}

}  // namespace
}  // namespace muster::cluster
