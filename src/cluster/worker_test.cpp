#include "cluster/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <set>
#include <vector>

#include "cluster/ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr NodeId kLeader{1};
constexpr NodeId kOther{2};
constexpr Process kThisWorker{NodeId{101}, Life{7}};

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() : worker_(settings(), now_) {
    worker_.wake(now_);
    keep(worker_.take());
    answer(Contact::kAdmitted);
  }

  static WorkerSettings settings() {
    WorkerSettings made;
    made.self = kThisWorker;
    made.cluster = "c";
    made.environment = "e";
    made.cores = 4;
    made.managers = {kLeader, kOther};
    made.hash = test_hash;
    return made;
  }

  void keep(Effects effects) {
    for (Effect& effect : effects) effects_.push_back(std::move(effect));
  }
  void receive(const Message& message, NodeId from = kLeader) {
    worker_.receive(from, message, now_);
    keep(worker_.take());
  }
  // To the last heartbeat.
  void answer(Contact contact, NodeId from = kLeader, std::vector<JobId> over = {}) {
    HeartbeatAnswer message;
    message.life = kThisWorker.life;
    message.sent = last<Heartbeat>()->sent;
    message.contact = contact;
    message.over = std::move(over);
    receive(message, from);
  }
  void pass(base::Duration span) {
    const base::Instant end = now_ + span;
    while (worker_.deadline() <= end) {
      now_ = std::max(now_ + base::Duration(1), worker_.deadline());
      worker_.wake(now_);
      keep(worker_.take());
    }
    now_ = end;
  }
  // The same with a manager that answers every heartbeat.
  void pass_in_contact(base::Duration span) {
    for (const base::Instant end = now_ + span; now_ < end;) {
      pass(milliseconds(500));
      answer(Contact::kAdmitted);
    }
  }

  Dispatch dispatch(std::uint64_t attempt = 1, std::uint32_t cores = 2) {
    Dispatch made;
    made.part = kPart;
    made.fence = {1, attempt};
    made.epoch = 1;
    made.worker_life = kThisWorker.life;
    made.slice = {0, cores, cores};
    made.bundle = {test_hash("bundle"), 6};
    made.workflow = "w0";
    return made;
  }
  // Accepts, with its bundle fetched.
  void run(const Dispatch& order) {
    receive(order);
    receive(BodyPiece{order.bundle.hash, 0, "bundle"});
    worker_.body_stored(order.bundle.hash, true, now_);
    keep(worker_.take());
  }
  void executor_ends(std::optional<PartOutcome> outcome, std::string result = "") {
    ExecutorEnd end;
    end.part = kPart;
    end.fence = last<StartExecutor>()->fence;
    end.outcome = outcome;
    end.result = std::move(result);
    worker_.executor_ended(std::move(end), now_);
    keep(worker_.take());
  }

  template <class T>
  const T* last() const {
    for (auto at = effects_.rbegin(); at != effects_.rend(); ++at) {
      if (const auto* found = std::get_if<T>(&*at)) return found;
    }
    return nullptr;
  }
  template <class T>
    requires std::constructible_from<Message, T>
  const T* last() const {
    for (auto at = effects_.rbegin(); at != effects_.rend(); ++at) {
      const auto* sent = std::get_if<Send>(&*at);
      if (sent == nullptr) continue;
      if (const auto* found = std::get_if<T>(&sent->message)) return found;
    }
    return nullptr;
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(effects_, [](const Effect& effect) {
      const auto* sent = std::get_if<Send>(&effect);
      return sent != nullptr && std::holds_alternative<T>(sent->message);
    }));
  }

  static constexpr PartId kPart{kJob, 0, 0};
  base::Instant now_{std::chrono::hours(1)};
  Worker worker_;
  Effects effects_;
};

TEST_F(WorkerTest, StartsAnExecutorOnceItsBundleIsHere) {
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
  EXPECT_EQ(last<StartExecutor>(), nullptr);
  EXPECT_EQ(last<BodyWanted>()->body.hash, test_hash("bundle"));
  run(dispatch());
  ASSERT_NE(last<StartExecutor>(), nullptr);
  EXPECT_EQ(last<StartExecutor>()->cores, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(worker_.free_cores(), 2u);
}

TEST_F(WorkerTest, AnswersARepeatedOfferLikeTheFirstTimeAndRunsItOnce) {
  run(dispatch());
  effects_.clear();
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
  EXPECT_EQ(last<StartExecutor>(), nullptr);
}

TEST_F(WorkerTest, WhatItRefusedOnceItRefusesForGood) {
  receive(dispatch(1, 5));
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kNoCores);
  receive(dispatch(1, 1));
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kNoCores);
  receive(dispatch(2, 1));
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
}

