#include "metrics/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace muster::metrics {
namespace {

using base::Duration;
using namespace std::chrono_literals;

// Spread over all magnitudes from 1 ns to beyond the largest value, as latencies are.
rc::Gen<std::vector<std::uint64_t>> samples() {
  const auto one = rc::gen::map(rc::gen::pair(rc::gen::inRange(0u, 44u), rc::gen::arbitrary<std::uint64_t>()),
                                [](const std::pair<unsigned, std::uint64_t>& made) {
                                  return made.second & ((std::uint64_t{1} << made.first) - 1);
                                });
  return rc::gen::container<std::vector<std::uint64_t>>(one);
}

Duration ns(std::uint64_t value) {
  return Duration(static_cast<std::int64_t>(value));
}

template <unsigned SubBits>
BasicHistogram<SubBits> of(const std::vector<std::uint64_t>& values) {
  Recorder<SubBits> recorder;
  for (const std::uint64_t value : values) recorder.record(ns(value));
  return BasicHistogram<SubBits>(recorder);
}

template <class Layout>
void expect_consistent_layout() {
  for (std::size_t i = 0; i < Layout::kBuckets; ++i) {
    ASSERT_EQ(Layout::index(Layout::lower(i)), i);
    ASSERT_EQ(Layout::index(Layout::upper(i) - 1), i);
    ASSERT_EQ(Layout::index(Layout::middle(i)), i);
  }
  EXPECT_EQ(Layout::lower(0), 0u);
  EXPECT_EQ(Layout::upper(Layout::kBuckets - 1), Layout::kMaxValue + 1);
  EXPECT_EQ(Layout::index(~std::uint64_t{0}), Layout::kBuckets - 1);
}

TEST(LogLinear, BucketsTileTheRangeWithoutGapOrOverlap) {
  expect_consistent_layout<LogLinear<9>>();
  expect_consistent_layout<LogLinear<6>>();
}

TEST(LogLinear, MiddlesAreWithinTheirError) {
  for (std::size_t i = 1; i < LogLinear<9>::kBuckets; ++i) {
    const auto low = static_cast<double>(LogLinear<9>::lower(i));
    ASSERT_LE(static_cast<double>(LogLinear<9>::middle(i)) - low, low * 0.001);
  }
  EXPECT_GT(ns(LogLinear<9>::kMaxValue), 1h);
}

RC_GTEST_PROP(Histogram, MergingPartsEqualsRecordingEverythingInOne, ()) {
  const auto first = *samples();
  const auto second = *samples();
  auto all = first;
  all.insert(all.end(), second.begin(), second.end());
  Histogram merged = of<9>(first);
  merged.merge(of<9>(second));
  RC_ASSERT(merged == of<9>(all));
}

RC_GTEST_PROP(Histogram, OrderAndGroupingOfMergesAreIrrelevant, ()) {
  const Histogram a = of<9>(*samples());
  const Histogram b = of<9>(*samples());
  const Histogram c = of<9>(*samples());
  Histogram left = a;
  left.merge(b);
  left.merge(c);
  Histogram bc = c;
  bc.merge(b);
  bc.merge(a);
  RC_ASSERT(left == bc);
}

RC_GTEST_PROP(Histogram, CoarseFromFineEqualsRecordedCoarse, ()) {
  const auto values = *samples();
  Recorder<9> recorder;
  for (const std::uint64_t value : values) recorder.record(ns(value));
  RC_ASSERT(coarse(recorder) == of<6>(values));
  RC_ASSERT(coarse(Histogram(recorder)) == of<6>(values));
}

template <unsigned SubBits>
void check_quantiles(std::vector<std::uint64_t> values, double q, double error) {
  for (std::uint64_t& value : values) value = std::min(value, LogLinear<SubBits>::kMaxValue);
  const auto histogram = of<SubBits>(values);
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()) - 1e-9));
  const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
  const auto told = static_cast<double>(histogram.quantile(q).count());
  RC_ASSERT(std::abs(told - exact) <= exact * error);
}

RC_GTEST_PROP(Histogram, QuantilesAreWithinTheirErrorOfTheSortedSamples, ()) {
  auto values = *samples();
  values.push_back(*rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  const double q = *rc::gen::inRange(0, 1001) / 1000.0;
  check_quantiles<9>(values, q, 0.001);
  check_quantiles<6>(values, q, 0.01);
}

RC_GTEST_PROP(Histogram, MeanAndDeviationMatchTheTextbook, ()) {
  auto values = *samples();
  values.push_back(7);
  for (std::uint64_t& value : values) value = std::min(value, LogLinear<9>::kMaxValue);
  const Histogram histogram = of<9>(values);
  const auto n = static_cast<long double>(values.size());
  long double mean = 0;
  for (const std::uint64_t value : values) mean += static_cast<long double>(value) / n;
  long double variance = 0;
  for (const std::uint64_t value : values) {
    variance += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean) / n;
  }
  RC_ASSERT(std::abs(static_cast<long double>(histogram.mean().count()) - mean) <= 0.51L + mean * 1e-12L);
  const long double deviation = std::sqrt(variance);
  RC_ASSERT(std::abs(static_cast<long double>(histogram.stddev().count()) - deviation) <= 0.51L + deviation * 1e-9L);
}

