#include "engine/run_seconds.h"

#include <gtest/gtest.h>

namespace muster::engine {
namespace {

using namespace std::chrono_literals;

constexpr base::Instant kBegan{1000h};

TEST(RunSeconds, ALoadThatBeginsWithTheRunBeginsItsFirstSecond) {
  const RunSeconds seconds(kBegan, kBegan + 7ms);
  EXPECT_EQ(seconds.since_zero(kBegan + 7ms), 0s);
  EXPECT_EQ(seconds.shift(), 7ms);
  EXPECT_EQ(seconds.at(kBegan + 1006ms), 0U);
  EXPECT_EQ(seconds.at(kBegan + 1007ms), 1U);
}

TEST(RunSeconds, ALoadThatBeginsWithinASecondKeepsToTheSecondsOfTheRun) {
  const RunSeconds seconds(kBegan, kBegan + 1660ms);
  EXPECT_EQ(seconds.since_zero(kBegan + 1660ms), 1660ms);
  EXPECT_EQ(seconds.shift(), 0s);
  EXPECT_EQ(seconds.at(kBegan + 1660ms), 1U);
  EXPECT_EQ(seconds.at(kBegan + 2s), 2U);
}

TEST(RunSeconds, HandsOverOnEveryWholeSecond) {
  const RunSeconds seconds(kBegan, kBegan + 1660ms);
  EXPECT_EQ(seconds.next_hand_over(kBegan + 1660ms), kBegan + 1750ms);
  EXPECT_EQ(seconds.next_hand_over(kBegan + 1750ms), kBegan + 2s);
  EXPECT_EQ(seconds.next_hand_over(kBegan + 1999ms), kBegan + 2s);
  EXPECT_EQ(seconds.next_hand_over(kBegan + 10s + 1ms), kBegan + 10250ms) << "after a sleep";
}

}  // namespace
}  // namespace muster::engine