TEST_F(WorkerTest, RefusesALeaderThatWasSuperseded) {
  Dispatch newer = dispatch();
  newer.epoch = 2;
  run(newer);
  Dispatch older = dispatch();
  older.part.part = 1;
  receive(older, kOther);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kStaleFence);
  effects_.clear();
  receive(StopPart{kPart, {1, 1}, 1, StopReason::kCancelled}, kOther);
  EXPECT_EQ(last<PartStopped>(), nullptr);
  EXPECT_EQ(last<StopExecutor>(), nullptr);
}

TEST_F(WorkerTest, RefusesAnotherLifeAnOlderContextAndAnotherMajor) {
  Dispatch other = dispatch();
  other.worker_life = Life{6};
  receive(other);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kStaleLife);
  Dispatch major = dispatch();
  major.major = 2;
  receive(major);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kOtherMajor);
  Dispatch later = dispatch();
  later.context_version = 2;
  receive(later);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
  Dispatch earlier = dispatch();
  earlier.part.part = 1;
  earlier.context_version = 1;
  receive(earlier);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kOldContext);
}

TEST_F(WorkerTest, RefusesAnOfferFromBeforeItWasAdmittedAnew) {
  HeartbeatAnswer anew;
  anew.life = kThisWorker.life;
  anew.sent = last<Heartbeat>()->sent;
  anew.contact = Contact::kAdmitted;
  anew.admission = 9;
  receive(anew);
  Dispatch late = dispatch();
  late.admission = 8;
  receive(late);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
  // What it refused once it refuses for good.
  late.admission = 9;
  receive(late);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
}

TEST_F(WorkerTest, NeverRunsWhatItWasToldToStopBeforeItHeardOfIt) {
  receive(StopPart{kPart, {1, 1}, 1, StopReason::kRevoked});
  ASSERT_NE(last<PartStopped>(), nullptr);
  EXPECT_FALSE(last<PartStopped>()->finished);
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kStopped);
}

TEST_F(WorkerTest, ConfirmsAStopOnlyWhenTheExecutorHasEnded) {
  run(dispatch());
  receive(StopPart{kPart, {1, 1}, 1, StopReason::kCancelled});
  EXPECT_EQ(last<PartStopped>(), nullptr);
  ASSERT_NE(last<StopExecutor>(), nullptr);
  EXPECT_FALSE(last<StopExecutor>()->kill);
  pass_in_contact(seconds(6));
  EXPECT_TRUE(last<StopExecutor>()->kill);
  executor_ends(std::nullopt);
  ASSERT_NE(last<PartStopped>(), nullptr);
  EXPECT_EQ(worker_.free_cores(), 4u);
}

TEST_F(WorkerTest, KeepsAResultUntilItIsAcknowledged) {
  run(dispatch());
  executor_ends(PartOutcome::kCompleted, "result");
  worker_.body_stored(test_hash("result"), true, now_);
  keep(worker_.take());
  pass_in_contact(seconds(30));
  EXPECT_GE(count<PartResult>(), 4u);
  EXPECT_EQ(last<PartResult>()->body, (BodyRef{test_hash("result"), 6}));
  EXPECT_EQ(worker_.free_cores(), 4u);
  EXPECT_EQ(worker_.parts(), 1u);
  receive(ResultAck{kPart, {1, 1}});
  EXPECT_EQ(worker_.parts(), 0u);
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kFinished);
}

TEST_F(WorkerTest, APartWhoseResultIsTooLargeHasFailedAndSaysWhy) {
  run(dispatch());
  executor_ends(PartOutcome::kCompleted, std::string(kMaxBodyBytes + 1, 'x'));
  pass_in_contact(seconds(1));
  ASSERT_NE(last<PartResult>(), nullptr);
  EXPECT_EQ(last<PartResult>()->outcome, PartOutcome::kFailed);
  EXPECT_EQ(last<PartResult>()->body.size, 0u);
  const std::string& reason = last<PartResult>()->reason;
  EXPECT_NE(reason.find(std::to_string(kMaxBodyBytes + 1) + " bytes"), std::string::npos) << reason;
  EXPECT_NE(reason.find("at most " + std::to_string(kMaxBodyBytes)), std::string::npos) << reason;
}