RC_GTEST_PROP(Histogram, RecordingOneByOneEqualsRecordingByRecorder, ()) {
  const auto values = *samples();
  Histogram direct;
  for (const std::uint64_t value : values) direct.record(ns(value));
  RC_ASSERT(direct == of<9>(values));
}

TEST(Histogram, DeviationSurvivesALargeMeanWithASmallSpread) {
  Histogram histogram;
  histogram.record(1h - 3ns, 1000);
  histogram.record(1h + 3ns, 1000);
  EXPECT_EQ(histogram.mean(), 1h);
  EXPECT_EQ(histogram.stddev(), 3ns);
}

TEST(Histogram, EmptyAnswersZeroEverywhere) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 0ns);
  EXPECT_EQ(histogram.min(), 0ns);
  EXPECT_EQ(histogram.max(), 0ns);
  EXPECT_EQ(histogram.mean(), 0ns);
  EXPECT_EQ(histogram.stddev(), 0ns);
  EXPECT_EQ(histogram.count_above(-1ns), 0u);
}

TEST(Histogram, ExtremesOfQuantilesAreExact) {
  Histogram histogram;
  histogram.record(123'456'789ns);
  histogram.record(2s);
  histogram.record(987'654'321'123ns);
  EXPECT_EQ(histogram.quantile(0), 123'456'789ns);
  EXPECT_EQ(histogram.quantile(1), 987'654'321'123ns);
  EXPECT_EQ(histogram.quantile(-1), 123'456'789ns);
  EXPECT_EQ(histogram.quantile(std::nan("")), 123'456'789ns);
}

TEST(Histogram, RankIsNotRaisedByFloatingPointNoise) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.record(Duration(i));
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(histogram.quantile(percent / 100.0), Duration(percent)) << percent;
  }
}

TEST(Histogram, CountsWhatLiesAboveABound) {
  Histogram histogram;
  histogram.record(1ms, 5);
  histogram.record(2ms, 3);
  histogram.record(3ms, 2);
  EXPECT_EQ(histogram.count_above(0ns), 10u);
  EXPECT_EQ(histogram.count_above(1ms), 5u);
  EXPECT_EQ(histogram.count_above(2ms), 2u);
  EXPECT_EQ(histogram.count_above(3ms), 0u);
}

TEST(Histogram, VisitsUsedBucketsInOrder) {
  Histogram histogram;
  histogram.record(2ms, 3);
  histogram.record(1ms, 5);
  std::vector<std::uint64_t> counts;
  histogram.for_each([&](Duration lower, Duration upper, std::uint64_t count) {
    EXPECT_LT(lower, upper);
    counts.push_back(count);
  });
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{5, 3}));
}

TEST(Histogram, MergingWithItselfDoublesIt) {
  Histogram histogram = of<9>({1, 1000, 1'000'000});
  histogram.merge(histogram);
  EXPECT_EQ(histogram, of<9>({1, 1000, 1'000'000, 1, 1000, 1'000'000}));
}

TEST(Recorder, ClampsNegativeAndHugeValues) {
  Recorder<9> recorder;
  recorder.record(-5s);
  recorder.record(Duration::max());
  EXPECT_EQ(recorder.min(), 0ns);
  EXPECT_EQ(recorder.max(), ns(LogLinear<9>::kMaxValue));
  EXPECT_EQ(recorder.count_at(0), 1u);
  EXPECT_EQ(recorder.count_at(LogLinear<9>::kBuckets - 1), 1u);
}

TEST(Recorder, ClearLeavesNothingBehind) {
  Recorder<6> recorder;
  for (int i = 0; i < 40; ++i) recorder.record(Duration(std::int64_t{1} << i));
  recorder.clear();
  EXPECT_TRUE(recorder.empty());
  EXPECT_EQ(recorder.min(), 0ns);
  for (std::size_t i = 0; i < LogLinear<6>::kBuckets; ++i) ASSERT_EQ(recorder.count_at(i), 0u);
  EXPECT_TRUE(CoarseHistogram(recorder).empty());
}

}  // namespace
}  // namespace muster::metrics
