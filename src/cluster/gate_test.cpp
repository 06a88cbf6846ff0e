#include "cluster/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/gate_world.h"

namespace muster::cluster {
namespace {

using About = ClientAnswer::About;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class GateTest : public ::testing::Test {
 protected:
  void begin(GateWorldOptions options) { world.emplace(options); }
  void begin(base::Duration run = seconds(5)) {
    GateWorldOptions options;
    options.run = run;
    world.emplace(options);
  }
  bool accepted(JobId job) {
    return world->run_until(
        [&] {
          const ClientAnswer* answer = world->answer(job, About::kSubmit);
          return answer != nullptr && answer->answer == Answer::kAccepted;
        },
        seconds(10));
  }
  bool running(JobId job) {
    return world->run_until([&] { return world->shown[job] > 0; }, seconds(20));
  }
  bool ended(JobId job, base::Duration limit = seconds(90)) {
    return world->run_until([&] { return world->ends.contains(job); }, limit);
  }
  const GateLedgerJob& job(JobId id) { return *world->ledger().job(id); }
  void TearDown() override {
    if (world) EXPECT_EQ(world->broken, std::vector<std::string>());
  }

  std::optional<GateWorld> world;
};

TEST_F(GateTest, RunsAJobToItsEndAndTellsTheClient) {
  begin();
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(accepted(id));
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kCompleted);
  EXPECT_EQ(world->results[id].size(), 1u);
  EXPECT_EQ(world->begun(id), 1u);
  EXPECT_GT(world->shown[id], 0u);
  EXPECT_TRUE(world->run_until([&] { return job(id).acknowledged; }, seconds(5)));
  EXPECT_TRUE(world->run_until([&] { return world->place("east").runs[id].acknowledged; }, seconds(10)));
}

TEST_F(GateTest, TheLastTotalsAreToldBeforeTheEnd) {
  begin();
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->shown[id], world->place("east").runs[id].iterations);
}

TEST_F(GateTest, WhatALostDatacenterCountedIsShownAsLostByTheEnd) {
  begin(seconds(200));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  world->cut_datacenter("east");
  ASSERT_TRUE(ended(id, seconds(120)));
  EXPECT_GT(world->shown[id], 0u);
  EXPECT_EQ(world->shown_as_lost[id], world->shown[id]);
}

TEST_F(GateTest, RunsTheWholeJobAtEveryDatacenterNamed) {
  begin();
  const JobId id = world->submit({"east", "west"});
  ASSERT_TRUE(ended(id));
  const JobEnd& end = world->ends[id];
  EXPECT_EQ(end.state, JobState::kCompleted);
  ASSERT_EQ(end.datacenters.size(), 2u);
  EXPECT_EQ(end.datacenters[0].name, "east");
  EXPECT_EQ(end.datacenters[1].workflows_ended, 1u);
  EXPECT_GT(end.elapsed, seconds(4));
  EXPECT_EQ(world->results[id].size(), 2u);
  EXPECT_EQ(world->begun(id), 2u);
}

TEST_F(GateTest, ResultsAreOnAMajorityOfGatesAndCanBeFetched) {
  begin();
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(ended(id));
  const BodyRef body = world->results[id][0].status.results.at(0);
  world->with_client([&](Client& client) { client.fetch(id, body, world->now()); });
  EXPECT_TRUE(world->run_until([&] { return world->fetched.contains(body.hash); }, seconds(10)));
}

TEST_F(GateTest, EveryGateSendsTheClientToTheOwner) {
  begin();
  std::vector<JobId> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back(world->submit({"east"}));
  std::set<std::size_t> owners;
  for (const JobId id : jobs) {
    ASSERT_TRUE(accepted(id));
    owners.insert(world->owner_of(id));
  }
  EXPECT_GT(owners.size(), 1u);
  EXPECT_GT(world->noted[Noted::kRedirected], 0u);
  for (const JobId id : jobs) EXPECT_TRUE(ended(id));
}