TEST_F(WorkerTest, AResultOfTheLargestSizeIsKept) {
  run(dispatch());
  const std::string largest(kMaxBodyBytes, 'x');
  executor_ends(PartOutcome::kCompleted, largest);
  worker_.body_stored(test_hash(largest), true, now_);
  keep(worker_.take());
  pass_in_contact(seconds(1));
  EXPECT_EQ(last<PartResult>()->outcome, PartOutcome::kCompleted);
  EXPECT_EQ(last<PartResult>()->body.size, kMaxBodyBytes);
}

TEST_F(WorkerTest, ATimeOutWithATooLargeResultIsStillATimeOut) {
  run(dispatch());
  executor_ends(PartOutcome::kTimeout, std::string(kMaxBodyBytes + 1, 'x'));
  pass_in_contact(seconds(1));
  EXPECT_EQ(last<PartResult>()->outcome, PartOutcome::kTimeout);
  EXPECT_NE(last<PartResult>()->reason.find("too large"), std::string::npos);
}

TEST_F(WorkerTest, RemembersWhatItGaveUpAloneHoweverLongTheManagersWereAway) {
  run(dispatch());
  pass(seconds(33));
  executor_ends(std::nullopt);
  EXPECT_EQ(worker_.parts(), 0u);
  pass(minutes(30));
  // The first to come is an offer of something else, by a manager that did not answer a heartbeat yet.
  Dispatch other = dispatch();
  other.part.part = 7;
  receive(other);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
  answer(Contact::kAdmitted);
  pass_in_contact(minutes(60));
  Dispatch again = dispatch();
  again.epoch = 2;
  receive(again);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
}

TEST_F(WorkerTest, ForgetsAJobSomeTimeAfterItIsToldThatItHasEnded) {
  run(dispatch());
  executor_ends(std::nullopt);
  pass_in_contact(minutes(4));
  EXPECT_TRUE(last<Heartbeat>()->idle.empty());
  pass_in_contact(minutes(2));
  EXPECT_EQ(last<Heartbeat>()->idle, std::vector{kPart.job});
  answer(Contact::kAdmitted, kLeader, {kPart.job});
  pass_in_contact(minutes(9));
  EXPECT_TRUE(last<Heartbeat>()->idle.empty());
  // On its way since before the end.
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kStopped);
  pass_in_contact(minutes(2));
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
}

TEST_F(WorkerTest, KeepsAJobThatComesBackWhileItAsksWhetherItHasEnded) {
  run(dispatch());
  executor_ends(std::nullopt);
  pass_in_contact(minutes(6));
  EXPECT_EQ(last<Heartbeat>()->idle, std::vector{kPart.job});
  run(dispatch(2));
  answer(Contact::kAdmitted, kLeader, {kPart.job});
  executor_ends(std::nullopt);
  pass_in_contact(minutes(30));
  receive(dispatch(2));
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kStopped);
}

TEST_F(WorkerTest, AsksAboutManyIdleJobsInTurn) {
  std::set<JobId> stopped;
  for (std::uint64_t job = 100; job < 100 + 3 * kMaxIdleJobs; ++job) {
    stopped.insert(JobId{job});
    receive(StopPart{{JobId{job}, 0, 0}, {1, 1}, 1, StopReason::kUntracked});
  }
  pass_in_contact(minutes(5));
  std::set<JobId> asked;
  for (int i = 0; i < 4; ++i) {
    pass_in_contact(seconds(1));
    const std::vector<JobId>& idle = last<Heartbeat>()->idle;
    EXPECT_LE(idle.size(), kMaxIdleJobs);
    asked.insert(idle.begin(), idle.end());
  }
  EXPECT_EQ(asked, stopped);
}

TEST_F(WorkerTest, ServesTheBytesOfItsResult) {
  run(dispatch());
  executor_ends(PartOutcome::kCompleted, "result");
  worker_.body_stored(test_hash("result"), true, now_);
  receive(BodyWanted{{test_hash("result"), 6}, 0});
  ASSERT_NE(last<BodyPiece>(), nullptr);
  EXPECT_EQ(last<BodyPiece>()->bytes, "result");
}

