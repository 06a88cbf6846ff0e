#include "engine/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace muster::engine {
namespace {

using ::testing::ElementsAre;

std::uint64_t up_to(std::uint64_t bound) {
  return *rc::gen::inRange<std::uint64_t>(0, bound + 1);
}

TEST(Split, GivesTheRemainderToTheLastCore) {
  EXPECT_THAT(shares(2000, 6), ElementsAre(333, 333, 333, 333, 333, 335));
}

TEST(Split, GivesFewerVusThanCoresACoreEach) {
  EXPECT_THAT(shares(2, 4), ElementsAre(1, 1, 0, 0));
  const auto slices = split(2, 10, 4);
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[1].cores, 2u);
  EXPECT_EQ(slices[1].first_vu, 1u);
  EXPECT_EQ(slices[1].iterations, 5u);
}

TEST(Split, OfNothingIsNothing) {
  EXPECT_TRUE(split(0, 0, 8).empty());
  EXPECT_TRUE(split(8, 0, 0).empty());
  EXPECT_TRUE(shares(5, 0).empty());
}

RC_GTEST_PROP(Split, LosesNothingAndGivesEveryVuOneCore, ()) {
  const std::uint64_t vus = up_to(5000);
  const std::uint64_t iterations = up_to(5000);
  const auto cores = static_cast<std::uint32_t>(up_to(70));
  std::uint64_t next_vu = 0;
  std::uint64_t iteration_sum = 0;
  const auto slices = split(vus, iterations, cores);
  for (const Slice& slice : slices) {
    RC_ASSERT(slice.first_vu == next_vu);
    RC_ASSERT(slice.vus >= 1u);
    next_vu += slice.vus;
    iteration_sum += slice.iterations;
  }
  if (cores > 0) RC_ASSERT(next_vu == vus);
  if (cores > 0 && vus > 0) RC_ASSERT(iteration_sum == iterations);
  RC_ASSERT(slices.size() == std::min<std::uint64_t>(vus, cores));
}

RC_GTEST_PROP(Split, RowsOfCoresAreDisjointAndCoverTheSource, ()) {
  const std::uint64_t rows = up_to(5000);
  std::uint64_t next = 0;
  const auto slices = split(up_to(100) + 1, 0, static_cast<std::uint32_t>(up_to(20)) + 1);
  for (const Slice& slice : slices) {
    const RowRange range = unique_rows(rows, slice);
    RC_ASSERT(range.first == next);
    next += range.count;
  }
  RC_ASSERT(next == rows);
}

RC_GTEST_PROP(Split, ActiveVusSumToWhatIsWantedAndGrowWithIt, ()) {
  const std::uint64_t peak = up_to(300) + 1;
  const auto slices = split(peak, 0, static_cast<std::uint32_t>(up_to(20)) + 1);
  std::vector<std::uint64_t> before(slices.size(), 0);
  for (std::uint64_t wanted = 0; wanted <= peak + 50; ++wanted) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const std::uint64_t active = active_vus(slices[i], peak, wanted);
      RC_ASSERT(active >= before[i]);
      if (wanted <= peak) RC_ASSERT(active <= slices[i].vus);
      if (wanted == peak) RC_ASSERT(active == slices[i].vus);
      before[i] = active;
      sum += active;
    }
    RC_ASSERT(sum == wanted);
  }
}

}  // namespace
}  // namespace muster::engine
