#include "cluster/client_calls.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/hash.h"
#include "base/ring.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr JobId kWanted{5};
constexpr CallName kFollow{CallKind::kFollow, kWanted};
constexpr CallName kSubmit{CallKind::kSubmit, kWanted};

class ClientCallsTest : public ::testing::Test {
 protected:
  // The gate that was asked last.
  NodeId asked() {
    for (const Effect& effect : std::exchange(effects, {})) last = std::get<Send>(effect).to;
    return last;
  }
  bool answered(const CallName& name, Answer answer, NodeId leader = kNoNode, base::Duration retry_after = {}) {
    return calls.answered(name, asked(), answer, leader, retry_after, now, effects);
  }
  std::vector<ClientCalls::GaveUp> wait() {
    now = calls.deadline();
    return calls.wake(now, effects);
  }

  base::Instant now{std::chrono::hours(1)};
  Effects effects;
  NodeId last = kNoNode;
  ClientOptions options;
  ClientCalls calls{{NodeId{1}, NodeId{2}, NodeId{3}}, 1, options};
};

TEST_F(ClientCallsTest, AsksTheOwnerByTheRingFirst) {
  base::Ring ring;
  for (std::uint64_t i = 1; i <= 3; ++i) ring.add(NodeId{i});
  calls.ring({1, {NodeId{1}, NodeId{2}, NodeId{3}}});
  for (std::uint64_t job = 0; job < 50; ++job) {
    calls.begin({CallKind::kStatus, JobId{job}}, StatusAsk{JobId{job}}, now, effects);
    EXPECT_EQ(asked(), ring.owner(base::hash_of(job)));
  }
}

TEST_F(ClientCallsTest, FollowsARedirect) {
  calls.begin(kSubmit, Submit{}, now, effects);
  EXPECT_EQ(asked(), NodeId{1});
  EXPECT_FALSE(answered(kSubmit, Answer::kNotOwner, NodeId{3}));
  EXPECT_EQ(asked(), NodeId{3});
  EXPECT_TRUE(answered(kSubmit, Answer::kAccepted));
  EXPECT_FALSE(calls.under_way(kSubmit));
}

TEST_F(ClientCallsTest, AnAnswerOfOneThatWasNotAskedIsIgnored) {
  calls.begin(kSubmit, Submit{}, now, effects);
  EXPECT_FALSE(calls.answered(kSubmit, NodeId{2}, Answer::kInvalid, kNoNode, {}, now, effects));
  EXPECT_TRUE(calls.under_way(kSubmit));
}

TEST_F(ClientCallsTest, GatesThatSendItInCirclesAreGivenTime) {
  calls.begin(kSubmit, Submit{}, now, effects);
  int asks = 0;
  while (calls.under_way(kSubmit) && asks < 1000) {
    if (!effects.empty()) {
      ++asks;
      const NodeId at = asked();
      calls.answered(kSubmit, at, Answer::kNotOwner, at == NodeId{1} ? NodeId{2} : NodeId{1}, {}, now, effects);
    } else {
      wait();
    }
  }
  EXPECT_GT(asks, 40) << "it goes on while membership finds out";
  EXPECT_LT(asks, 1000);
}

TEST_F(ClientCallsTest, AsksTheNextGateWhenOneIsSilent) {
  calls.begin(kFollow, Reconnect{}, now, effects);
  std::set<NodeId> gates = {asked()};
  for (int i = 0; i < 2; ++i) {
    wait();
    gates.insert(asked());
  }
  EXPECT_EQ(gates.size(), 3u);
}

TEST_F(ClientCallsTest, ASubmissionComesToTheOneGateThatAnswersThoughTheOthersAreSilent) {
  const base::Instant began = now;
  calls.begin(kSubmit, Submit{}, now, effects);
  while (asked() != NodeId{3} && calls.under_way(kSubmit)) wait();
  EXPECT_TRUE(calls.under_way(kSubmit));
  EXPECT_LE(now - began, 2 * options.silence);
}

