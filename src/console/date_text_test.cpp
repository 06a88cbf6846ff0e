#include "console/date_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::console {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kNow = 1'763'164'800s;  // 2025-11-15 00:00:00 UTC

TEST(ParseMoment, TakesDatesAndTimes) {
  EXPECT_EQ(*parse_moment("2025-11-15", kNow), kNow);
  EXPECT_EQ(*parse_moment("2025-11-15T10:30", kNow), kNow + 10h + 30min);
  EXPECT_EQ(*parse_moment("2025-11-14 23:59", kNow), kNow - 1min);
}

TEST(ParseMoment, TakesAges) {
  EXPECT_EQ(*parse_moment("30d", kNow), kNow - 30 * 24h);
  EXPECT_EQ(*parse_moment("1h30m", kNow), kNow - 90min);
}

TEST(ParseMoment, RefusesEverythingElse) {
  for (const char* text : {"", "yesterday", "2025-13-01", "2025-02-30", "2025-1-1", "2025-11-15T25:00", "20251115",
                           "2025-11-15T10", "-1d", "99999999d", "1969-12-31"}) {
    const auto moment = parse_moment(text, kNow);
    ASSERT_FALSE(moment.has_value()) << text;
    EXPECT_THAT(moment.error().message, ::testing::HasSubstr("2026-11-15"));
  }
}

}  // namespace
}  // namespace muster::console
