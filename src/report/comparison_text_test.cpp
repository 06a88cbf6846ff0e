#include "report/comparison_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/compare.h"
#include "report/comparison_words.h"
#include "report/fail_if.h"
#include "report/made_up_runs.h"
#include "report/test_runs.h"
#include "report/text_layout.h"

namespace muster::report {
namespace {

using test::made_up;
using ::testing::HasSubstr;
using ::testing::Not;

Comparison example(double tail) {
  model::RunResult before = made_up({.seed = 1});
  model::RunResult after = made_up({.tail = tail, .seed = 2});
  before.id = "r-20261114-a1b2";
  after.id = "r-20261115-k3f8";
  return compare(before, identity_of(before), after, identity_of(after));
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), 80u) << line;
}

TEST(ComparisonText, TellsTheVerdictAndTheTable) {
  Comparison comparison = example(1.2);
  judge_conditions(comparison, {*parse_fail_if("p95 +10%")});
  const std::string text = comparison_text(comparison);
  EXPECT_THAT(text, HasSubstr("r-20261115-k3f8 compared with r-20261114-a1b2"));
  EXPECT_THAT(text, HasSubstr("✗ worse: p95 rose by"));
  EXPECT_THAT(text, HasSubstr("95% interval"));
  EXPECT_THAT(text, HasSubstr("fail if"));
  EXPECT_THAT(text, Not(HasSubstr("GET /"))) << "a single step is the whole run";
  expect_narrow(text);
}

TEST(ComparisonText, SaysThatNothingChanged) {
  EXPECT_THAT(comparison_text(example(1)), HasSubstr("same: no change beyond chance"));
}

TEST(ComparisonText, NeverGrowsWide) {
  const auto all = {test::passed(), test::marked(), test::wide(), test::refused(), test::nothing()};
  for (const model::RunResult& before : all) {
    for (const model::RunResult& after : all) {
      RunIdentity labelled = identity_of(after);
      labelled.labels = {{"branch", std::string(200, 'b')}};
      const Comparison comparison = compare(before, identity_of(before), after, labelled, {.resamples = 10});
      expect_narrow(comparison_text(comparison));
      expect_narrow(comparison_text(comparison, {.unicode = false}));
    }
  }
}

TEST(ComparisonText, StepsThatChangedBeyondThoseShownAreNotCalledUnchanged) {
  Comparison comparison = example(1);
  std::erase_if(comparison.deltas, [](const Delta& each) { return !each.step.empty(); });
  for (int i = 0; i < 8; ++i) {
    Delta delta = comparison.deltas.front();
    delta.workflow = "w";
    delta.step = "step " + std::to_string(i);
    delta.significant = i < 5;
    comparison.deltas.push_back(std::move(delta));
  }
  SummaryOptions options;
  options.most_rows = 2;
  const std::string text = comparison_text(comparison, options);
  EXPECT_THAT(text, HasSubstr("w: step 1"));
  EXPECT_THAT(text, Not(HasSubstr("w: step 2")));
  EXPECT_THAT(text, HasSubstr("and 3 more with changes, in the JSON output"));
  EXPECT_THAT(text, HasSubstr("3 steps without a change beyond chance, in the JSON output"));
  options.most_rows = 5;
  EXPECT_THAT(comparison_text(comparison, options), Not(HasSubstr("more with changes")));
}

TEST(ComparisonText, LetsNoControlCharacterThrough) {
  Comparison comparison = example(1);
  comparison.before.job = "\x1b[31mred\n";
  comparison.notes = {"\x1b]0;title\x07"};
  EXPECT_THAT(comparison_text(comparison), Not(HasSubstr("\x1b")));
}

TEST(ComparisonWords, RoundAsPeopleRead) {
  EXPECT_EQ(signed_percent(0.1234), "+12%");
  EXPECT_EQ(signed_percent(-0.0549), "-5.5%");
  EXPECT_EQ(signed_percent(0.00123), "+0.12%");
  EXPECT_EQ(signed_percent(0.00001), "0%");
  EXPECT_EQ(signed_percent(12.5), "+1,250%");
  EXPECT_EQ(signed_percent(1e300), "+>9,999%");
}

}  // namespace
}  // namespace muster::report
