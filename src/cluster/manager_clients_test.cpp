// What one manager answers, without a world around it.
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/command_codec.h"
#include "cluster/ledger_fixture.h"
#include "cluster/manager.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

constexpr NodeId kGateNodeA{901};
constexpr NodeId kGateNodeB{902};

class ManagerClientsTest : public ::testing::Test {
 protected:
  ManagerClientsTest() : manager_(settings(), {}, now_) { stand(true); }

  static ManagerSettings settings() {
    ManagerSettings made;
    made.self = kManagerA;
    made.cluster = "c";
    made.environment = "e";
    made.hash = test_hash;
    return made;
  }
  void stand(bool caught_up) {
    manager_.standing({kManagerA.node, 1, caught_up, {kManagerA.node, kManagerB.node}}, now_);
    drain();
  }
  // Bodies are stored, here and by the other manager, and proposals committed at once.
  void drain() {
    for (Effects effects = manager_.take(); !effects.empty(); effects = manager_.take()) {
      for (Effect& effect : effects) {
        if (const auto* stored = std::get_if<StoreBody>(&effect)) {
          manager_.body_stored(stored->body.hash, true, now_);
        } else if (const auto* proposal = std::get_if<Propose>(&effect)) {
          manager_.applied(++index_, proposal->entry, now_);
        } else if (auto* sent = std::get_if<Send>(&effect)) {
          if (const auto* offer = std::get_if<BodyOffer>(&sent->message); offer != nullptr && other_holds_)
            manager_.receive(sent->to, BodyHeld{offer->body.hash, kManagerB.life, offer->round}, now_);
          sent_.push_back(std::move(*sent));
        }
      }
    }
  }
  // The log decides this, in another manager's name.
  void apply(Command command) {
    std::string entry;
    encode(Entry{kManagerB, ++index_, std::move(command)}, entry);
    manager_.applied(index_, entry, now_);
  }
  void receive(NodeId from, const Message& message) {
    manager_.receive(from, message, now_);
    drain();
  }
  void pass(base::Duration span) {
    for (const base::Instant end = now_ + span; now_ < end;) {
      now_ += seconds(1);
      manager_.wake(now_);
      drain();
    }
  }
  static Submit submit(std::uint64_t job, std::uint64_t client = 7) {
    Submit made;
    made.job = JobId{job};
    made.client = ClientId{client};
    made.bundle = {test_hash("bundle"), 6};
    made.outline = outline({{}});
    return made;
  }
  Heartbeat heartbeat(std::uint64_t version, std::uint64_t life = 1) {
    Heartbeat made;
    made.life = Life{life};
    made.cluster = "c";
    made.environment = "e";
    made.version = version;
    made.cores = 4;
    made.free_cores = 4;
    return made;
  }
  template <class T>
  const T* last() const {
    for (auto at = sent_.rbegin(); at != sent_.rend(); ++at) {
      if (const auto* found = std::get_if<T>(&at->message)) return found;
    }
    return nullptr;
  }
  template <class T>
  std::size_t count(NodeId to) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        sent_, [&](const Send& sent) { return sent.to == to && std::holds_alternative<T>(sent.message); }));
  }

  base::Instant now_{std::chrono::hours(1)};
  std::uint64_t index_ = 0;
  bool other_holds_ = true;  // what it is offered
  Manager manager_;
  std::vector<Send> sent_;
};

TEST_F(ManagerClientsTest, AcknowledgesASubmissionOnceItIsCommitted) {
  receive(kGateNodeA, submit(1));
  EXPECT_EQ(last<SubmitAnswer>(), nullptr);
  EXPECT_EQ(count<BodyWanted>(kGateNodeA), 1u);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  ASSERT_NE(last<SubmitAnswer>(), nullptr);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
  EXPECT_EQ(last<SubmitAnswer>()->epoch, 1u);
  EXPECT_NE(manager_.ledger().job(JobId{1}), nullptr);
}

