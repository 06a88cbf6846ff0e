#include "metrics/g_counter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

#include "metrics/merged_fixture.h"

namespace muster::metrics {
namespace {

using Counter = GCounter<int>;

Counter counter_of(const std::vector<std::pair<int, std::uint64_t>>& counts) {
  Counter counter;
  for (const auto& [replica, count] : counts) counter.raise(replica, count);
  return counter;
}

Counter any_counter() {
  return counter_of(*rc::gen::container<std::vector<std::pair<int, std::uint64_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange<std::uint64_t>(0, 1000))));
}

TEST(GCounter, ARepeatedOrOlderCountChangesNothing) {
  Counter counter = counter_of({{1, 10}, {2, 5}});
  counter.raise(1, 10);
  counter.raise(1, 4);
  EXPECT_EQ(counter.total(), 15u);
  EXPECT_EQ(counter.count(1), 10u);
  EXPECT_EQ(counter.count(3), 0u);
}

TEST(GCounter, AbsurdCountsDoNotWrapAround) {
  EXPECT_EQ(counter_of({{1, UINT64_MAX}, {2, UINT64_MAX}}).total(), UINT64_MAX);
}

TEST(GCounter, TakesNoMoreReplicasThanItsBound) {
  Counter counter;
  for (std::size_t i = 0; i < kMaxReplicas; ++i) ASSERT_TRUE(counter.raise(static_cast<int>(i), 1));
  EXPECT_FALSE(counter.raise(-1, 1));
  EXPECT_TRUE(counter.raise(0, 2));
  EXPECT_FALSE(counter.merge(counter_of({{-1, 1}})));
  EXPECT_EQ(counter.entries().size(), kMaxReplicas);
}

RC_GTEST_PROP(GCounter, MergingIsCommutativeAssociativeAndIdempotent, ()) {
  const Counter a = any_counter();
  const Counter b = any_counter();
  const Counter c = any_counter();
  RC_ASSERT(merged(a, b) == merged(b, a));
  RC_ASSERT(merged(merged(a, b), c) == merged(a, merged(b, c)));
  RC_ASSERT(merged(a, a) == a);
}

RC_GTEST_PROP(GCounter, NoMergeLowersTheTotal, ()) {
  const Counter a = any_counter();
  const Counter b = any_counter();
  RC_ASSERT(merged(a, b).total() >= a.total());
  RC_ASSERT(merged(a, b).total() >= b.total());
}

}  // namespace
}  // namespace muster::metrics
