#include "resilience/call_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Instant;
using base::NodeId;
using namespace std::chrono_literals;

constexpr NodeId kPeer{7};
constexpr RetryOptions kTwice{.attempts = 2, .base = 1s, .jitter = Jitter::kNone};
using Table = CallTable<std::string>;

CallId begin(Table& table, std::string context = "ping", const RetryOptions& retries = kTwice) {
  return table.begin(kPeer, kNoKey, 500ms, retries, std::move(context), kStart).value().id;
}

TEST(CallTable, AnAnswerEndsTheCallAndGivesItsContextBack) {
  Table table(1);
  const CallId id = begin(table, "dispatch");
  EXPECT_EQ(*table.context(id), "dispatch");
  EXPECT_EQ(table.answered(id, kPeer), "dispatch");
  EXPECT_EQ(table.answered(id, kPeer), std::nullopt);
  EXPECT_EQ(table.context(id), nullptr);
  EXPECT_EQ(table.deadline(), base::kNever);
}

TEST(CallTable, AnAnswerFromSomebodyElseCountsForNothing) {
  Table table(1);
  const CallId id = begin(table);
  EXPECT_EQ(table.answered(id, NodeId{8}), std::nullopt);
  EXPECT_EQ(table.size(), 1u);
}

TEST(CallTable, SendsAgainAfterTheTimeOutAndTheWait) {
  Table table(1);
  const CallId id = begin(table);
  EXPECT_EQ(table.deadline(), kStart + 500ms);
  EXPECT_TRUE(table.due(kStart + 500ms).empty());
  EXPECT_EQ(table.deadline(), kStart + 1500ms);
  const auto due = table.due(kStart + 1500ms);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].id, id);
  EXPECT_EQ(due[0].peer, kPeer);
  EXPECT_FALSE(due[0].given_up.has_value());
  EXPECT_EQ(table.deadline(), kStart + 2000ms);
}

TEST(CallTable, GivesUpAfterTheLastTry) {
  Table table(1);
  begin(table, "dispatch");
  table.due(kStart + 500ms);
  table.due(kStart + 1500ms);
  const auto due = table.due(kStart + 2000ms);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].given_up, "dispatch");
  EXPECT_EQ(table.size(), 0u);
}

TEST(CallTable, AnAnswerToTheFirstTryCountsWhileTheSecondIsAwaited) {
  Table table(1);
  const CallId id = begin(table);
  table.due(kStart + 500ms);
  EXPECT_TRUE(table.answered(id, kPeer).has_value());
}

TEST(CallTable, AFailureToldEarlyBringsTheNextTryForward) {
  Table table(1);
  const CallId id = begin(table);
  table.failed(id, kStart + 100ms);
  EXPECT_EQ(table.deadline(), kStart + 1100ms);
  table.failed(id, kStart + 200ms);
  EXPECT_EQ(table.due(kStart + 1100ms).size(), 1u);
}

TEST(CallTable, ComesBackNoEarlierThanThePeerAsked) {
  Table table(1);
  table.failed(begin(table), kStart, 20s);
  EXPECT_EQ(table.deadline(), kStart + 20s);
}

TEST(CallTable, TheFailureOfTheLastTryIsToldByDue) {
  Table table(1);
  table.failed(begin(table, "last", {.attempts = 1}), kStart);
  const auto due = table.due(kStart);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].given_up, "last");
}

TEST(CallTable, WhatIsUnderWayToAPeerIsNotBegunTwice) {
  Table table(1);
  const auto first = table.begin(kPeer, CallKey{5}, 1s, kTwice, "a", kStart);
  const auto second = table.begin(kPeer, CallKey{5}, 1s, kTwice, "b", kStart);
  const auto elsewhere = table.begin(NodeId{8}, CallKey{5}, 1s, kTwice, "c", kStart);
  EXPECT_TRUE(first->fresh);
  EXPECT_FALSE(second->fresh);
  EXPECT_EQ(second->id, first->id);
  EXPECT_TRUE(elsewhere->fresh);
  table.answered(first->id, kPeer);
  EXPECT_TRUE(table.begin(kPeer, CallKey{5}, 1s, kTwice, "d", kStart)->fresh);
}

TEST(CallTable, WhenFullNothingNewIsBegun) {
  Table table(1, {.max_calls = 2});
  begin(table);
  begin(table);
  EXPECT_FALSE(table.begin(kPeer, kNoKey, 1s, kTwice, "", kStart).has_value());
}

TEST(CallTable, CallsToALostPeerEndTogetherInOrder) {
  Table table(1);
  begin(table, "a");
  table.begin(NodeId{8}, kNoKey, 1s, kTwice, "b", kStart);
  begin(table, "c");
  EXPECT_EQ(table.cancel_all(kPeer), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(table.size(), 1u);
}

TEST(CallTable, ACancelledCallIsNeverDue) {
  Table table(1);
  EXPECT_EQ(table.cancel(begin(table, "a")), "a");
  EXPECT_TRUE(table.due(kStart + 1h).empty());
}

TEST(CallTable, LivesOfANodeDoNotShareIds) {
  Table before(1);
  Table after(2);
  EXPECT_NE(begin(before), begin(after));
}

TEST(CallTable, ACallWithoutTimeOrWaitsStillEnds) {
  Table table(1);
  table.begin(kPeer, kNoKey, 0s, {.attempts = 1000, .base = 0s}, "", kStart);
  std::size_t sent = 0;
  for (Instant now = kStart; table.size() > 0 && sent < 2000; now += 1ms) sent += table.due(now).size();
  EXPECT_EQ(sent, 1000u);
}

RC_GTEST_PROP(CallTable, EveryCallIsSentAtMostItsTriesAndEndsOnce, (std::uint64_t seed)) {
  Table table(seed, {.max_calls = 8});
  base::Random random(seed);
  std::map<CallId, std::uint32_t> tries;
  std::map<CallId, int> ends;
  Instant now = kStart;
  for (int step = 0; step < 200; ++step) {
    now += random.below(2000) * 1ms;
    const RetryOptions retries{.attempts = 3, .base = 300ms};
    if (const auto begun = table.begin(kPeer, CallKey{random.below(12)}, 700ms, retries, "", now)) {
      if (begun->fresh) tries[begun->id] = 1;
    }
    if (random.below(3) == 0 && !tries.empty()) {
      const CallId id = std::prev(tries.end())->first;
      if (table.answered(id, kPeer)) ++ends[id];
    }
    for (const auto& due : table.due(now)) {
      due.given_up ? ++ends[due.id] : static_cast<int>(++tries[due.id]);
    }
    RC_ASSERT(table.size() <= 8u);
    RC_ASSERT(table.deadline() > now);
  }
  now += 1h;
  for (int round = 0; round < 10; ++round) {
    for (const auto& due : table.due(now += 1min)) due.given_up ? ++ends[due.id] : static_cast<int>(++tries[due.id]);
  }
  RC_ASSERT(table.size() == 0u);
  for (const auto& [id, count] : tries) RC_ASSERT(count <= 3u && ends[id] == 1);
}

}  // namespace
}  // namespace muster::resilience
