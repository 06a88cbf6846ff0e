#include "cores/pace.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace muster::cores {
namespace {

using base::Instant;
using namespace std::chrono_literals;

class PaceTest : public testing::Test {
 protected:
  PaceTest() { watch_.told(true, 0, now_); }

  // One interval in which so much was done.
  Pace did(std::uint64_t work) {
    watch_.told(true, done_ += work, now_ += 10s);
    return watch_.pace();
  }

  PaceWatch watch_;
  Instant now_{1h};
  std::uint64_t done_ = 0;
};

TEST_F(PaceTest, IsNormalBeforeAnythingCanBeSaid) {
  EXPECT_EQ(watch_.pace(), Pace::kNormal);
}

TEST_F(PaceTest, IsMeasuredAgainstItsOwnMedian) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(did(1000), Pace::kNormal);
  EXPECT_EQ(did(800), Pace::kNormal);
  EXPECT_EQ(did(799), Pace::kSlow);
  EXPECT_EQ(did(300), Pace::kSlow);
  EXPECT_EQ(did(299), Pace::kDegraded);
  EXPECT_EQ(did(1), Pace::kDegraded);
  EXPECT_EQ(did(0), Pace::kStuck);
  EXPECT_EQ(did(1000), Pace::kNormal);
}

TEST_F(PaceTest, OthersReadFromWhatItSaysWhatItKnowsItself) {
  const auto read = [&] { return pace_of(watch_.rate(), watch_.usual()); };
  EXPECT_EQ(read(), Pace::kNormal) << "before anything can be said";
  EXPECT_EQ(did(0), Pace::kStuck);
  EXPECT_EQ(read(), Pace::kStuck) << "who never did anything";
  for (const std::uint64_t work : {1000u, 1000u, 1000u, 500u, 100u, 0u, 1000u}) EXPECT_EQ(did(work), read()) << work;
  EXPECT_DOUBLE_EQ(watch_.rate(), 100);
  watch_.told(false, done_, now_);
  EXPECT_EQ(read(), Pace::kIdle);
  watch_.told(true, done_, now_);
  EXPECT_EQ(read(), Pace::kNormal);
}

TEST_F(PaceTest, WhoDoesNothingStaysStuckHoweverLongItLasts) {
  did(1000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(did(0), Pace::kStuck);
}

TEST_F(PaceTest, BeingStuckDoesNotBecomeUsual) {
  for (int i = 0; i < 5; ++i) did(1000);
  for (int i = 0; i < 20; ++i) did(0);
  EXPECT_EQ(did(100), Pace::kDegraded);
}

TEST_F(PaceTest, WhatLastsBecomesUsual) {
  for (int i = 0; i < 20; ++i) did(1000);
  EXPECT_EQ(did(100), Pace::kDegraded);
  for (int i = 0; i < 20; ++i) did(100);
  EXPECT_EQ(did(100), Pace::kNormal);
}

TEST_F(PaceTest, WithNothingAssignedIsIdle) {
  did(0);
  watch_.told(false, done_, now_);
  EXPECT_EQ(watch_.pace(), Pace::kIdle);
}

TEST_F(PaceTest, NewWorkIsNotHeldAgainstTheIdleTimeBefore) {
  did(1000);
  watch_.told(false, done_, now_);
  watch_.told(true, done_, now_ += 1h);
  EXPECT_EQ(watch_.pace(), Pace::kNormal);
  EXPECT_EQ(did(1000), Pace::kNormal);
}

TEST_F(PaceTest, ACountThatFallsBeginsAnew) {
  did(1000);
  watch_.told(true, 5, now_ += 10s);
  EXPECT_EQ(watch_.pace(), Pace::kNormal);
  done_ = 5;
  EXPECT_EQ(did(1000), Pace::kNormal);
}

TEST_F(PaceTest, ReportsWithinAnIntervalDoNotShortenIt) {
  did(1000);
  for (int i = 1; i < 10; ++i) {
    watch_.told(true, done_, now_ + i * 1s);
    EXPECT_EQ(watch_.pace(), Pace::kNormal);
  }
  EXPECT_EQ(did(0), Pace::kStuck);
}

}  // namespace
}  // namespace muster::cores
