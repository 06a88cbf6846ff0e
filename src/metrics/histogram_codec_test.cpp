#include "metrics/histogram_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "metrics/options.h"

namespace muster::metrics {
namespace {

using base::Duration;
using namespace std::chrono_literals;

template <unsigned SubBits>
BasicHistogram<SubBits> random_histogram(std::uint64_t seed, std::size_t samples) {
  base::Random random(seed);
  Recorder<SubBits> recorder;
  for (std::size_t i = 0; i < samples; ++i) {
    recorder.record(Duration(static_cast<std::int64_t>(random.next() >> (20 + random.below(44)))));
  }
  return BasicHistogram<SubBits>(recorder);
}

template <unsigned SubBits>
std::string bytes_of(const BasicHistogram<SubBits>& histogram) {
  std::string bytes;
  encode(histogram, bytes);
  return bytes;
}

RC_GTEST_PROP(HistogramCodec, DecodingIsTheInverseOfEncoding, (std::uint64_t seed)) {
  const auto samples = *rc::gen::inRange<std::size_t>(0, 500);
  const auto fine = random_histogram<9>(seed, samples);
  const auto small = random_histogram<6>(seed, samples);
  RC_ASSERT(decode<9>(bytes_of(fine)).value() == fine);
  RC_ASSERT(decode<6>(bytes_of(small)).value() == small);
}

RC_GTEST_PROP(HistogramCodec, NoPrefixOfAnEncodingDecodes, (std::uint64_t seed)) {
  const std::string bytes = bytes_of(random_histogram<6>(seed, 20));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RC_ASSERT(!decode<6>(std::string_view(bytes).substr(0, size)).has_value());
  }
}

RC_GTEST_PROP(HistogramCodec, ADamagedEncodingIsRefusedOrDecodesToItself, (std::uint64_t seed)) {
  std::string bytes = bytes_of(random_histogram<9>(seed, 30));
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  if (const auto decoded = decode<9>(bytes)) RC_ASSERT(bytes_of(*decoded) == bytes);
}

TEST(HistogramCodec, EmptyTakesThreeBytes) {
  EXPECT_EQ(bytes_of(Histogram()).size(), 3u);
}

TEST(HistogramCodec, AFullHistogramStaysUnderTheLimitOfBytes) {
  std::vector<Bucket> buckets;
  Totals totals;
  using Layout = Histogram::Layout;
  const std::uint64_t each = kMaxSamples / Layout::kBuckets;
  for (std::uint32_t i = 0; i < Layout::kBuckets; ++i) {
    const Sum value = Layout::lower(i);
    buckets.push_back({each, i});
    totals.count += each;
    totals.sum += value * each;
    totals.sum_squares += value * value * each;
  }
  totals.max = Layout::lower(Layout::kBuckets - 1);
  const auto restored = Histogram::restore(std::move(buckets), totals);
  ASSERT_TRUE(restored.has_value());
  const std::string bytes = bytes_of(*restored);
  EXPECT_LE(bytes.size(), kMaxHistogramBytes);
  EXPECT_EQ(decode<9>(bytes).value(), *restored);
}

TEST(HistogramCodec, SaysWhatIsWrongWithAnotherLayout) {
  const auto decoded = decode<9>(bytes_of(CoarseHistogram()));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("6 bits, expected are 9"), std::string::npos) << decoded.error().message;
}

TEST(HistogramCodec, RefusesTrailingBytesAndForeignVersions) {
  std::string bytes = bytes_of(Histogram());
  EXPECT_FALSE(decode<9>(bytes + "x").has_value());
  bytes[0] = 99;
  EXPECT_FALSE(decode<9>(bytes).has_value());
}

TEST(HistogramCodec, RefusesTotalsThatContradictTheBuckets) {
  Histogram histogram;
  histogram.record(1ms, 10);
  histogram.record(2ms, 10);
  const auto broken = [&](auto change) {
    Totals totals = histogram.totals();
    change(totals);
    return !Histogram::restore(histogram.buckets(), totals).has_value();
  };
  EXPECT_FALSE(broken([](Totals&) {}));
  EXPECT_TRUE(broken([](Totals& totals) { totals.count = 19; }));
  EXPECT_TRUE(broken([](Totals& totals) { totals.min = 0; }));
  EXPECT_TRUE(broken([](Totals& totals) { totals.max = 3'000'000; }));
  EXPECT_TRUE(broken([](Totals& totals) { totals.sum = 0; }));
  EXPECT_TRUE(broken([](Totals& totals) { totals.sum_squares = ~Sum{0}; }));
}

}  // namespace
}  // namespace muster::metrics
