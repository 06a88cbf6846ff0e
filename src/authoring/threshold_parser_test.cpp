#include "authoring/threshold_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::authoring {
namespace {

using model::Comparison;

TEST(ThresholdParser, ReadsMetricAggregateComparisonAndLimit) {
  struct Case {
    std::string_view text;
    std::string_view metric;
    std::string_view aggregate;
    Comparison comparison;
    double bound;
  };
  const Case cases[] = {
      {"latency p95 < 300ms", "latency", "p95", Comparison::kLess, 0.3},
      {"latency p99.99<=1m30s", "latency", "p99.99", Comparison::kLessEqual, 90},
      {"lateness max <= 0", "lateness", "max", Comparison::kLessEqual, 0},
      {"failed rate < 0.01", "failed", "rate", Comparison::kLess, 0.01},
      {"failed count != 3", "failed", "count", Comparison::kNotEqual, 3},
      {"checks rate == 100%", "checks", "rate", Comparison::kEqual, 1},
      {"checks rate >= 1", "checks", "rate", Comparison::kGreaterEqual, 1},
      {"failed rate <= 0", "failed", "rate", Comparison::kLessEqual, 0},
      {"requests rate >= 100", "requests", "rate", Comparison::kGreaterEqual, 100},
      {"requests rate > 100 / s", "requests", "rate", Comparison::kGreater, 100},
      {"dropped count == 0", "dropped", "count", Comparison::kEqual, 0},
      {"failed_iterations rate < 1%", "failed_iterations", "rate", Comparison::kLess, 0.01},
      {"checks failed == 0", "checks", "failed", Comparison::kEqual, 0},
      {"balance value > -5", "balance", "value", Comparison::kGreater, -5},
      {"my-trend p50 < 5s", "my-trend", "p50", Comparison::kLess, 5},
      {"own rate < 12/m", "own", "rate", Comparison::kLess, 0.2},
  };
  for (const Case& each : cases) {
    const auto parsed = parse_threshold(each.text);
    ASSERT_TRUE(parsed.has_value()) << each.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->text, each.text);
    EXPECT_EQ(parsed->metric, each.metric);
    EXPECT_EQ(parsed->aggregate, each.aggregate);
    EXPECT_EQ(parsed->comparison, each.comparison);
    EXPECT_DOUBLE_EQ(parsed->bound, each.bound) << each.text;
  }
}

TEST(ThresholdParser, SaysWhatIsAllowed) {
  struct Case {
    std::string_view text;
    std::size_t offset;
    std::string_view says;
  };
  const Case cases[] = {
      {"", 0, "expected a metric"},
      {"latency", 7, "expected what of 'latency' to look at"},
      {"latency < 300ms", 8, "min, mean, std, max, p50"},
      {"latncy < 300ms", 7, "did you mean 'latency'?"},
      {"latncy p9x < 300ms", 0, "did you mean 'latency'?"},
      {"latency p95", 11, "expected one of <"},
      {"latency p95 = 5s", 12, "expected one of <"},
      {"latency p95 < 300", 14, "a time needs a unit"},
      {"latency p95 < 3%", 14, "a time needs a unit"},
      {"latency p95 < fast", 14, "such as 300ms"},
      {"latency p0 < 1s", 8, "allowed are"},
      {"latency p101 < 1s", 8, "allowed are"},
      {"latency maxx < 1s", 8, "did you mean 'max'?"},
      {"failed rate < 5", 14, "a share such as 1%"},
      {"failed rate < 5s", 14, "a share such as 1%"},
      {"failed rate < 101%", 14, "a share is at most 100%, found '101%'"},
      {"checks rate > 100.5%", 14, "a share is at most 100%"},
      {"checks rate > 1", 12, "never more than 100%, so this can never hold; write `>= 100%`, or `> 1%` if one in"},
      {"checks rate > 100%", 12, "never more than 100%"},
      {"failed rate < 0", 12, "never less than 0%, so this can never hold; write `<= 0%`"},
      {"dropped rate < 0%", 13, "never less than 0%"},
      {"latency p95 < 0ms", 12, "a time is never less than 0, so this can never hold; write a limit such as `< 300ms`"},
      {"failed count < 0", 13, "a count is never less than 0, so this can never hold; write `== 0`"},
      {"checks failed < 0", 14, "a count is never less than 0"},
      {"requests rate < 0/s", 14, "a rate is never less than 0, so this can never hold; write `<= 0`"},
      {"lateness max < 0", 13, "a time is never less than 0"},
      {"latency p95 == 3ms", 12, "use < or > instead of =="},
      {"requests rate != 5/s", 14, "use < or > instead of !="},
      {"failed rate < -1%", 14, "never be negative"},
      {"failed p95 < 5", 7, "rate, count"},
      {"requests rate > 5s", 16, "such as 100/s"},
      {"requests rate > 5/x", 16, "expected a rate"},
      {"requests count > 5/s", 18, "expected the end"},
      {"latency p95 < 1s now", 17, "expected the end"},
      {"latency ~", 8, "has no meaning"},
      {"~", 0, "has no meaning"},
      {"latency p95 < ~", 14, "has no meaning"},
      {"latency p95 < 1s ~", 17, "has no meaning"},
      {"latency p95 ~ 1s", 12, "has no meaning"},
      {"balance value > -~", 17, "has no meaning"},
  };
  for (const Case& each : cases) {
    const auto parsed = parse_threshold(each.text);
    ASSERT_FALSE(parsed.has_value()) << each.text;
    EXPECT_EQ(parsed.error().offset, each.offset) << each.text << ": " << parsed.error().message;
    EXPECT_NE(parsed.error().message.find(each.says), std::string::npos) << each.text << ": " << parsed.error().message;
  }
  EXPECT_FALSE(parse_threshold(std::string(10'000, 'x')).has_value());
}

RC_GTEST_PROP(ThresholdParserProperty, NoTextCrashesIt, (const std::string& text)) {
  const auto parsed = parse_threshold("latency " + text);
  if (!parsed) RC_ASSERT(parsed.error().offset <= text.size() + 8);
}

}  // namespace
}  // namespace muster::authoring