TEST_F(ClientCallsTest, ANewCallBeginsWithGatesThatWereNotSilent) {
  calls.begin(kSubmit, Submit{}, now, effects);
  while (asked() != NodeId{3}) wait();
  EXPECT_TRUE(answered(kSubmit, Answer::kAccepted));
  calls.begin(kFollow, Reconnect{}, now, effects);
  EXPECT_EQ(asked(), NodeId{3});
  // The one that was silent first is asked next.
  wait();
  EXPECT_EQ(asked(), NodeId{1});
  calls.heard(NodeId{2});
  calls.begin(kFollow, Reconnect{}, now, effects);
  EXPECT_EQ(asked(), NodeId{2});
}

TEST_F(ClientCallsTest, AGateThatShowsLifeMayTakeItsTimeOverASubmission) {
  const base::Instant began = now;
  calls.begin(kSubmit, Submit{}, now, effects);
  calls.heard(asked());
  while (asked() == NodeId{1}) wait();
  EXPECT_EQ(now - began, options.submit_timeout);
}

TEST_F(ClientCallsTest, AGateThatWasPassedOverMayStillAccept) {
  calls.begin(kSubmit, Submit{}, now, effects);
  while (asked() == NodeId{1}) wait();
  EXPECT_FALSE(calls.answered(kSubmit, NodeId{1}, Answer::kInvalid, kNoNode, {}, now, effects));
  EXPECT_TRUE(calls.answered(kSubmit, NodeId{1}, Answer::kAccepted, kNoNode, {}, now, effects));
  EXPECT_FALSE(calls.under_way(kSubmit));
}

TEST_F(ClientCallsTest, ASubmissionThatAGateMayHaveTakenOnIsNotToldToHaveFailed) {
  calls.begin(kSubmit, Submit{}, now, effects);
  while (asked() == NodeId{1}) wait();
  std::vector<ClientCalls::GaveUp> given;
  while (given.empty()) {
    if (asked() != NodeId{1}) answered(kSubmit, Answer::kQuorumCircuitOpen);
    given = wait();
  }
  EXPECT_EQ(given[0].last, Answer::kQuorumTimeout);
}

TEST_F(ClientCallsTest, ComesToTheGateWithAQuorumHoweverManyHaveNone) {
  std::vector<NodeId> gates;
  for (std::uint64_t i = 1; i <= 9; ++i) gates.push_back(NodeId{i});
  ClientCalls many(gates, 1, options);
  many.begin(kSubmit, Submit{}, now, effects);
  while (asked() != NodeId{9} && many.under_way(kSubmit)) {
    many.answered(kSubmit, last, Answer::kQuorumUnavailable, kNoNode, {}, now, effects);
    now = many.deadline();
    many.wake(now, effects);
  }
  EXPECT_TRUE(many.answered(kSubmit, NodeId{9}, Answer::kAccepted, kNoNode, {}, now, effects));
}

TEST_F(ClientCallsTest, AsksElsewhereForABundleThatDoesNotArrive) {
  calls.begin(kSubmit, Submit{}, now, effects);
  EXPECT_FALSE(answered(kSubmit, Answer::kBundleMissing));
  wait();
  EXPECT_EQ(asked(), NodeId{2});
}

TEST_F(ClientCallsTest, AsksElsewhereAtOnceWhenAConnectionIsLost) {
  calls.begin(kFollow, Reconnect{}, now, effects);
  const NodeId first = asked();
  calls.lost(first, now, effects);
  EXPECT_NE(asked(), first);
}

TEST_F(ClientCallsTest, AsksElsewhereAtOnceWhenTheConnectionToTheOwnerIsLost) {
  calls.owner(kWanted, NodeId{3});
  calls.begin(kFollow, Reconnect{}, now, effects);
  EXPECT_EQ(asked(), NodeId{3});
  calls.lost(NodeId{3}, now, effects);
  EXPECT_EQ(asked(), NodeId{1});
}

