#include "cluster/gate_statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "cluster/gate_ledger_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kManager{11};

metrics::CoarseHistogram samples(std::uint64_t count) {
  metrics::CoarseHistogram made;
  if (count > 0) made.record(milliseconds(5), count);
  return made;
}

WindowPush totals_of(std::uint64_t iterations, std::uint64_t epoch = 1, std::uint64_t vus = 4) {
  WindowPush push;
  push.job = kJob;
  push.epoch = epoch;
  push.totals = {{0, {iterations, iterations, 0}, {}, vus, samples(iterations)}};
  return push;
}

WindowPush window(std::uint64_t number, std::uint32_t reported = 1, std::uint64_t epoch = 1) {
  WindowPush push;
  push.job = kJob;
  push.epoch = epoch;
  push.windows = {{0, number, reported, 2, {3, 3, 0}, samples(3)}};
  return push;
}

class GateStatisticsTest : public ::testing::Test {
 protected:
  GateStatistics statistics{seconds(1)};
};

TEST_F(GateStatisticsTest, AddsUpCountsAndMergesHistogramsOfDatacenters) {
  statistics.take("east", kManager, totals_of(100), kStart);
  statistics.take("west", kManager, totals_of(50), kStart);
  const WorkflowTotals sum = statistics.totals(0);
  EXPECT_EQ(sum.counts.iterations, 150u);
  EXPECT_EQ(sum.latency.count(), 150u);
  EXPECT_EQ(sum.vus, 8u);
  EXPECT_EQ(statistics.totals("east", 0).latency.count(), 100u);
}

TEST_F(GateStatisticsTest, TotalsDoNotFallWhenAManagerBeginsAnew) {
  statistics.take("east", kManager, totals_of(100), kStart);
  statistics.take("east", NodeId{12}, totals_of(40, 2, 3), kStart);
  EXPECT_EQ(statistics.totals(0).counts.iterations, 100u);
  EXPECT_EQ(statistics.totals(0).latency.count(), 100u);
  EXPECT_EQ(statistics.totals(0).vus, 3u);
}

TEST_F(GateStatisticsTest, ASupersededManagerIsNotHeard) {
  statistics.take("east", NodeId{12}, totals_of(40, 2), kStart);
  EXPECT_FALSE(statistics.take("east", kManager, totals_of(100, 1), kStart));
  EXPECT_EQ(statistics.totals(0).counts.iterations, 40u);
}

TEST_F(GateStatisticsTest, ALostDatacentersCountsStayAndAreShownAsLost) {
  statistics.take("east", kManager, totals_of(100), kStart);
  statistics.lose("east");
  EXPECT_EQ(statistics.totals(0).counts.iterations, 100u);
  EXPECT_EQ(statistics.totals(0).lost.iterations, 100u);
  EXPECT_EQ(statistics.totals(0).vus, 0u);
}

TEST_F(GateStatisticsTest, AWindowWaitsForItsTimeAndIsHandedOnOnce) {
  statistics.take("east", kManager, window(10), kStart);
  EXPECT_TRUE(statistics.due(kJob, 1, false, kStart + milliseconds(999)).empty());
  EXPECT_EQ(statistics.deadline(), kStart + seconds(1));
  statistics.take("east", kManager, window(10, 2), kStart + milliseconds(500));
  const auto due = statistics.due(kJob, 1, false, kStart + seconds(1));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].datacenter, "east");
  ASSERT_EQ(due[0].windows.size(), 1u);
  EXPECT_EQ(due[0].windows[0].reported, 2u);
  statistics.take("east", kManager, window(10), kStart + seconds(1));
  EXPECT_TRUE(statistics.due(kJob, 1, false, kStart + seconds(9)).empty());
  EXPECT_EQ(statistics.deadline(), base::kNever);
}

TEST_F(GateStatisticsTest, AnotherManagersWindowsBeginAnew) {
  statistics.take("east", kManager, window(1000), kStart);
  statistics.due(kJob, 1, false, kStart + seconds(2));
  statistics.take("east", NodeId{12}, window(5, 1, 2), kStart + seconds(3));
  EXPECT_EQ(statistics.due(kJob, 1, false, kStart + seconds(4)).size(), 1u);
}

TEST_F(GateStatisticsTest, TellsTotalsOnlyWhenTheyChanged) {
  statistics.take("east", kManager, totals_of(100), kStart);
  EXPECT_TRUE(statistics.changed());
  EXPECT_TRUE(statistics.due(kJob, 1, false, kStart).empty());
  EXPECT_EQ(statistics.due(kJob, 1, true, kStart).size(), 1u);
  EXPECT_FALSE(statistics.changed());
  EXPECT_TRUE(statistics.due(kJob, 1, true, kStart).empty());
  EXPECT_EQ(statistics.all(kJob, 1).size(), 1u);
}

TEST_F(GateStatisticsTest, WhatWaitsIsBounded) {
  for (std::uint64_t i = 0; i < 3 * kMaxWaitingWindows; ++i) {
    statistics.take("east", kManager, window(100'000 + i), kStart);
  }
  std::size_t early = 0;
  for (const WindowPush& push : statistics.due(kJob, 1, false, kStart)) early += push.windows.size();
  EXPECT_GE(early, 1u);
  EXPECT_LE(early, kMaxWaitingWindows + 1);
  WindowPush wild = totals_of(1);
  wild.totals[0].workflow = UINT32_MAX;
  wild.windows = {{UINT32_MAX, 1, 1, 1, {}, {}}, {0, UINT64_MAX, 1, 1, {}, {}}};
  EXPECT_TRUE(statistics.take("west", kManager, wild, kStart));
  EXPECT_TRUE(statistics.workflows().empty());
}

RC_GTEST_PROP(GateStatistics, TotalsNeverFallAndAgreeWhateverTheOrder, (std::uint64_t seed)) {
  base::Random random(seed);
  std::vector<std::pair<std::string, WindowPush>> told;
  for (int i = 0; i < 40; ++i) {
    const std::string name(1, static_cast<char>('a' + random.below(3)));
    told.emplace_back(name, totals_of(random.below(1000), 1, 0));
  }
  GateStatistics one(seconds(1));
  GateStatistics other(seconds(1));
  std::uint64_t shown = 0;
  for (const auto& [name, push] : told) {
    one.take(name, kManager, push, kStart);
    RC_ASSERT(one.totals(0).counts.iterations >= shown);
    shown = one.totals(0).counts.iterations;
  }
  for (auto at = told.rbegin(); at != told.rend(); ++at) other.take(at->first, kManager, at->second, kStart);
  RC_ASSERT(one.totals(0) == other.totals(0));
}

}  // namespace
}  // namespace muster::cluster
