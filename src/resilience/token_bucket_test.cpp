#include "resilience/token_bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Instant;
using namespace std::chrono_literals;

int taken(TokenBucket& bucket, Instant now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += bucket.take(now);
  return count;
}

TEST(TokenBucket, GivesItsBurstAtOnceAndThenItsRate) {
  TokenBucket bucket(kClientCallbacks);
  EXPECT_EQ(taken(bucket, kStart, 100), 5);
  EXPECT_FALSE(bucket.take(kStart + 49ms));
  EXPECT_TRUE(bucket.take(kStart + 50ms));
  EXPECT_FALSE(bucket.take(kStart + 50ms));
}

TEST(TokenBucket, ARestFillsItUpToTheBurstAndNoFurther) {
  TokenBucket bucket(kClientCallbacks);
  taken(bucket, kStart, 100);
  EXPECT_EQ(taken(bucket, kStart + 1h, 100), 5);
}

TEST(TokenBucket, TellsWhenTheNextTokenComes) {
  TokenBucket bucket(kClientCallbacks);
  EXPECT_EQ(bucket.ready_at(kStart), kStart);
  taken(bucket, kStart, 100);
  EXPECT_EQ(bucket.ready_at(kStart), kStart + 50ms);
  EXPECT_TRUE(bucket.take(bucket.ready_at(kStart)));
}

RC_GTEST_PROP(TokenBucket, NoSecondHasMoreThanBurstAndRateTogether, ()) {
  const BucketOptions options{.rate = *rc::gen::inRange(1u, 200u), .burst = *rc::gen::inRange(1u, 20u)};
  TokenBucket bucket(options);
  Instant now = kStart;
  std::deque<Instant> last_second;
  for (const int step : *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(0, 100))) {
    now += step * 1ms;
    if (!bucket.take(now)) continue;
    last_second.push_back(now);
    while (now - last_second.front() >= 1s) last_second.pop_front();
    RC_ASSERT(last_second.size() <= options.burst + options.rate);
  }
}

}  // namespace
}  // namespace muster::resilience