TEST_F(ClientCallsTest, LooksForAJobForOneAndAHalfLeasesAtLeast) {
  const base::Instant began = now;
  calls.begin(kFollow, Reconnect{}, now, effects);
  std::vector<ClientCalls::GaveUp> given;
  while (given.empty()) {
    if (!effects.empty()) {
      answered(kFollow, Answer::kQuorumUnavailable);
    }
    given = wait();
  }
  EXPECT_GE(now - began, seconds(45));
  EXPECT_EQ(given[0].last, Answer::kQuorumUnavailable);
}

TEST_F(ClientCallsTest, TellsTheErrorOfTheQuorumOnceItsTriesAreSpent) {
  calls.begin(kSubmit, Submit{}, now, effects);
  std::vector<ClientCalls::GaveUp> given;
  int asks = 0;
  while (given.empty()) {
    if (!effects.empty()) {
      ++asks;
      answered(kSubmit, Answer::kQuorumTimeout);
    }
    given = wait();
  }
  EXPECT_EQ(asks, 4);
  EXPECT_EQ(given[0].name, kSubmit);
  EXPECT_EQ(given[0].last, Answer::kQuorumTimeout);
}

TEST_F(ClientCallsTest, SaysThatNobodyAnswered) {
  calls.begin(kFollow, Reconnect{}, now, effects);
  std::vector<ClientCalls::GaveUp> given;
  while (given.empty()) given = wait();
  EXPECT_FALSE(given[0].last.has_value());
}

TEST_F(ClientCallsTest, ComesAgainWhenItWasToldTo) {
  calls.begin(kSubmit, Submit{}, now, effects);
  const NodeId gate = asked();
  answered(kSubmit, Answer::kLimited, kNoNode, seconds(7));
  const base::Instant told = now;
  wait();
  EXPECT_GE(now - told, seconds(7));
  EXPECT_EQ(asked(), gate);
}

TEST_F(ClientCallsTest, ARefusalIsFinal) {
  for (const Answer answer : {Answer::kInvalid, Answer::kConflict, Answer::kNoDatacenter, Answer::kEnded}) {
    calls.begin(kSubmit, Submit{}, now, effects);
    EXPECT_TRUE(answered(kSubmit, answer));
  }
}

TEST_F(ClientCallsTest, AnswersOfBeforeTheJobWasTakenOnAreNotBelieved) {
  const CallName status{CallKind::kStatus, kWanted};
  const CallName cancel{CallKind::kCancel, kWanted};
  for (const CallName& name : {status, cancel}) {
    calls.begin(name, StatusAsk{kWanted}, now, effects);
    EXPECT_TRUE(answered(name, Answer::kUnknownJob));
  }
  calls.taken_on(kWanted);
  for (const CallName& name : {status, cancel}) {
    calls.begin(name, StatusAsk{kWanted}, now, effects);
    const NodeId lags = asked();
    EXPECT_FALSE(answered(name, Answer::kUnknownJob));
    EXPECT_TRUE(wait().empty());
    EXPECT_NE(asked(), lags);
    EXPECT_TRUE(answered(name, Answer::kEnded));
  }
}

TEST_F(ClientCallsTest, AJobThatNobodyKnowsAnyMoreIsToldAsUnknown) {
  calls.taken_on(kWanted);
  const CallName status{CallKind::kStatus, kWanted};
  calls.begin(status, StatusAsk{kWanted}, now, effects);
  std::vector<ClientCalls::GaveUp> given_up;
  while (given_up.empty()) {
    EXPECT_FALSE(answered(status, Answer::kUnknownJob));
    given_up = wait();
  }
  EXPECT_EQ(given_up[0].last, Answer::kUnknownJob);
}

TEST_F(ClientCallsTest, AreBounded) {
  std::uint64_t begun = 0;
  while (calls.begin({CallKind::kStatus, JobId{begun}}, StatusAsk{}, now, effects)) ++begun;
  EXPECT_EQ(begun, 4 * kMaxFollowed);
}

}  // namespace
}  // namespace muster::cluster