TEST_F(ManagerClientsTest, RefusesAnIdThatBelongsToAnotherClient) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  receive(kGateNodeA, submit(1, 8));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kConflict);
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{8}, 0, "eve", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kConflict);
}

TEST_F(ManagerClientsTest, CountsSubmitsPerClientThroughWhicheverGate) {
  for (std::uint64_t i = 0; i < 50; ++i) receive(i % 2 == 0 ? kGateNodeA : kGateNodeB, submit(1 + i));
  sent_.clear();
  receive(kGateNodeB, submit(100));
  ASSERT_NE(last<SubmitAnswer>(), nullptr);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kLimited);
  EXPECT_GT(last<SubmitAnswer>()->retry_after, base::Duration::zero());
  receive(kGateNodeB, submit(101, 8));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kLimited);
  EXPECT_EQ(last<SubmitAnswer>()->job, JobId{100});
}

TEST_F(ManagerClientsTest, TakesNoJobOnWithoutAVote) {
  manager_.standing({kManagerB.node, 2, true, {kManagerB.node, NodeId{103}, NodeId{104}}}, now_);
  receive(kGateNodeA, submit(1));
  ASSERT_NE(last<SubmitAnswer>(), nullptr);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumUnavailable);
}

TEST_F(ManagerClientsTest, AQuestionTooManyIsToldWhenToComeAgain) {
  for (std::uint64_t i = 0; i < 100; ++i) receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{7}});
  EXPECT_NE(last<StatusAnswer>()->answer, Answer::kLimited);
  receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{7}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kLimited);
  EXPECT_GT(last<StatusAnswer>()->retry_after, base::Duration::zero());
}

TEST_F(ManagerClientsTest, SaysThatTheQueueIsFullAndWhenToComeAgain) {
  for (std::uint64_t i = 0; i < kMaxQueued; ++i) {
    receive(kGateNodeA, submit(1 + i, 100 + i));
    receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  }
  EXPECT_EQ(manager_.ledger().queued(), kMaxQueued);
  EXPECT_EQ(last<SubmitAnswer>()->position, kMaxQueued);
  receive(kGateNodeA, submit(1000, 1000));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kCapacityExceeded);
  EXPECT_GT(last<SubmitAnswer>()->retry_after, base::Duration::zero());
}

TEST_F(ManagerClientsTest, WithoutQuorumItAcceptsNothingAndIsNoContact) {
  stand(false);
  receive(kGateNodeA, submit(1));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumUnavailable);
  receive(NodeId{101}, heartbeat(1));
  EXPECT_EQ(last<HeartbeatAnswer>()->contact, Contact::kNoQuorum);
}

TEST_F(ManagerClientsTest, WhatIsUnderWayWithoutAQuorumMayBeAcceptedYet) {
  receive(kGateNodeA, submit(1));
  stand(false);
  receive(kGateNodeA, submit(1));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumTimeout);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  stand(true);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
}

TEST_F(ManagerClientsTest, WithoutAQuorumItSendsClientsThatComeBackElsewhere) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  stand(false);
  Reconnect back;
  back.job = JobId{1};
  back.client = ClientId{7};
  receive(kGateNodeA, back);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kQuorumUnavailable);
  stand(true);
  receive(kGateNodeA, back);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kAccepted);
}

// Whoever takes over may have restarted since, and knows of the acceptance from a snapshot.
TEST_F(ManagerClientsTest, AJobsTimeLimitCountsOnUnderAnotherLeader) {
  JobAccepted accepted{JobId{1}, ClientId{7}, kGateNodeA, 0, kManagerB, body(1), outline({{}})};
  accepted.outline.time_limit = seconds(50);
  apply(accepted);
  pass(seconds(4));
  apply(JobOwner{JobId{1}, kManagerA, 2, seconds(30)});
  pass(seconds(18));
  EXPECT_FALSE(manager_.ledger().job(JobId{1})->cancel);
  pass(seconds(4));
  ASSERT_TRUE(manager_.ledger().job(JobId{1})->cancel);
  EXPECT_EQ(manager_.ledger().job(JobId{1})->cancel->reason, given_up::kTimeLimit);
}

