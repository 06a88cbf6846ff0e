#include "store/run_id.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace muster::store {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kMidnight = 1'763'164'800s;  // 2025-11-15 00:00:00 UTC

TEST(RunId, HoldsTheDayAndTheTimeOfDay) {
  EXPECT_EQ(run_id(kMidnight, 0), "r-20251115-0000");
  EXPECT_EQ(run_id(kMidnight + 1s, 0), "r-20251115-0008");
  EXPECT_EQ(run_id(kMidnight + 1s + 999ms, 0), "r-20251115-0008");
  EXPECT_EQ(run_id(kMidnight + 24h - 1s, 0), "r-20251115-n2zr");
  EXPECT_EQ(run_id(kMidnight + 24h, 0), "r-20251116-0000");
}

TEST(RunId, CountsUpOverNamesThatAreTaken) {
  EXPECT_EQ(run_id(kMidnight, 1), "r-20251115-0001");
  EXPECT_EQ(run_id(kMidnight, 8), run_id(kMidnight + 1s, 0));
}

TEST(RunId, IsMadeOfAnyTime) {
  EXPECT_EQ(run_id(-5s, 0), "r-19700101-0000");
  EXPECT_EQ(run_id(base::Duration::max(), 4'000'000'000).size(), 15u);
}

RC_GTEST_PROP(RunId, SortsByTime, ()) {
  const auto a = std::chrono::seconds(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
  const auto b = std::chrono::seconds(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
  RC_ASSERT((run_id(a, 0) < run_id(b, 0)) == (a < b));
}

TEST(RunId, IsForgivingToWhoeverTypesIt) {
  EXPECT_EQ(normalised_id("R-20251115-N2ZR"), "r-20251115-n2zr");
  EXPECT_EQ(normalised_id("20251115-oil0"), "r-20251115-0110");
  EXPECT_EQ(normalised_id("r-2025"), "r-2025");
  EXPECT_EQ(normalised_id(""), "");
}

}  // namespace
}  // namespace muster::store
