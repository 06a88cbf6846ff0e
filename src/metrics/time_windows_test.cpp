#include "metrics/time_windows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <tuple>
#include <vector>

namespace muster::metrics {
namespace {

using base::Instant;
using namespace std::chrono_literals;

struct Count {
  std::uint64_t n = 0;

  void add(const Count& other) { n += other.n; }
  std::optional<Count> since(const Count& earlier) const {
    return n < earlier.n ? std::nullopt : std::optional(Count{n - earlier.n});
  }
};

using Windows = TimeWindows<int, Count>;
constexpr Instant kStart{1h};
constexpr std::uint64_t kFirst = 36'000;  // the window that begins at kStart

std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> closed(const Windows& windows) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> found;
  for (const auto& window : windows.closed_from(0)) {
    found.emplace_back(window.number - kFirst, window.reported, window.added.n);
  }
  return found;
}

TEST(TimeWindows, CloseAWhileAfterTheirEnd) {
  Windows windows(kManagerWindowDelay);
  EXPECT_EQ(windows.deadline(), base::kNever);
  EXPECT_EQ(windows.take(1, 1, kStart + 20ms, {10}, kStart + 30ms), Taken::kCounted);
  EXPECT_EQ(windows.take(2, 1, kStart + 90ms, {5}, kStart + 95ms), Taken::kCounted);
  EXPECT_EQ(windows.deadline(), kStart + 350ms);
  windows.close(kStart + 349ms);
  EXPECT_TRUE(closed(windows).empty());
  windows.close(kStart + 350ms);
  EXPECT_EQ(closed(windows), (std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>>{{0, 2, 15}}));
}

TEST(TimeWindows, GoByWhenAValueWasCollectedAndNotWhenItCame) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 1, kStart + 110ms, {3}, kStart + 120ms);
  windows.take(2, 1, kStart + 90ms, {5}, kStart + 130ms);
  windows.close(kStart + 1s);
  EXPECT_EQ(closed(windows),
            (std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>>{{0, 1, 5}, {1, 1, 3}}));
}

TEST(TimeWindows, ASourceThatReportsTwiceInAWindowCountsOnce) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 1, kStart, {3}, kStart);
  windows.take(1, 2, kStart + 50ms, {7}, kStart + 50ms);
  windows.close(kStart + 1s);
  EXPECT_EQ(closed(windows), (std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>>{{0, 1, 7}}));
}

TEST(TimeWindows, WhatComesTooLateAmendsTheTotal) {
  Windows windows(kManagerWindowDelay);
  EXPECT_EQ(windows.take(1, 1, kStart, {3}, kStart + 350ms), Taken::kAmended);
  EXPECT_EQ(windows.total().n, 3u);
  EXPECT_EQ(windows.deadline(), base::kNever);
}

TEST(TimeWindows, RepeatedAndOvertakenValuesCountForNothing) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 2, kStart, {8}, kStart);
  EXPECT_EQ(windows.take(1, 2, kStart, {8}, kStart), Taken::kStale);
  EXPECT_EQ(windows.take(1, 1, kStart, {4}, kStart), Taken::kStale);
  EXPECT_EQ(windows.total().n, 8u);
}

TEST(TimeWindows, AValueThatFellIsRefused) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 1, kStart, {8}, kStart);
  EXPECT_EQ(windows.take(1, 2, kStart, {7}, kStart), Taken::kFell);
  EXPECT_EQ(windows.total().n, 8u);
}

TEST(TimeWindows, ALostAttemptStaysInTheTotalAndIsToldAsLost) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 1, kStart, {8}, kStart);
  windows.take(2, 1, kStart, {1}, kStart);
  windows.lose(1);
  windows.lose(1);
  EXPECT_EQ(windows.total().n, 9u);
  EXPECT_EQ(windows.lost().n, 8u);
  windows.take(1, 2, kStart, {10}, kStart);
  EXPECT_EQ(windows.total().n, 11u);
  EXPECT_EQ(windows.lost().n, 10u);
}

TEST(TimeWindows, ValuesFromTheFutureCountAsOfNow) {
  Windows windows(kManagerWindowDelay);
  EXPECT_EQ(windows.take(1, 1, kStart + 24h, {3}, kStart), Taken::kCounted);
  EXPECT_EQ(windows.deadline(), kStart + 350ms);
}

TEST(TimeWindows, ClosedOnesAreForgottenAfterFiveSeconds) {
  Windows windows(kManagerWindowDelay);
  windows.take(1, 1, kStart, {3}, kStart);
  windows.close(kStart + 5s);
  EXPECT_EQ(closed(windows).size(), 1u);
  windows.close(kStart + 5100ms);
  EXPECT_TRUE(closed(windows).empty());
  EXPECT_EQ(windows.total().n, 3u);
}

TEST(TimeWindows, CanBeReadFromWhereAReaderStopped) {
  Windows windows(kManagerWindowDelay);
  for (std::uint64_t i = 0; i < 5; ++i) {
    windows.take(1, i + 1, kStart + i * 100ms, {i + 1}, kStart + i * 100ms);
  }
  windows.close(kStart + 2s);
  EXPECT_EQ(windows.closed_from(kFirst + 3).size(), 2u);
  EXPECT_EQ(windows.closed_from(kFirst + 9).size(), 0u);
}

RC_GTEST_PROP(TimeWindows, TotalsNeverFallAndEqualTheLastValues, ()) {
  Windows windows(kManagerWindowDelay);
  Instant now = kStart;
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> last;  // sequence, value
  std::uint64_t shown = 0;
  const auto step = rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange<std::uint64_t>(1, 20),
                                   rc::gen::inRange(-900, 90), rc::gen::inRange(0, 200));
  for (const auto& [source, sequence, age, wait] :
       *rc::gen::container<std::vector<std::tuple<int, std::uint64_t, int, int>>>(step)) {
    now += wait * 1ms;
    const std::uint64_t value = sequence * 10 + static_cast<std::uint64_t>(source);  // grows with the sequence
    const Taken taken = windows.take(source, sequence, now + age * 1ms, {value}, now);
    const bool newer = sequence > last[source].first;
    RC_ASSERT((taken == Taken::kCounted || taken == Taken::kAmended) == newer);
    if (newer) last[source] = {sequence, value};
    RC_ASSERT(windows.total().n >= shown);
    shown = windows.total().n;
  }
  std::uint64_t truth = 0;
  for (const auto& [source, state] : last) truth += state.second;
  RC_ASSERT(windows.total().n == truth);
}

RC_GTEST_PROP(TimeWindows, NothingIsInTwoWindowsOrInNoneButTheAmended, ()) {
  Windows windows(kManagerWindowDelay);
  Instant now = kStart;
  std::uint64_t counted = 0;
  std::uint64_t seen = 0;
  std::uint64_t from = 0;
  const auto look = [&] {
    for (const auto& window : windows.closed_from(from)) {
      seen += window.added.n;
      from = window.number + 1;
    }
  };
  for (std::uint64_t i = 1; i <= 60; ++i) {
    now += *rc::gen::inRange(0, 300) * 1ms;
    const Instant collected = now - *rc::gen::inRange(0, 500) * 1ms;
    if (windows.take(static_cast<int>(i % 3), i, collected, {i * 2}, now) == Taken::kCounted) {
      counted += i > 3 ? 6 : i * 2;
    }
    look();
  }
  windows.close(now + 1s);
  look();
  RC_ASSERT(seen == counted);
}

}  // namespace
}  // namespace muster::metrics