TEST_F(ManagerClientsTest, SaysHowOldAJobIsThatItGivesAway) {
  apply(JobAccepted{JobId{1}, ClientId{7}, kGateNodeA, 0, kManagerB, body(1), outline({{}})});
  pass(seconds(8));
  manager_.member(kManagerB.node, NodeRole::kManager, Liveness::kDead, std::nullopt, now_);
  pass(seconds(3));
  ASSERT_EQ(manager_.ledger().job(JobId{1})->owner, kManagerA);
  EXPECT_GE(manager_.ledger().job(JobId{1})->elapsed, seconds(8));
  EXPECT_LE(manager_.ledger().job(JobId{1})->elapsed, seconds(11));
}

TEST_F(ManagerClientsTest, AJobIsAsOldInASnapshotAsItWasTakenOver) {
  JobAccepted accepted{JobId{1}, ClientId{7}, kGateNodeA, 0, kManagerB, body(1), outline({{}})};
  accepted.outline.time_limit = seconds(50);
  apply(accepted);
  apply(JobOwner{JobId{1}, kManagerA, 2, seconds(45)});
  Manager other(settings(), {}, now_);
  other.standing({kManagerA.node, 1, true, {kManagerA.node}}, now_);
  ASSERT_TRUE(other.restored(manager_.snapshot(), now_));
  const auto gives_up = [&] {
    other.wake(now_);
    const Effects effects = other.take();
    return std::ranges::any_of(effects, [](const Effect& effect) {
      const auto* proposal = std::get_if<Propose>(&effect);
      const auto entry = proposal == nullptr ? std::nullopt : std::optional(decode_entry(proposal->entry));
      return entry && *entry && std::holds_alternative<CancelRequested>((*entry)->command);
    });
  };
  now_ += seconds(4);
  EXPECT_FALSE(gives_up());
  now_ += seconds(2);
  EXPECT_TRUE(gives_up());
}

// No body can reach a majority meanwhile, and the minute is over all the same.
TEST_F(ManagerClientsTest, TimeWithoutAQuorumCountsAgainstALayersContext) {
  Submit of_two = submit(1);
  of_two.outline = outline({{}, {0}});
  receive(kGateNodeA, of_two);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  other_holds_ = false;
  apply(WorkerAdmitted{{NodeId{102}, Life{1}}, 4});
  apply(Provision{JobId{1}, 1, 0, {{0, {NodeId{102}, Life{1}}, 4, 1}}});
  apply(ResultHeld{{JobId{1}, 0, 0}, {1, 1}, PartOutcome::kCompleted, {}, {1, 1, 0}, ""});
  pass(seconds(10));
  stand(false);
  pass(seconds(45));
  ASSERT_NE(manager_.ledger().job(JobId{1}), nullptr);
  EXPECT_FALSE(manager_.ledger().job(JobId{1})->cancel);
  pass(seconds(10));
  stand(true);
  ASSERT_TRUE(manager_.ledger().job(JobId{1})->cancel);
  EXPECT_EQ(manager_.ledger().job(JobId{1})->cancel->reason, given_up::kContextNotKept);
  EXPECT_EQ(manager_.ledger().job(JobId{1})->workflows[0].state, WorkflowState::kCompleted) << "what is held stays";
}

TEST_F(ManagerClientsTest, TellsAClientThatComesBackWhatItMayHaveMissed) {
  const NodeId client{201};
  Submit of_two = submit(1);
  of_two.outline = outline({{}, {}});
  receive(client, of_two);
  receive(client, BodyPiece{test_hash("bundle"), 0, "bundle"});
  apply(WorkerAdmitted{{NodeId{102}, Life{1}}, 4});
  apply(Provision{JobId{1}, 1, 0, {{0, {NodeId{102}, Life{1}}, 4, 1}}});
  apply(ResultHeld{{JobId{1}, 0, 0}, {1, 1}, PartOutcome::kCompleted, {}, {1, 1, 0}, ""});
  pass(seconds(1));
  EXPECT_EQ(count<WorkflowEnded>(client), 1u);
  receive(client, Reconnect{JobId{1}, ClientId{7}, 0, 0});
  pass(seconds(1));
  EXPECT_EQ(count<WorkflowEnded>(client), 2u);
}