TEST_F(GateTest, AnotherGateTakesOverFromOneThatCrashed) {
  begin(seconds(60));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const NodeId owner = GateWorld::gate_id(world->owner_of(id));
  world->crash(owner);
  ASSERT_TRUE(world->run_until([&] { return job(id).epoch == 2; }, seconds(45)));
  EXPECT_NE(job(id).owner.node, owner);
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kCompleted);
  EXPECT_EQ(world->begun(id), 1u);
  EXPECT_GT(world->noted[Noted::kTookOver], 0u);
}

TEST_F(GateTest, AGateThatWokeUpAfterItsLeaseDoesNothingInTheJobsName) {
  begin(seconds(100));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const std::size_t owner = world->owner_of(id);
  world->pause(GateWorld::gate_id(owner), seconds(45));
  world->run_for(seconds(44));
  EXPECT_EQ(job(id).epoch, 2u);
  world->run_for(seconds(10));
  EXPECT_FALSE(world->gate(owner).acts_for(id, world->now()));
  ASSERT_TRUE(ended(id, seconds(120)));
  EXPECT_EQ(world->begun(id), 1u);
}

TEST_F(GateTest, AGateThatIsCutOffFallsSilentBeforeAnotherTakesOver) {
  begin(seconds(90));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const std::size_t owner = world->owner_of(id);
  world->cut(GateWorld::gate_id(owner));
  ASSERT_TRUE(world->run_until([&] { return job(id).epoch == 2; }, seconds(45)));
  EXPECT_FALSE(world->gate(owner).acts_for(id, world->now()));
  world->heal(GateWorld::gate_id(owner));
  ASSERT_TRUE(ended(id, seconds(120)));
  EXPECT_EQ(world->ends[id].state, JobState::kCompleted);
}

TEST_F(GateTest, AGateThatRestartedTakesItsJobsBackWithTheNextEpoch) {
  begin(seconds(30));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const NodeId owner = GateWorld::gate_id(world->owner_of(id));
  world->crash(owner);
  world->run_for(seconds(2));
  world->restart(owner);
  ASSERT_TRUE(world->run_until([&] { return job(id).epoch == 2; }, seconds(10)));
  EXPECT_EQ(job(id).owner, (Process{owner, Life{2}}));
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->begun(id), 1u);
}

TEST_F(GateTest, AJoiningGateMovesNoLeasedJob) {
  begin(seconds(20));
  world->crash(GateWorld::gate_id(2));
  world->run_for(seconds(7));
  std::vector<JobId> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(world->submit({"east"}));
  for (const JobId id : jobs) ASSERT_TRUE(running(id));
  world->restart(GateWorld::gate_id(2));
  for (const JobId id : jobs) {
    ASSERT_TRUE(ended(id));
    EXPECT_EQ(job(id).epoch, 1u);
  }
}

TEST_F(GateTest, ADrainingGateHandsItsLeasesOver) {
  begin(seconds(20));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const std::size_t owner = world->owner_of(id);
  world->drain(GateWorld::gate_id(owner));
  ASSERT_TRUE(world->run_until([&] { return world->gate(owner).drained(); }, seconds(5)));
  EXPECT_EQ(job(id).epoch, 2u);
  const JobId other = world->submit({"west"});
  ASSERT_TRUE(accepted(other));
  EXPECT_NE(world->owner_of(other), owner);
  ASSERT_TRUE(ended(id));
  ASSERT_TRUE(ended(other));
}

TEST_F(GateTest, ADatacenterThatSaysNoIsPassedOver) {
  begin();
  world->place("east").full = true;
  world->place("east").free_cores = 100;
  world->run_for(seconds(2));
  const JobId id = world->submit({}, 1);
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].datacenters[0].name, "west");
  EXPECT_TRUE(job(id).abandoned.empty());
}

TEST_F(GateTest, AJobThatEveryDatacenterRefusesIsOfferedAgainLater) {
  begin();
  world->place("east").full = true;
  world->place("west").full = true;
  const JobId id = world->submit({}, 1);
  ASSERT_TRUE(accepted(id));
  world->run_for(seconds(20));
  EXPECT_FALSE(job(id).end);
  world->place("west").full = false;
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->begun(id), 1u);
}

