#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace muster::base {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(Units, DurationsAreReadInEveryUnit) {
  const std::pair<std::string_view, Duration> cases[] = {
      {"300ms", milliseconds(300)},
      {"1s", milliseconds(1000)},
      {"1.5s", milliseconds(1500)},
      {"5m", minutes(5)},
      {"2h", hours(2)},
      {"10us", microseconds(10)},
      {"10µs", microseconds(10)},
      {"7ns", Duration(7)},
      {"1d", hours(24)},
      {"1m30s", milliseconds(90'000)},
      {"1h2m3s4ms", hours(1) + minutes(2) + milliseconds(3004)},
      {"0", Duration{}},
      {"0s", Duration{}},
      {" 5m ", minutes(5)},
      {"1e2s", milliseconds(100'000)},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(Units, WhatIsNoDurationIsRefusedWithAHint) {
  for (std::string_view text : {"", "5", "s", "5 s", "-5s", "1s1m", "1s1s", "5sec", "1..5s", "1e99s", "1e999s",
                                "300 000h", "99999999999999h", "1m30"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
  EXPECT_NE(parse_duration("5").error().message.find("add a unit"), std::string::npos);
  EXPECT_NE(parse_duration("5sec").error().message.find("'sec' is not a unit of time"), std::string::npos);
}

TEST(Units, SizesAreReadInThousandsAndIn1024s) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {
      {"512", 512},         {"10B", 10},       {"10KB", 10'000}, {"10kB", 10'000},
      {"10KiB", 10'240},    {"4MiB", 4 << 20}, {"1.5KiB", 1536}, {"2GB", 2'000'000'000},
      {"1TiB", 1ULL << 40}, {"1.1KB", 1100},   {"0", 0},         {"3 MB", 3'000'000},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = parse_size(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
  for (std::string_view text : {"", "KB", "-1", "1.5", "10XB", "1e30TB", "10 K B", "1e999"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

TEST(Units, RatesArePerSecond) {
  const std::pair<std::string_view, double> cases[] = {
      {"200/s", 200}, {"12/m", 0.2}, {"36/h", 0.01}, {"3/100ms", 30}, {"5", 5}, {"0/s", 0}, {"1.5 / s", 1.5},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = parse_rate(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_NEAR(*parsed, expected, 1e-12) << text;
  }
  for (std::string_view text : {"", "/s", "-1/s", "5/", "5/0s", "5/x", "5/s/s", "a/s"}) {
    EXPECT_FALSE(parse_rate(text).has_value()) << text;
  }
}

TEST(Units, PercentsAreFractions) {
  EXPECT_DOUBLE_EQ(parse_percent("1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_percent("99.9 %").value(), 0.999);
  EXPECT_FALSE(parse_percent("1").has_value());
  EXPECT_FALSE(parse_percent("%").has_value());
  EXPECT_FALSE(parse_percent("x%").has_value());
}

TEST(Units, PlainNumbersAreReadWhole) {
  EXPECT_EQ(parse_number("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_number("007"), 7.0);
  for (std::string_view text : {"", "-", "+1", "1.", ".5", "0x10", "inf", "nan", "1 ", "1e999", "1e", "--1"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Units, DurationsAreWrittenForPeople) {
  const std::pair<Duration, std::string_view> cases[] = {
      {Duration(0), "0 ns"},          {Duration(850), "850 ns"},        {Duration(12'345), "12.3 µs"},
      {Duration(999'600), "1.00 ms"}, {milliseconds(300), "300 ms"},    {milliseconds(1500), "1.50 s"},
      {milliseconds(59'990), "1m"},   {milliseconds(90'000), "1m 30s"}, {hours(2) + minutes(5), "2h 5m"},
      {hours(50), "2d 2h"},           {milliseconds(-300), "-300 ms"},
  };
  for (const auto& [duration, expected] : cases) EXPECT_EQ(format_duration(duration), expected);
  EXPECT_EQ(format_duration(Duration::min()).front(), '-');
}

TEST(Units, SizesAndCountsAreWrittenForPeople) {
  EXPECT_EQ(format_size(512), "512 B");
  EXPECT_EQ(format_size(1536), "1.50 KiB");
  EXPECT_EQ(format_size(12'900'000), "12.3 MiB");
  EXPECT_EQ(format_size((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_size(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(950), "950");
  EXPECT_EQ(format_count(0.25), "0.25");
  EXPECT_EQ(format_count(12'345), "12.3k");
  EXPECT_EQ(format_count(999'600), "1.00M");
  EXPECT_EQ(format_count(-4'560'000), "-4.56M");
  EXPECT_EQ(format_count(1e18), "1000000T");
}

RC_GTEST_PROP(Units, NoTextCrashesAParser, (const std::string& text)) {
  static_cast<void>(parse_duration(text));
  static_cast<void>(parse_size(text));
  static_cast<void>(parse_rate(text));
  static_cast<void>(parse_percent(text));
}

RC_GTEST_PROP(Units, WholeMillisecondsSurviveWritingAndReading, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  RC_ASSERT(parse_duration(std::to_string(count) + "ms").value() == milliseconds(count));
}

}  // namespace
}  // namespace muster::base