TEST_F(WorkerTest, StopsItsPartsAfterThirtySecondsWithoutContact) {
  run(dispatch());
  pass(seconds(29));
  EXPECT_EQ(last<StopExecutor>(), nullptr);
  pass(seconds(2));
  ASSERT_NE(last<StopExecutor>(), nullptr);
  pass(seconds(2));
  EXPECT_TRUE(last<StopExecutor>()->kill);
  executor_ends(std::nullopt);
  EXPECT_TRUE(last<PartStopped>()->alone);
  answer(Contact::kAdmitted);
  receive(dispatch());
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
}

TEST_F(WorkerTest, AnAnswerWithoutQuorumIsNoContact) {
  run(dispatch());
  for (int i = 0; i < 70; ++i) {
    pass(milliseconds(500));
    answer(i % 2 == 0 ? Contact::kNoQuorum : Contact::kEvicted);
  }
  EXPECT_NE(last<StopExecutor>(), nullptr);
}

TEST_F(WorkerTest, ContactCountsFromWhenTheQuestionWasSent) {
  run(dispatch());
  const Heartbeat early = *last<Heartbeat>();
  pass(seconds(25));
  HeartbeatAnswer late;
  late.life = kThisWorker.life;
  late.sent = early.sent;
  late.contact = Contact::kAdmitted;
  receive(late);
  pass(seconds(6));
  EXPECT_NE(last<StopExecutor>(), nullptr);
}

TEST_F(WorkerTest, AfterAPauseItLooksAtTheClockBeforeItListens) {
  run(dispatch());
  now_ += seconds(100);
  Dispatch more = dispatch();
  more.part.part = 1;
  receive(more);
  EXPECT_NE(last<StopExecutor>(), nullptr);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAlone);
}

TEST_F(WorkerTest, ACrashOfTheExecutorIsToldAtOnce) {
  run(dispatch());
  executor_ends(std::nullopt);
  ASSERT_NE(last<PartStopped>(), nullptr);
  EXPECT_FALSE(last<PartStopped>()->alone);
  EXPECT_EQ(worker_.parts(), 0u);
}

TEST_F(WorkerTest, EndsAPartThatOverrunsItsLimitAsTimedOut) {
  Dispatch limited = dispatch();
  limited.run_limit = seconds(10);
  run(limited);
  pass_in_contact(seconds(16));
  ASSERT_NE(last<StopExecutor>(), nullptr);
  executor_ends(PartOutcome::kCancelled);
  pass_in_contact(seconds(1));
  ASSERT_NE(last<PartResult>(), nullptr);
  EXPECT_EQ(last<PartResult>()->outcome, PartOutcome::kTimeout);
}

TEST_F(WorkerTest, CoresThatAPartNeedsNoMoreAreFreeAndReported) {
  run(dispatch(1, 3));
  EXPECT_EQ(worker_.free_cores(), 1u);
  const std::vector<std::uint32_t> given = last<StartExecutor>()->cores;
  const std::vector<std::uint32_t> done = {given[1], 77};
  worker_.executor_leaves(kPart, {1, 2}, done, now_);
  EXPECT_EQ(worker_.free_cores(), 1u) << "another attempt has no say";
  worker_.executor_leaves(kPart, {1, 1}, done, now_);
  worker_.executor_leaves(kPart, {1, 1}, done, now_);
  EXPECT_EQ(worker_.free_cores(), 2u);
  EXPECT_EQ(worker_.cores_done(), 1u);
  pass(seconds(2));
  EXPECT_EQ(last<Heartbeat>()->parts.at(0).cores_done, 1u);
  EXPECT_EQ(last<Heartbeat>()->free_cores, 2u);
  worker_.executor_leaves(kPart, {1, 1}, given, now_);
  EXPECT_EQ(worker_.free_cores(), 3u) << "it ends on the last one";
  Dispatch more = dispatch(1, 3);
  more.part.part = 1;
  receive(more);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kAccepted);
  executor_ends(PartOutcome::kCompleted);
  EXPECT_EQ(worker_.free_cores(), 1u);
  EXPECT_EQ(worker_.cores_done(), 0u);
}

TEST_F(WorkerTest, FlushesTheLatestProgressOfAllPartsInOneMessage) {
  run(dispatch());
  effects_.clear();
  PartProgress progress;
  progress.part = kPart;
  progress.fence = {1, 1};
  for (std::uint64_t i = 1; i <= 4; ++i) {
    progress.counts.iterations = i;
    worker_.executor_progress(progress, now_);
    keep(worker_.take());
    pass(milliseconds(10));
  }
  pass(milliseconds(100));
  EXPECT_EQ(count<Progress>(), 1u);
  EXPECT_EQ(last<Progress>()->parts.at(0).counts.iterations, 4u);
  EXPECT_EQ(last<Progress>()->parts.at(0).sequence, 4u);
}

