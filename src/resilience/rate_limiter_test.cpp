#include "resilience/rate_limiter.h"

#include <gtest/gtest.h>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Instant;
using namespace std::chrono_literals;

int admitted(RateLimiter& limiter, std::uint64_t client, Operation operation, Instant now) {
  int count = 0;
  for (int i = 0; i < 1000; ++i) count += limiter.admit(client, operation, now).admitted;
  return count;
}

TEST(RateLimiter, EveryOperationHasItsLimitPerTenSeconds) {
  RateLimiter limiter;
  EXPECT_EQ(admitted(limiter, 1, Operation::kStats, kStart), 500);
  EXPECT_EQ(admitted(limiter, 1, Operation::kHeartbeat, kStart), 200);
  EXPECT_EQ(admitted(limiter, 1, Operation::kProgress, kStart), 300);
  EXPECT_EQ(admitted(limiter, 1, Operation::kSubmit, kStart), 50);
  EXPECT_EQ(admitted(limiter, 1, Operation::kStatus, kStart), 100);
  EXPECT_EQ(admitted(limiter, 1, Operation::kDispatch, kStart), 100);
  EXPECT_EQ(admitted(limiter, 1, Operation::kCancel, kStart), 20);
  EXPECT_EQ(admitted(limiter, 1, Operation::kReconnect, kStart), 10);
}

TEST(RateLimiter, ClientsDoNotUseUpEachOthersLimits) {
  RateLimiter limiter;
  EXPECT_EQ(admitted(limiter, 1, Operation::kCancel, kStart), 20);
  EXPECT_EQ(admitted(limiter, 2, Operation::kCancel, kStart), 20);
}

TEST(RateLimiter, WhoIsTurnedAwayLearnsWhenToComeBack) {
  RateLimiter limiter;
  admitted(limiter, 1, Operation::kCancel, kStart);
  const Limited answer = limiter.admit(1, Operation::kCancel, kStart);
  ASSERT_FALSE(answer.admitted);
  EXPECT_GT(answer.retry_after, 10s);
  EXPECT_TRUE(limiter.admit(1, Operation::kCancel, kStart + answer.retry_after).admitted);
}

TEST(RateLimiter, ForgetsClientsThatAreSilentForFiveMinutes) {
  RateLimiter limiter;
  limiter.admit(1, Operation::kStats, kStart);
  limiter.admit(2, Operation::kStats, kStart + 100s);
  limiter.drop_idle(kStart + 299s);
  EXPECT_EQ(limiter.clients(), 2u);
  limiter.drop_idle(kStart + 300s);
  EXPECT_EQ(limiter.clients(), 1u);
}

TEST(RateLimiter, AFloodOfNamesTakesNoMoreMemoryAndSparesTheBusy) {
  RateLimiter limiter({.max_clients = 100});
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (i % 50 == 0) limiter.admit(1, Operation::kCancel, kStart);
    limiter.admit(1000 + i, Operation::kStats, kStart);
    ASSERT_LE(limiter.clients(), 100u);
  }
  EXPECT_FALSE(limiter.admit(1, Operation::kCancel, kStart).admitted);
}

}  // namespace
}  // namespace muster::resilience