TEST_F(GateTest, ADatacenterThatDoesNotAnswerIsGivenUpAndToldSo) {
  begin(seconds(30));
  world->place("east").deaf = true;
  world->place("east").free_cores = 100;
  world->run_for(seconds(2));
  const JobId id = world->submit({}, 1);
  ASSERT_TRUE(running(id) || running(id));
  EXPECT_EQ(job(id).abandoned, std::vector<std::string>{"east"});
  EXPECT_GT(world->noted[Noted::kFellBack], 0u);
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->begun(id), 1u);
}

TEST_F(GateTest, ALostDatacenterIsReportedAndNeverSilentlyRunElsewhere) {
  begin(seconds(60));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  world->cut_datacenter("east");
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kFailed);
  EXPECT_TRUE(world->ends[id].datacenters[0].lost);
  EXPECT_EQ(world->begun(id), 1u);
  const std::uint64_t shown = world->shown[id];
  world->heal_datacenter("east");
  world->run_for(seconds(60));
  EXPECT_TRUE(world->results[id].empty());
  EXPECT_EQ(world->shown[id], shown);
  EXPECT_TRUE(world->place("east").runs[id].end.has_value());
}

TEST_F(GateTest, OneOfTwoDatacentersLostMakesTheJobPartial) {
  begin(seconds(60));
  const JobId id = world->submit({"east", "west"});
  ASSERT_TRUE(running(id));
  world->cut_datacenter("west");
  ASSERT_TRUE(ended(id, seconds(120)));
  EXPECT_EQ(world->ends[id].state, JobState::kPartial);
  EXPECT_EQ(world->results[id].size(), 1u);
}

TEST_F(GateTest, ALostDatacenterIsReplacedIfTheJobAskedForIt) {
  begin(seconds(20));
  const JobId id = world->submit({"east"}, 0, true);
  ASSERT_TRUE(running(id));
  world->cut_datacenter("east");
  ASSERT_TRUE(ended(id, seconds(120)));
  EXPECT_EQ(world->ends[id].state, JobState::kCompleted);
  EXPECT_EQ(world->ends[id].datacenters[0].name, "west");
  EXPECT_EQ(world->begun(id), 2u);
}

TEST_F(GateTest, AJobThatADatacenterForgotIsLostAndNotRunAgain) {
  begin(seconds(30));
  const JobId id = world->submit({}, 1, true);
  ASSERT_TRUE(running(id));
  for (const char* name : {"east", "west"}) {
    auto& runs = world->place(name).runs;
    if (!runs.contains(id)) continue;
    runs[id].end = JobState::kCompleted;
    runs[id].forgotten = true;
  }
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kFailed);
  EXPECT_EQ(world->begun(id), 1u);
}

TEST_F(GateTest, ACancellationIsAnsweredAtOnceAndAgainWhenItIsDone) {
  begin(seconds(60));
  const JobId id = world->submit({"east", "west"});
  ASSERT_TRUE(running(id));
  world->with_client([&](Client& client) { client.cancel(id, "ada", "enough", world->now()); });
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kCancelled);
  ASSERT_TRUE(world->run_until(
      [&] {
        const ClientAnswer* answer = world->answer(id, About::kCancel);
        return answer != nullptr && answer->cancel && answer->cancel->done;
      },
      seconds(5)));
  EXPECT_EQ(world->answer(id, About::kCancel)->cancel->stopped, 2u);
  const auto first = std::ranges::find(world->answers, About::kCancel, &ClientAnswer::about);
  EXPECT_FALSE(first->cancel->done);
}

TEST_F(GateTest, AJobIsCancelledBeforeAnybodyTookIt) {
  begin();
  world->place("east").deaf = true;
  world->place("west").deaf = true;
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(accepted(id));
  world->with_client([&](Client& client) { client.cancel(id, "ada", "enough", world->now()); });
  ASSERT_TRUE(ended(id));
  EXPECT_EQ(world->ends[id].state, JobState::kCancelled);
}

TEST_F(GateTest, FailsAtOnceWhereNoDatacenterIsWell) {
  begin();
  world->cut_datacenter("east");
  world->run_for(seconds(9));
  const JobId id = world->submit({"east"});
  world->run_for(seconds(5));
  const ClientAnswer* answer = world->answer(id, About::kSubmit);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->answer, Answer::kNoDatacenter);
  EXPECT_EQ(answer->reason, "datacenter 'east' has no live manager");
}

