#include "metrics/value_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace muster::metrics {
namespace {

TEST(ValueHistogram, PercentilesHoldFromTinyToHugeAndBelowZero) {
  for (const double value : {0.0004, 0.0123, 1e-9, 1.0, 300.0, 4.4e9, 1.79e12, 9e17, -5.0, -1e-6, -1.79e12}) {
    ValueHistogram histogram;
    histogram.record(value, 10);
    EXPECT_NEAR(histogram.quantile(0.5) / value, 1, 0.008) << value;
  }
}

TEST(ValueHistogram, SmallWholeNumbersAreExact) {
  for (int value = -255; value < 256; ++value) {
    EXPECT_EQ(ValueLayout::value(ValueLayout::index(value)), static_cast<double>(value));
  }
}

TEST(ValueHistogram, KeepsTheOrderOfValues) {
  ValueHistogram histogram;
  for (const double value : {3.0, -20.0, 0.0, 0.001, -0.5}) histogram.record(value);
  EXPECT_NEAR(histogram.quantile(0.0), -20, 0.2);
  EXPECT_NEAR(histogram.quantile(0.4), -0.5, 0.01);
  EXPECT_EQ(histogram.quantile(0.6), 0);
  EXPECT_NEAR(histogram.quantile(0.8), 0.001, 0.0001);
  EXPECT_NEAR(histogram.quantile(1.0), 3, 0.03);
}

TEST(ValueHistogram, WhatHasNoPlaceCountsAtTheNearestOne) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ValueLayout::index(infinite), ValueLayout::kBuckets - 1);
  EXPECT_EQ(ValueLayout::index(-infinite), 0U);
  EXPECT_EQ(ValueLayout::index(1e300), ValueLayout::kBuckets - 1);
  EXPECT_EQ(ValueLayout::index(1e-300), ValueLayout::kZero);
  EXPECT_EQ(ValueLayout::index(std::nan("")), ValueLayout::kZero);
}

RC_GTEST_PROP(ValueHistogram, ARecorderAndBytesGiveTheSameHistogram, ()) {
  const auto values = *rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::pair(rc::gen::inRange(-1000, 1000), rc::gen::inRange(-9, 14)),
                   [](const auto& pair) { return static_cast<double>(pair.first) * std::pow(10.0, pair.second); }));
  ValueRecorder recorder;
  ValueHistogram one;
  ValueHistogram halves[2];
  for (std::size_t i = 0; i < values.size(); ++i) {
    recorder.record(values[i]);
    one.record(values[i]);
    halves[i % 2].record(values[i]);
  }
  ValueHistogram recorded;
  recorded.add(recorder);
  halves[0].merge(halves[1]);
  RC_ASSERT(recorded == one);
  RC_ASSERT(halves[0] == one);
  RC_ASSERT(one.count() == values.size());
  std::string bytes;
  Writer writer(bytes);
  one.write(writer);
  Reader reader(bytes);
  RC_ASSERT(ValueHistogram::read(reader) == one);
  RC_ASSERT(reader.ok() && reader.at_end());
  recorder.clear();
  ValueHistogram nothing;
  nothing.add(recorder);
  RC_ASSERT(nothing.empty());
}

TEST(ValueHistogram, RefusesBucketsThatCannotBe) {
  std::string bytes;
  Writer writer(bytes);
  writer.varint(1);
  writer.varint(ValueLayout::kBuckets);
  writer.varint(1);
  Reader reader(bytes);
  EXPECT_TRUE(ValueHistogram::read(reader).empty());
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace muster::metrics
