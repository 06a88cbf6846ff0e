#include "resilience/sliding_window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Duration;
using base::Instant;
using namespace std::chrono_literals;

constexpr Duration kLength = 10s;  // a window begins at kStart

int admitted(SlidingWindow& window, std::uint32_t limit, Instant now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += window.admit(limit, kLength, now);
  return count;
}

TEST(SlidingWindow, AdmitsAsManyAsItsLimit) {
  SlidingWindow window;
  EXPECT_EQ(admitted(window, 50, kStart, 80), 50);
  EXPECT_EQ(admitted(window, 50, kStart + 9s, 80), 0);
}

TEST(SlidingWindow, TheWindowBeforeFadesAway) {
  SlidingWindow window;
  ASSERT_EQ(admitted(window, 50, kStart + 9s, 80), 50);
  EXPECT_EQ(admitted(window, 50, kStart + 10s, 80), 0);
  EXPECT_EQ(admitted(window, 50, kStart + 15s, 80), 25);
  EXPECT_DOUBLE_EQ(window.count(kLength, kStart + 15s), 50);
  EXPECT_DOUBLE_EQ(window.count(kLength, kStart + 25s), 12.5);
}

TEST(SlidingWindow, ForgetsAfterTwoWindows) {
  SlidingWindow window;
  ASSERT_EQ(admitted(window, 50, kStart, 80), 50);
  EXPECT_EQ(admitted(window, 50, kStart + 20s, 80), 50);
}

TEST(SlidingWindow, ALimitOfNothingAdmitsNothing) {
  SlidingWindow window;
  EXPECT_FALSE(window.admit(0, kLength, kStart));
  EXPECT_EQ(window.wait(0, kLength, kStart), 2 * kLength);
}

TEST(SlidingWindow, WorksBeforeTheEpochOfTheClock) {
  SlidingWindow window;
  EXPECT_EQ(admitted(window, 5, Instant(-5s), 9), 5);
}

RC_GTEST_PROP(SlidingWindow, AfterTheWaitThatItTellsOneMoreIsAdmittedAndNotMuchEarlier, ()) {
  const auto limit = *rc::gen::inRange(1u, 40u);
  SlidingWindow window;
  Instant now = kStart;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3000))) {
    now += step * 1ms;
    window.admit(limit, kLength, now);
  }
  const Duration wait = window.wait(limit, kLength, now);
  RC_ASSERT(wait >= 0s && wait <= 2 * kLength);
  SlidingWindow early = window;
  if (wait > 1ms) RC_ASSERT(!early.admit(limit, kLength, now + wait - 1ms));
  RC_ASSERT(window.admit(limit, kLength, now + wait + 1ns));
}

RC_GTEST_PROP(SlidingWindow, NeverCountsAboveItsLimit, ()) {
  const auto limit = *rc::gen::inRange(1u, 40u);
  SlidingWindow window;
  Instant now = kStart;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3000))) {
    now += step * 1ms;
    window.admit(limit, kLength, now);
    RC_ASSERT(window.count(kLength, now) <= limit + 1e-6);
  }
}

}  // namespace
}  // namespace muster::resilience
