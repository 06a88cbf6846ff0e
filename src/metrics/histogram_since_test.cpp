#include "metrics/histogram_since.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace muster::metrics {
namespace {

using base::Duration;
using namespace std::chrono_literals;

CoarseHistogram histogram_of(const std::vector<std::uint32_t>& values) {
  CoarseHistogram histogram;
  for (const std::uint32_t value : values) histogram.record(Duration(value));
  return histogram;
}

TEST(HistogramSince, OfNothingIsAll) {
  EXPECT_EQ(since(histogram_of({5, 7}), CoarseHistogram()), histogram_of({5, 7}));
}

TEST(HistogramSince, OfAllIsNothing) {
  EXPECT_EQ(since(histogram_of({5, 7}), histogram_of({5, 7})), CoarseHistogram());
}

TEST(HistogramSince, RefusesWhatIsNotAnEarlierState) {
  EXPECT_EQ(since(histogram_of({5, 7}), histogram_of({6})), std::nullopt);
  EXPECT_EQ(since(histogram_of({5}), histogram_of({5, 5})), std::nullopt);
  EXPECT_EQ(since(CoarseHistogram(), histogram_of({5})), std::nullopt);
}

RC_GTEST_PROP(HistogramSince, CountsExactlyWhatCameBetween,
              (const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& second)) {
  const CoarseHistogram earlier = histogram_of(first);
  CoarseHistogram later = earlier;
  const CoarseHistogram added = histogram_of(second);
  later.merge(added);
  const auto found = since(later, earlier);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->buckets() == added.buckets());
  RC_ASSERT(found->totals().sum == added.totals().sum);
  RC_ASSERT(found->totals().sum_squares == added.totals().sum_squares);
  RC_ASSERT(found->min() <= added.min());
  RC_ASSERT(found->max() >= added.max());
  CoarseHistogram again = earlier;
  again.merge(*found);
  RC_ASSERT(again == later);
}

}  // namespace
}  // namespace muster::metrics
