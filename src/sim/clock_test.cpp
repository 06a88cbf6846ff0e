#include "sim/clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::sim {
namespace {

TEST(SimClock, ShowsWhatItWasSetToAndGoesOn) {
  const Clock clock(100, 5000);
  EXPECT_EQ(clock.show(100), 5000);
  EXPECT_EQ(clock.show(350), 5250);
}

TEST(SimClock, RunsAtItsRateFromTheChangeOn) {
  Clock clock(0, 0);
  clock.run_at(2 * Clock::kTrueRate, 1000);
  EXPECT_EQ(clock.show(1500), 2000);
  clock.run_at(Clock::kTrueRate / 2, 1500);
  EXPECT_EQ(clock.show(1600), 2050);
}

TEST(SimClock, LeapsAheadAtOnce) {
  Clock clock(0, 0);
  clock.leap(500);
  EXPECT_EQ(clock.show(10), 510);
}

RC_GTEST_PROP(SimClock, WhenIsTheFirstTimeAtWhichTheClockShowsThat, ()) {
  const auto rate = *rc::gen::inRange<std::int64_t>(1, 4096);
  const auto base = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  const auto ahead = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  Clock clock(base, 77);
  clock.run_at(rate, base);
  const std::int64_t at = clock.when(77 + ahead);
  RC_ASSERT(clock.show(at) >= 77 + ahead);
  RC_ASSERT(clock.show(at - 1) < 77 + ahead);
}

TEST(SimClock, NeverIsNever) {
  EXPECT_EQ(Clock(0, 0).when(std::numeric_limits<std::int64_t>::max()), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace muster::sim
