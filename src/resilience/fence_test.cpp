#include "resilience/fence.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using namespace std::chrono_literals;
using Fences = FenceTable<int, std::string>;

TEST(Fence, EpochsComeBeforeAttempts) {
  EXPECT_LT((Fence{1, 9}), (Fence{2, 0}));
  EXPECT_LT((Fence{2, 0}), (Fence{2, 1}));
}

TEST(Fence, HigherIsNewEqualRepeatedLowerStale) {
  Fences table;
  EXPECT_EQ(table.judge(1, {2, 1}, kStart), Fenced::kNew);
  EXPECT_EQ(table.judge(1, {2, 1}, kStart), Fenced::kRepeated);
  EXPECT_EQ(table.judge(1, {2, 0}, kStart), Fenced::kStale);
  EXPECT_EQ(table.judge(1, {1, 7}, kStart), Fenced::kStale);
  EXPECT_EQ(table.judge(1, {3, 0}, kStart), Fenced::kNew);
  EXPECT_EQ(table.judge(2, {1, 0}, kStart), Fenced::kNew);
}

TEST(Fence, ARepetitionIsAnsweredLikeTheFirstTime) {
  Fences table;
  table.judge(1, {1, 1}, kStart);
  EXPECT_EQ(table.answered(1), nullptr);
  table.answer(1, {1, 1}, "accepted");
  ASSERT_EQ(table.judge(1, {1, 1}, kStart), Fenced::kRepeated);
  EXPECT_EQ(*table.answered(1), "accepted");
}

TEST(Fence, TheAnswerOfASupersededOneIsDropped) {
  Fences table;
  table.judge(1, {1, 1}, kStart);
  table.judge(1, {1, 2}, kStart);
  table.answer(1, {1, 1}, "too late");
  EXPECT_EQ(table.answered(1), nullptr);
}

TEST(Fence, LookingRemembersNothing) {
  Fences table;
  EXPECT_EQ(table.look(1, {1, 1}), Fenced::kNew);
  EXPECT_EQ(table.size(), 0u);
  table.judge(1, {2, 0}, kStart);
  EXPECT_EQ(table.look(1, {1, 1}), Fenced::kStale);
  EXPECT_EQ(table.look(1, {2, 0}), Fenced::kRepeated);
  EXPECT_EQ(table.look(1, {2, 1}), Fenced::kNew);
  EXPECT_EQ(table.highest(1), (Fence{2, 0}));
}

TEST(Fence, IsForgottenOnlyLongAfterItWasReleased) {
  Fences table;
  table.judge(1, {5, 0}, kStart);
  table.drop_expired(kStart + 24h);
  ASSERT_EQ(table.size(), 1u);
  table.release(1, kStart + 24h);
  EXPECT_EQ(table.judge(1, {4, 0}, kStart + 24h + 9min), Fenced::kStale);
  table.drop_expired(kStart + 24h + 10min);
  EXPECT_EQ(table.size(), 0u);
}

TEST(Fence, SomethingNewerHoldsAReleasedKeyAgain) {
  Fences table;
  table.judge(1, {1, 0}, kStart);
  table.release(1, kStart);
  table.judge(1, {2, 0}, kStart + 1min);
  table.drop_expired(kStart + 24h);
  EXPECT_EQ(table.size(), 1u);
}

TEST(Fence, WhenFullUnknownKeysAreRefusedAndKnownOnesAreNot) {
  Fences table({.max_keys = 2});
  table.judge(1, {1, 0}, kStart);
  table.judge(2, {1, 0}, kStart);
  EXPECT_EQ(table.judge(3, {1, 0}, kStart), Fenced::kFull);
  EXPECT_EQ(table.look(3, {1, 0}), Fenced::kFull);
  EXPECT_EQ(table.judge(2, {2, 0}, kStart), Fenced::kNew);
  table.release(1, kStart);
  EXPECT_EQ(table.judge(3, {1, 0}, kStart + 10min), Fenced::kNew);
}

RC_GTEST_PROP(Fence, TheAcceptedFenceOfAKeyNeverFalls, ()) {
  Fences table;
  std::map<int, Fence> accepted;
  const auto number = rc::gen::inRange(0, 4);
  const auto arrivals =
      *rc::gen::container<std::vector<std::tuple<int, int, int>>>(rc::gen::tuple(number, number, number));
  for (const auto& [key, epoch, attempt] : arrivals) {
    const Fence fence{static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(attempt)};
    const bool known = accepted.contains(key);
    const Fenced verdict = table.judge(key, fence, kStart);
    if (!known) RC_ASSERT(verdict == Fenced::kNew);
    if (known) RC_ASSERT((verdict == Fenced::kNew) == (fence > accepted[key]));
    if (known) RC_ASSERT((verdict == Fenced::kRepeated) == (fence == accepted[key]));
    if (verdict == Fenced::kNew) accepted[key] = fence;
    RC_ASSERT(table.highest(key) == accepted[key]);
  }
}

}  // namespace
}  // namespace muster::resilience
