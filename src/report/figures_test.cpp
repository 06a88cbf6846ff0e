#include "report/figures.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

#include "report/text_layout.h"

namespace muster::report {
namespace {

using namespace std::chrono_literals;

TEST(Figures, CountsAreGroupedAndThenScaled) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(short_count(999'999), "999,999");
  EXPECT_EQ(short_count(1'234'567), "1.23M");
  EXPECT_EQ(short_count(999'600'000), "1.00G");
  EXPECT_EQ(short_count(~std::uint64_t{0}), "18.4E");
}

TEST(Figures, RatesKeepThreeDigits) {
  EXPECT_EQ(short_rate(0), "0");
  EXPECT_EQ(short_rate(0.0001), "<0.01");
  EXPECT_EQ(short_rate(0.25), "0.25");
  EXPECT_EQ(short_rate(42.73), "42.7");
  EXPECT_EQ(short_rate(999.7), "1,000");
  EXPECT_EQ(short_rate(42'731.4), "42,731");
  EXPECT_EQ(short_rate(1'234'567), "1.23M");
}

TEST(Figures, TimesChangeTheirUnitWhereRoundingWouldSpill) {
  EXPECT_EQ(short_time(0ns, true), "0");
  EXPECT_EQ(short_time(850ns, true), "850ns");
  EXPECT_EQ(short_time(12'340ns, true), "12.3µs");
  EXPECT_EQ(short_time(12'340ns, false), "12.3us");
  EXPECT_EQ(short_time(999'600ns, true), "1.00ms");
  EXPECT_EQ(short_time(59'960ms, true), "1m00s");
  EXPECT_EQ(short_time(3599'700ms, true), "1h00m");
  EXPECT_EQ(short_time(200h, true), "200h");
  EXPECT_EQ(clock_time(75s), "01:15");
  EXPECT_EQ(clock_time(3723s), "1:02:03");
}

TEST(Figures, PercentagesNeverHideAFailureOrAMiss) {
  EXPECT_EQ(percentage(0, 0), "0%");
  EXPECT_EQ(percentage(1, 1'000'000), "<0.01%");
  EXPECT_EQ(percentage(1, 1'000), "0.10%");
  EXPECT_EQ(percentage(15, 1'000), "1.5%");
  EXPECT_EQ(percentage(999'999, 1'000'000), ">99.9%");
  EXPECT_EQ(percentage(7, 7), "100%");
}

TEST(Figures, SizesAndPlainNumbersAreReadable) {
  EXPECT_EQ(size_text(950), "950 B");
  EXPECT_EQ(size_text(24'100'000), "24.1 MB");
  EXPECT_EQ(plain_number(0.12345), "0.1235");
  EXPECT_EQ(plain_number(12'345.6), "12,346");
  EXPECT_EQ(plain_number(-3), "-3");
}

RC_GTEST_PROP(Figures, KeepTheirColumns, (std::uint64_t number, std::int64_t ns)) {
  RC_ASSERT(short_count(number).size() <= 7u);
  RC_ASSERT(short_rate(static_cast<double>(number)).size() <= 6u);
  const std::uint64_t whole = number | 1;
  RC_ASSERT(percentage(static_cast<std::uint64_t>(ns < 0 ? 0 : ns) % whole, whole).size() <= 6u);
  RC_ASSERT(width(short_time(base::Duration(ns % 360'000'000'000'000), true)) <= 6u);
}

TEST(TextLayout, ControlCharactersNeverReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\r\nc\x7f\xff\xc2\x9b", true), "a.[31mb  c...");
  EXPECT_EQ(printable("é注", false), "??");
  EXPECT_EQ(printable("x\xE2\x80\xAEy", true), "x.y") << "a right-to-left override would hide what follows";
}

TEST(TextLayout, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(width("é…✓"), 3u);
  EXPECT_EQ(width("注文"), 4u);
  EXPECT_EQ(width("e\xCC\x81"), 1u);
}

TEST(TextLayout, NamesLoseTheirMiddleAndSentencesTheirEnd) {
  EXPECT_EQ(shortened("GET /api/v1/orders/confirm", 13, true), "GET /a…onfirm");
  EXPECT_EQ(shortened("short", 13, true), "short");
  EXPECT_EQ(truncated("connection refused", 11, false), "connection~");
}

TEST(TextLayout, WrappingKeepsWordsWhereItCan) {
  EXPECT_EQ(wrapped("one two  three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefghij k", 4), (std::vector<std::string>{"abcd", "efgh", "ij k"}));
  EXPECT_TRUE(wrapped("", 4).empty());
}

RC_GTEST_PROP(TextLayout, NothingIsWiderThanAskedFor, (std::string text)) {
  const std::size_t columns = *rc::gen::inRange<std::size_t>(2, 40);
  const std::string safe = printable(text, true);
  RC_ASSERT(printable(safe, true) == safe);
  RC_ASSERT(width(shortened(safe, columns, true)) <= columns);
  RC_ASSERT(width(truncated(safe, columns, true)) <= columns);
  for (const std::string& line : wrapped(safe, columns)) RC_ASSERT(width(line) <= columns);
}

}  // namespace
}  // namespace muster::report