TEST_F(ManagerClientsTest, KeepsWhatTheLogMayNameWhileItHasNoQuorum) {
  receive(kManagerB.node, BodyOffer{{test_hash("theirs"), 6}, 1});
  receive(kManagerB.node, BodyPiece{test_hash("theirs"), 0, "theirs"});
  stand(false);
  const auto drops = [&](base::Duration span) {
    std::size_t found = 0;
    for (const base::Instant end = now_ + span; now_ < end; now_ += std::chrono::seconds(10)) {
      manager_.wake(now_);
      for (const Effect& effect : manager_.take()) found += std::holds_alternative<DropBody>(effect) ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(drops(std::chrono::hours(2)), 0u);
  manager_.standing({kManagerA.node, 1, true, {kManagerA.node, kManagerB.node}}, now_);
  EXPECT_EQ(drops(std::chrono::minutes(2)), 1u);
}

TEST_F(ManagerClientsTest, AdmitsAWorkerThroughTheLog) {
  receive(NodeId{101}, heartbeat(1));
  EXPECT_EQ(last<HeartbeatAnswer>()->contact, Contact::kPending);
  receive(NodeId{101}, heartbeat(2));
  EXPECT_EQ(last<HeartbeatAnswer>()->contact, Contact::kAdmitted);
  now_ += seconds(1);
  receive(NodeId{101}, heartbeat(1, 2));
  receive(NodeId{101}, heartbeat(3));
  EXPECT_EQ(last<HeartbeatAnswer>()->contact, Contact::kStaleLife);
}

TEST_F(ManagerClientsTest, NamesWhatItExpectedOfAStranger) {
  Heartbeat other = heartbeat(1);
  other.cluster = "d";
  receive(NodeId{101}, other);
  EXPECT_EQ(last<HeartbeatAnswer>()->contact, Contact::kMismatch);
  EXPECT_NE(last<HeartbeatAnswer>()->reason.find("'c'"), std::string::npos);
  EXPECT_NE(last<HeartbeatAnswer>()->reason.find("'d'"), std::string::npos);
}

TEST_F(ManagerClientsTest, ShedsSubmitsWhenOverloadedButNeverCancels) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  manager_.loaded(resilience::Load::kOverloaded);
  receive(kGateNodeA, submit(2));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kOverloaded);
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 0, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kAccepted);
  EXPECT_TRUE(last<CancelAnswer>()->done);
}

// A gate takes a datacenter that it does not hear of for lost, with all that it runs.
TEST_F(ManagerClientsTest, AnswersAGateThatAsksForItselfHoweverLoadedItIs) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  manager_.loaded(resilience::Load::kOverloaded);
  receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{7}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kOverloaded);
  EXPECT_GT(last<StatusAnswer>()->retry_after, seconds(0));
  // That it asks in nobody's name makes no gate of a client.
  receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kOverloaded);
  manager_.member(kGateNodeA, NodeRole::kGate, Liveness::kAlive, std::nullopt, now_);
  for (int i = 0; i < 200; ++i) receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kAccepted);
  EXPECT_EQ(count<StatusAnswer>(kGateNodeA), 202u);
}

TEST_F(ManagerClientsTest, KnowsAGateByTheJobThatItBrought) {
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  manager_.loaded(resilience::Load::kOverloaded);
  receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kAccepted);
  receive(kGateNodeB, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kOverloaded);
}

TEST_F(ManagerClientsTest, HearsWhoOwnsAJobNowHoweverLoadedItIs) {
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  manager_.loaded(resilience::Load::kOverloaded);
  receive(kGateNodeB, GateAnnounce{JobId{1}, 4});
  receive(kGateNodeB, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kAccepted);
}