TEST_F(GateTest, AClientIsToldThatThereIsNoQuorum) {
  begin();
  world->crash(GateWorld::gate_id(1));
  world->crash(GateWorld::gate_id(2));
  world->run_for(seconds(8));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(world->run_until([&] { return world->answer(id, About::kSubmit) != nullptr; }, seconds(90)));
  EXPECT_EQ(world->answer(id, About::kSubmit)->answer, Answer::kQuorumUnavailable);
}

TEST_F(GateTest, WithoutAQuorumNothingIsOfferedOrAcknowledged) {
  begin(seconds(200));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  const std::size_t owner = world->owner_of(id);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != owner) world->crash(GateWorld::gate_id(i));
  }
  world->run_for(seconds(35));
  EXPECT_FALSE(world->gate(owner).acts_for(id, world->now()));
  for (std::size_t i = 0; i < 3; ++i) world->restart(GateWorld::gate_id(i));
  world->run_for(seconds(15));
  EXPECT_EQ(world->begun(id), 1u);
  EXPECT_FALSE(job(id).end) << "an outage of the gates is not the datacenter's fault";
  EXPECT_TRUE(ended(id, seconds(300)));
}

TEST_F(GateTest, AClientThatAsksTooMuchIsToldSoAndHasItsTurnLater) {
  begin();
  std::vector<JobId> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(world->submit({"east"}));
  for (const JobId id : jobs) {
    world->run_until([&] { return world->answer(id, About::kSubmit) != nullptr; }, seconds(70));
  }
  EXPECT_GT(world->noted[Noted::kLimited], 0u);
  for (const ClientAnswer& answer : world->answers) {
    EXPECT_TRUE(answer.answer == Answer::kAccepted || answer.answer == Answer::kLimited);
  }
}

TEST_F(GateTest, TellsTheClientAtMostTwentyTimesASecond) {
  begin(seconds(20));
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(world->submit({"east", "west"}));
  const std::size_t before = world->updates;
  world->run_for(seconds(10));
  EXPECT_LE(world->updates - before, 205u);
  EXPECT_GT(world->updates - before, 20u);
}

TEST_F(GateTest, AnEndIsKeptUntilItsClientHasIt) {
  begin();
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  world->cut(GateWorld::kClientNode);
  world->run_for(minutes(30));
  ASSERT_TRUE(job(id).end);
  EXPECT_FALSE(job(id).acknowledged);
  world->heal(GateWorld::kClientNode);
  world->with_client([&](Client& client) { client.follow(id, world->now()); });
  ASSERT_TRUE(ended(id));
  EXPECT_TRUE(world->run_until([&] { return world->ledger().tombstone(id) != nullptr; }, minutes(7)));
}

TEST_F(GateTest, AnEndThatNobodyWantsIsForgottenAfterAnHour) {
  begin();
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  world->cut(GateWorld::kClientNode);
  world->run_for(minutes(59));
  EXPECT_NE(world->ledger().job(id), nullptr);
  world->run_for(minutes(3));
  EXPECT_EQ(world->ledger().job(id), nullptr);
  ASSERT_NE(world->ledger().tombstone(id), nullptr);
}

TEST_F(GateTest, ListsTheDatacenters) {
  begin();
  world->with_client([&](Client& client) { client.datacenters(world->now()); });
  ASSERT_TRUE(world->run_until([&] { return world->listed.has_value(); }, seconds(5)));
  ASSERT_EQ(world->listed->size(), 2u);
  EXPECT_EQ((*world->listed)[0].name, "east");
  EXPECT_EQ((*world->listed)[0].health, DatacenterClass::kHealthy);
}