TEST_F(WorkerTest, DrainsByTakingNothingNewAndEndingWhatRuns) {
  run(dispatch());
  worker_.drain(true, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kDraining);
  Dispatch more = dispatch();
  more.part.part = 1;
  receive(more);
  EXPECT_EQ(last<DispatchAnswer>()->reply, DispatchReply::kDraining);
  EXPECT_FALSE(worker_.drained());
  executor_ends(PartOutcome::kCompleted);
  receive(ResultAck{kPart, {1, 1}});
  EXPECT_TRUE(worker_.drained());
  EXPECT_EQ(worker_.state(), WorkerState::kOffline);
}

TEST_F(WorkerTest, CriticalPressureDrainsUntilItIsOver) {
  const std::size_t before = count<Heartbeat>();
  worker_.health(0.1, 0.1, 8, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kDraining);
  keep(worker_.take());
  EXPECT_EQ(count<Heartbeat>(), before + 1);
  worker_.health(0.9, 0.1, 0, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kDegraded);
  worker_.health(0.1, 0.1, 0, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kHealthy);
}

TEST_F(WorkerTest, TakesNothingNewWhileItsMemoryForFencesIsNearlyFull) {
  WorkerSettings small = settings();
  small.options.fences = {.max_keys = 10, .life = seconds(1)};
  Worker worker(small, now_);
  const auto offer = [&](std::uint32_t part) {
    Dispatch order = dispatch();
    order.part.part = part;
    worker.receive(kLeader, order, now_);
    keep(worker.take());
    return last<DispatchAnswer>()->reply;
  };
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_NE(offer(i), DispatchReply::kDraining);
  EXPECT_EQ(worker.state(), WorkerState::kRegistering);
  EXPECT_EQ(offer(8), DispatchReply::kDraining);
  EXPECT_EQ(worker.state(), WorkerState::kDraining);
  // Once the job has ended and no message of it can be under way any more, it takes parts again.
  now_ += WorkerOptions().leader_memory;
  HeartbeatAnswer over;
  over.life = kThisWorker.life;
  over.contact = Contact::kEvicted;
  over.over = {kJob};
  worker.receive(kLeader, over, now_);
  EXPECT_EQ(worker.state(), WorkerState::kDraining);
  now_ += seconds(1);
  worker.wake(now_);
  EXPECT_EQ(worker.state(), WorkerState::kRegistering);
}

TEST_F(WorkerTest, IsDegradedWhileItsDiskTakesNothingAndTellsAtOnce) {
  const std::size_t before = count<Heartbeat>();
  worker_.body_stored(BodyHash{}, false, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kDegraded);
  keep(worker_.take());
  EXPECT_EQ(count<Heartbeat>(), before + 1);
  EXPECT_EQ(last<Heartbeat>()->state, WorkerState::kDegraded);
  worker_.body_stored(BodyHash{}, true, now_);
  EXPECT_EQ(worker_.state(), WorkerState::kHealthy);
}

TEST_F(WorkerTest, GoesOnToTheNextManagerWhenOneIsSilent) {
  effects_.clear();
  pass(seconds(3));
  std::set<NodeId> asked;
  for (const Effect& effect : effects_) {
    const auto* sent = std::get_if<Send>(&effect);
    if (sent != nullptr && std::holds_alternative<Heartbeat>(sent->message)) asked.insert(sent->to);
  }
  EXPECT_EQ(asked, (std::set<NodeId>{kLeader, kOther}));
}

TEST_F(WorkerTest, StopsWhateverRunsOnGivenCores) {
  run(dispatch());
  const std::vector<std::uint32_t> free = {3};
  worker_.stop_cores(free, now_);
  keep(worker_.take());
  EXPECT_EQ(last<StopExecutor>(), nullptr);
  const std::vector<std::uint32_t> used = {1, 3};
  worker_.stop_cores(used, now_);
  keep(worker_.take());
  EXPECT_NE(last<StopExecutor>(), nullptr);
}

TEST_F(WorkerTest, PollsForCancellationsWhileItHasParts) {
  run(dispatch());
  pass_in_contact(seconds(11));
  EXPECT_GE(count<CancelPoll>(), 2u);
  EXPECT_EQ(last<CancelPoll>()->parts.size(), 1u);
}

}  // namespace
}  // namespace muster::cluster