TEST_F(ManagerClientsTest, WhatGatesStopIsNotHeldAgainstTheJobsClient) {
  manager_.member(kGateNodeA, NodeRole::kGate, Liveness::kAlive, std::nullopt, now_);
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  for (int i = 0; i < 100; ++i) {
    receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, UINT64_MAX, "gate", ""});
    ASSERT_NE(last<CancelAnswer>()->answer, Answer::kLimited) << i;
  }
  receive(kGateNodeB, Cancel{JobId{1}, ClientId{7}, 0, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kEnded);
  // Who only says that it is a gate is limited.
  for (int i = 0; i < 20; ++i) receive(kGateNodeB, Cancel{JobId{1}, ClientId{7}, UINT64_MAX, "eve", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kLimited);
}

TEST_F(ManagerClientsTest, TellsWhoNamesNobodyThatAJobHasEndedAndNoMore) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 0, "ada", ""});
  apply(JobForgotten{JobId{1}});
  receive(kGateNodeB, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kEnded);
  EXPECT_EQ(last<StatusAnswer>()->state, JobState::kSubmitted);
  receive(kGateNodeB, submit(1, 8));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kConflict);
  EXPECT_EQ(last<SubmitAnswer>()->state, JobState::kSubmitted);
}

TEST_F(ManagerClientsTest, LimitsWhoAsksInNobodysNameByItsNode) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  for (int i = 0; i < 101; ++i) receive(kGateNodeA, StatusAsk{JobId{1}, ClientId{}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kLimited);
  receive(kGateNodeB, StatusAsk{JobId{1}, ClientId{7}});
  EXPECT_EQ(last<StatusAnswer>()->answer, Answer::kAccepted);
}

TEST_F(ManagerClientsTest, TellsAJobsStatusToNoOtherClient) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  const auto asked = [&](ClientId client) {
    receive(kGateNodeA, StatusAsk{JobId{1}, client});
    return *last<StatusAnswer>();
  };
  EXPECT_EQ(asked(ClientId{7}).answer, Answer::kAccepted);
  EXPECT_EQ(asked(ClientId{8}).answer, Answer::kConflict);
  EXPECT_TRUE(asked(ClientId{}).workflows.empty());
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 0, "ada", ""});
  apply(JobForgotten{JobId{1}});
  ASSERT_NE(manager_.ledger().tombstone(JobId{1}), nullptr);
  EXPECT_EQ(asked(ClientId{7}).answer, Answer::kEnded);
  EXPECT_EQ(asked(ClientId{8}).answer, Answer::kConflict);
  EXPECT_EQ(asked(ClientId{8}).state, JobState::kSubmitted);
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{8}, 0, "eve", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kConflict);
  receive(kGateNodeA, Reconnect{JobId{1}, ClientId{8}, 0, 0});
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kConflict);
}

TEST_F(ManagerClientsTest, ADrainingManagerSendsClientsElsewhere) {
  manager_.drain(now_);
  receive(kGateNodeA, submit(1));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kDraining);
}

TEST_F(ManagerClientsTest, GivesUpABundleThatDoesNotArrive) {
  receive(kGateNodeA, submit(1));
  for (int i = 0; i < 40; ++i) {
    now_ += seconds(1);
    manager_.wake(now_);
    drain();
  }
  ASSERT_NE(last<SubmitAnswer>(), nullptr);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kBundleMissing);
  sent_.clear();
  now_ += seconds(5);
  manager_.wake(now_);
  drain();
  EXPECT_EQ(count<BodyWanted>(kGateNodeA), 0u);
}

TEST_F(ManagerClientsTest, ListensToTheLatestOwnerOfAJobOnly) {
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  receive(kGateNodeB, GateAnnounce{JobId{1}, 4});
  receive(kGateNodeA, first);
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kNotOwner);
  EXPECT_EQ(last<SubmitAnswer>()->leader, kGateNodeB);
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 3, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kNotOwner);
  receive(kGateNodeB, Cancel{JobId{1}, ClientId{7}, 4, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kAccepted);
  EXPECT_EQ(count<JobEnd>(kGateNodeB), 1u);
  EXPECT_EQ(count<JobEnd>(kGateNodeA), 0u);
}

