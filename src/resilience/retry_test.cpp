#include "resilience/retry.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Duration;
using base::Instant;
using namespace std::chrono_literals;

// The waits of a call that always fails at once.
std::vector<Duration> waits(const RetryOptions& options, std::uint64_t seed, std::size_t most = 64) {
  base::Random random(seed);
  Retry retry(options, kStart);
  std::vector<Duration> found;
  Instant now = kStart;
  while (found.size() < most) {
    const auto next = retry.failed(now, random);
    if (!next) break;
    found.push_back(*next - now);
    now = *next;
  }
  return found;
}

TEST(Retry, WithoutJitterTheWaitsDoubleUpToTheCap) {
  const auto found = waits({.attempts = 6, .base = 500ms, .cap = 3s, .jitter = Jitter::kNone}, 1);
  EXPECT_EQ(found, (std::vector<Duration>{500ms, 1s, 2s, 3s, 3s}));
}

TEST(Retry, ByDefaultThereAreThreeTriesInAll) {
  EXPECT_EQ(waits({}, 1).size(), 2u);
}

TEST(Retry, EveryKindOfCallHasTheRetriesOfItsOwn) {
  EXPECT_EQ(waits(kDispatchRetries, 1).size(), 2u);
}

TEST(Retry, WithoutABoundItGoesOnForEver) {
  EXPECT_EQ(waits({.attempts = kUnlimitedAttempts}, 1, 5000).size(), 5000u);
}

TEST(Retry, GivesUpWhenTheNextTryWouldComeTooLate) {
  base::Random random(1);
  Retry retry(kShedClientRetries, kStart);
  EXPECT_TRUE(retry.failed(kStart + 1s, random).has_value());
  EXPECT_FALSE(retry.failed(kStart + 50s, random, 11s).has_value());
}

TEST(Retry, WaitsAsLongAsThePeerAsked) {
  base::Random random(1);
  Retry retry({}, kStart);
  EXPECT_EQ(retry.failed(kStart, random, 45s), kStart + 45s);
}

TEST(Retry, BelievesThePeerUpToAMinute) {
  base::Random random(1);
  Retry retry({}, kStart);
  EXPECT_EQ(retry.failed(kStart, random, Duration::max()), kStart + 60s);
  EXPECT_TRUE(retry.failed(kStart, random, Duration::min()).has_value());
}

TEST(Retry, EqualSeedsGiveEqualWaitsAndOthersDoNot) {
  const RetryOptions options{.attempts = 10};
  EXPECT_EQ(waits(options, 7), waits(options, 7));
  EXPECT_NE(waits(options, 7), waits(options, 8));
}

TEST(Retry, FullJitterUsesTheWholeRange) {
  Duration least = 1h;
  Duration most = 0s;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Duration wait = waits({.attempts = 2, .base = 1s}, seed).at(0);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_LT(least, 50ms);
  EXPECT_GT(most, 950ms);
}

RC_GTEST_PROP(Retry, EveryWaitLiesWithinTheBoundsOfItsJitter, (std::uint64_t seed)) {
  const Duration base = std::chrono::milliseconds(*rc::gen::inRange(1, 5000));
  const Duration cap = base + std::chrono::milliseconds(*rc::gen::inRange(0, 60'000));
  const auto jitter = *rc::gen::element(Jitter::kFull, Jitter::kEqual, Jitter::kDecorrelated);
  Duration whole = base;
  Duration last = base;
  for (const Duration wait : waits({.attempts = 12, .base = base, .cap = cap, .jitter = jitter}, seed)) {
    RC_ASSERT(wait <= cap);
    if (jitter == Jitter::kFull) RC_ASSERT(wait <= whole);
    if (jitter == Jitter::kEqual) RC_ASSERT(wait >= whole / 2 && wait <= whole);
    if (jitter == Jitter::kDecorrelated) RC_ASSERT(wait >= base && wait <= last * 3);
    whole = std::min(cap, whole * 2);
    last = wait;
  }
}

TEST(Spread, AddsUpToTheShareAndNeverLess) {
  base::Random random(3);
  std::set<Duration> seen;
  for (int i = 0; i < 100; ++i) {
    const Duration period = spread(10s, 0.25, random);
    EXPECT_GE(period, 10s);
    EXPECT_LE(period, 12'500ms);
    seen.insert(period);
  }
  EXPECT_GT(seen.size(), 90u);
  EXPECT_EQ(spread(10s, 0, random), 10s);
}

}  // namespace
}  // namespace muster::resilience