TEST_F(GateTest, TellsTheStatusOfAJob) {
  begin(seconds(20));
  const JobId id = world->submit({"east"});
  ASSERT_TRUE(running(id));
  world->with_client([&](Client& client) { client.status(id, world->now()); });
  ASSERT_TRUE(world->run_until([&] { return world->answer(id, About::kStatus) != nullptr; }, seconds(5)));
  const ClientAnswer* answer = world->answer(id, About::kStatus);
  ASSERT_TRUE(answer->status.has_value());
  EXPECT_EQ(answer->status->state, JobState::kRunning);
  EXPECT_EQ(answer->status->datacenters.at(0).name, "east");
  world->with_client([&](Client& client) { client.status(JobId{4}, world->now()); });
  world->run_for(seconds(2));
  EXPECT_EQ(world->answer(JobId{4}, About::kStatus)->answer, Answer::kUnknownJob);
}

TEST_F(GateTest, NothingIsLostOrDoubledOverLossyLinks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    GateWorldOptions options;
    options.seed = seed;
    options.loss = 0.2;
    begin(options);
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; ++i) jobs.push_back(world->submit({"east", "west"}));
    for (const JobId id : jobs) {
      ASSERT_TRUE(ended(id, minutes(5))) << number(id);
      EXPECT_EQ(world->ends[id].state, JobState::kCompleted);
      EXPECT_EQ(world->results[id].size(), 2u);
    }
    ASSERT_EQ(world->broken, std::vector<std::string>());
  }
}

// Something happens to a gate, or to a datacenter.
void disturb(GateWorld& world, base::Random& random) {
  const NodeId gate = GateWorld::gate_id(random.below(3));
  const std::string name = random.below(2) == 0 ? "east" : "west";
  switch (random.below(12)) {
    case 0:
      return world.crash(gate);
    case 1:
      return world.restart(gate);
    case 2:
      return world.cut(gate);
    case 3:
      return world.heal(gate);
    case 4:
      return world.pause(gate, seconds(5 + static_cast<std::int64_t>(random.below(50))));
    case 5:
      return world.cut_datacenter(name);
    case 6:
      return world.heal_datacenter(name);
    case 7:
      world.place(name).deaf = !world.place(name).deaf;
      return;
    case 8:
      world.place(name).full = !world.place(name).full;
      return;
    case 9:
      return world.lose(random.below(2) == 0 ? 0 : 0.1);
    default:
      return;
  }
}

void heal_all(GateWorld& world) {
  for (std::size_t i = 0; i < 3; ++i) {
    world.heal(GateWorld::gate_id(i));
    world.restart(GateWorld::gate_id(i));
  }
  for (const char* name : {"east", "west"}) {
    world.heal_datacenter(name);
    world.place(name).deaf = false;
    world.place(name).full = false;
  }
  world.lose(0);
}

JobId submit_some(GateWorld& world, base::Random& random) {
  switch (random.below(4)) {
    case 0:
      return world.submit({"east"});
    case 1:
      return world.submit({"west"}, 1);
    case 2:
      return world.submit({"east", "west"});
    default:
      return world.submit({}, 1, true);
  }
}

// Anything may happen to gates and datacenters; then all heals, and every acknowledged job must end.
TEST_F(GateTest, EveryAcknowledgedJobEndsWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    GateWorldOptions options;
    options.seed = seed;
    options.run = seconds(40);
    begin(options);
    base::Random random(seed);
    std::vector<JobId> jobs;
    for (int step = 0; step < 14; ++step) {
      jobs.push_back(submit_some(*world, random));
      disturb(*world, random);
      world->run_for(milliseconds(500 + static_cast<std::int64_t>(random.below(15'000))));
      ASSERT_EQ(world->broken, std::vector<std::string>());
    }
    heal_all(*world);
    world->run_for(minutes(8));
    ASSERT_EQ(world->broken, std::vector<std::string>());
    for (const JobId id : jobs) {
      const GateLedgerJob* known = world->ledger().job(id);
      const ClientAnswer* answer = world->answer(id, About::kSubmit);
      const bool acknowledged = answer != nullptr && answer->answer == Answer::kAccepted;
      if (known != nullptr) {
        EXPECT_TRUE(known->end.has_value()) << number(id);
        EXPECT_LE(world->begun(id), 2u);
      } else {
        EXPECT_TRUE(!acknowledged || world->ledger().tombstone(id) != nullptr) << number(id);
      }
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(world->gate(i).ledger(), world->ledger());
  }
}

}  // namespace
}  // namespace muster::cluster