// The gate that brought it is gone, and has perhaps given it up before.
TEST_F(ManagerClientsTest, AsksTheGatesForTheOwnerOfAJobThatNoneSpeaksFor) {
  for (const NodeId gate : {kGateNodeA, kGateNodeB}) {
    manager_.member(gate, NodeRole::kGate, Liveness::kAlive, std::nullopt, now_);
  }
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  pass(seconds(10));
  receive(kGateNodeA, GateAnnounce{JobId{1}, 3});
  pass(seconds(29));
  EXPECT_EQ(count<OwnerAsk>(kGateNodeA) + count<OwnerAsk>(kGateNodeB), 0u);
  pass(seconds(2));
  EXPECT_EQ(count<OwnerAsk>(kGateNodeA), 1u);
  // What another says of it is no word of its owner.
  receive(kGateNodeB, OwnerIs{JobId{1}, kGateNodeA, 3});
  pass(seconds(10));
  EXPECT_EQ(count<OwnerAsk>(kGateNodeA), 2u);
  EXPECT_EQ(count<OwnerAsk>(kGateNodeB), 1u);
  receive(kGateNodeB, GateAnnounce{JobId{1}, UINT64_MAX});
  receive(kGateNodeB, Cancel{JobId{1}, ClientId{7}, UINT64_MAX, "gate", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kAccepted);
  pass(seconds(60));
  EXPECT_EQ(count<JobEnd>(kGateNodeA), 0u);
  EXPECT_GT(count<JobEnd>(kGateNodeB), 0u);
}

TEST_F(ManagerClientsTest, AsksTheGateThatItKnowsAgainWhereMembershipKnowsNone) {
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  pass(seconds(61));
  EXPECT_GE(count<OwnerAsk>(kGateNodeA), 5u);
}

TEST_F(ManagerClientsTest, AsksNobodyForTheOwnerOfAJobWithoutGates) {
  manager_.member(kGateNodeA, NodeRole::kGate, Liveness::kAlive, std::nullopt, now_);
  receive(kGateNodeB, submit(1));
  receive(kGateNodeB, BodyPiece{test_hash("bundle"), 0, "bundle"});
  pass(seconds(50));
  EXPECT_EQ(count<OwnerAsk>(kGateNodeA) + count<OwnerAsk>(kGateNodeB), 0u);
}

TEST_F(ManagerClientsTest, AWorkerSpeaksNeitherForAGateNorForAClient) {
  const NodeId worker{101};
  receive(worker, heartbeat(1));
  Submit first = submit(1);
  first.origin_epoch = 3;
  receive(kGateNodeA, first);
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  receive(worker, GateAnnounce{JobId{1}, 99});
  receive(worker, Cancel{JobId{2}, ClientId{7}, 5, "eve", ""});
  EXPECT_EQ(last<CancelAnswer>(), nullptr);
  receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 3, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kAccepted);
}

TEST_F(ManagerClientsTest, AWorkerThatChangesItsMindAllTheTimeDoesNotFillTheLog) {
  const NodeId worker{101};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    Heartbeat beat = heartbeat(i, i);
    beat.cores = static_cast<std::uint32_t>(i);
    receive(worker, beat);
    now_ += std::chrono::milliseconds(10);
  }
  EXPECT_EQ(index_, 1u);
  now_ += ManagerOptions{}.admission_pause;
  receive(worker, heartbeat(21, 21));
  EXPECT_EQ(index_, 2u);
  EXPECT_TRUE(manager_.ledger().admitted({worker, Life{21}}));
}

TEST_F(ManagerClientsTest, ARepeatedSubmitOfAFormerOwnerChangesNothing) {
  Submit later = submit(1);
  later.origin_epoch = 4;
  Submit former = submit(1);
  former.origin_epoch = 3;
  receive(kGateNodeB, later);
  receive(kGateNodeA, former);
  receive(kGateNodeB, BodyPiece{test_hash("bundle"), 0, "bundle"});
  EXPECT_EQ(count<SubmitAnswer>(kGateNodeB), 1u);
  EXPECT_EQ(count<SubmitAnswer>(kGateNodeA), 0u);
  ASSERT_NE(manager_.ledger().job(JobId{1}), nullptr);
  EXPECT_EQ(manager_.ledger().job(JobId{1})->origin, kGateNodeB);
  EXPECT_EQ(manager_.ledger().job(JobId{1})->origin_epoch, 4u);
}

TEST_F(ManagerClientsTest, SaysThatAJobHadEndedBeforeItsCancellationWasCommitted) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  const PartId part{JobId{1}, 0, 0};
  apply(WorkerAdmitted{{NodeId{102}, Life{1}}, 4});
  apply(Provision{JobId{1}, 1, 0, {{0, {NodeId{102}, Life{1}}, 4, 1}}});
  manager_.receive(kGateNodeA, Cancel{JobId{1}, ClientId{7}, 0, "ada", ""}, now_);
  apply(ResultHeld{part, {1, 1}, PartOutcome::kCompleted, {}, {1, 1, 0}, ""});
  apply(JobEnded{JobId{1}, 1, JobState::kCompleted, ""});
  drain();
  ASSERT_NE(last<CancelAnswer>(), nullptr);
  EXPECT_EQ(count<CancelAnswer>(kGateNodeA), 1u);
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kEnded);
  EXPECT_TRUE(last<CancelAnswer>()->done);
}

TEST_F(ManagerClientsTest, AGatesCancellationOfAnUnknownJobKeepsItOut) {
  receive(kGateNodeB, Cancel{JobId{1}, ClientId{7}, 2, "ada", ""});
  EXPECT_EQ(last<CancelAnswer>()->answer, Answer::kUnknownJob);
  EXPECT_TRUE(last<CancelAnswer>()->done);
  receive(kGateNodeA, submit(1));
  EXPECT_EQ(last<SubmitAnswer>()->answer, Answer::kEnded);
}

TEST_F(ManagerClientsTest, ProposesForOthersOnlyWhatCanBeReadAndInTheirName) {
  std::string entry;
  encode(Entry{kManagerB, 1, WorkerAdmitted{{NodeId{102}, Life{1}}, 4}}, entry);
  receive(NodeId{500}, Forward{entry});
  receive(kManagerB.node, Forward{"nonsense"});
  EXPECT_EQ(index_, 0u);
  receive(kManagerB.node, Forward{entry});
  EXPECT_EQ(index_, 1u);
  std::string forged;
  encode(Entry{kManagerA, 1, WorkerAdmitted{{NodeId{103}, Life{1}}, 4}}, forged);
  receive(kManagerB.node, Forward{forged});
  EXPECT_EQ(index_, 1u);
}

TEST_F(ManagerClientsTest, RandomMessagesOfStrangersChangeNothing) {
  receive(kGateNodeA, submit(1));
  receive(kGateNodeA, BodyPiece{test_hash("bundle"), 0, "bundle"});
  const std::uint64_t before = manager_.ledger().digest();
  const PartId part{JobId{1}, 0, 0};
  const NodeId stranger{666};
  receive(stranger, PartStopped{part, {1, 1}, Life{1}, false, false});
  receive(stranger, DispatchAnswer{part, {1, 1}, DispatchReply::kStopped, 0});
  PartResult result;
  result.worker = stranger;
  result.part = part;
  result.fence = {9, 9};
  receive(stranger, result);
  receive(stranger, BodyHeld{test_hash("bundle"), Life{9}});
  receive(stranger, ManagerState{Life{9}, 0, 0, true});
  receive(stranger, EndAck{JobId{1}});
  EXPECT_EQ(manager_.ledger().digest(), before);
}

}  // namespace
}  // namespace muster::cluster
