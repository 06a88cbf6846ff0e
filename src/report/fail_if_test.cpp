#include "report/fail_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_up_runs.h"

namespace muster::report {
namespace {

using test::made_up;
using ::testing::HasSubstr;

TEST(ParseFailIf, TakesRelativeChanges) {
  const auto found = parse_fail_if("p95 +10%");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->metric, "p95");
  EXPECT_TRUE(found->relative);
  EXPECT_DOUBLE_EQ(found->limit, 0.1);
  EXPECT_DOUBLE_EQ(parse_fail_if("rate -5%")->limit, -0.05);
  EXPECT_EQ(parse_fail_if("p999 +1%")->metric, "p99.9");
}

TEST(ParseFailIf, TakesAbsoluteChangesWithUnits) {
  EXPECT_DOUBLE_EQ(parse_fail_if("mean +20ms")->limit, 0.02);
  EXPECT_DOUBLE_EQ(parse_fail_if("rate -100/s")->limit, -100);
  EXPECT_FALSE(parse_fail_if("mean +20ms")->relative);
  const auto failed = parse_fail_if("failed +1%");
  EXPECT_FALSE(failed->relative) << "a share rises by points";
  EXPECT_DOUBLE_EQ(failed->limit, 0.01);
}

TEST(ParseFailIf, TakesAStepInAnyPlaceAndInQuotes) {
  EXPECT_EQ(parse_fail_if("p99 step=login +1s")->step, "login");
  EXPECT_EQ(parse_fail_if("p99 +1s step='GET /cart'")->step, "GET /cart");
  const auto both = parse_fail_if("p99 workflow=shop step=\"a b\" +1s");
  EXPECT_EQ(both->workflow, "shop");
  EXPECT_EQ(both->step, "a b");
}

TEST(ParseFailIf, SaysWhatWouldHaveBeenRight) {
  const auto refusal = [](std::string_view text) {
    const auto found = parse_fail_if(text);
    return found ? std::string("it was read") : found.error().message;
  };
  EXPECT_THAT(refusal(""), HasSubstr("'p95 +10%'"));
  EXPECT_THAT(refusal("p95"), HasSubstr("'p95 +10%'"));
  EXPECT_THAT(refusal("p95 10%"), HasSubstr("begins with '+' or '-'"));
  EXPECT_THAT(refusal("p96 +10%"), HasSubstr("did you mean 'p9"));
  EXPECT_THAT(refusal("p95 +10"), HasSubstr("10"));
  EXPECT_THAT(refusal("p95+10%"), HasSubstr("write 'p95 +10%'"));
  EXPECT_THAT(refusal("rate-5% step=x"), HasSubstr("write 'rate -5%'"));
  EXPECT_THAT(refusal("p95 +10% +20%"), HasSubstr("write two --fail-if"));
  EXPECT_THAT(refusal("p95 step= +10%"), HasSubstr("needs a name"));
  EXPECT_THAT(refusal("p95 workflow=shop +10%"), HasSubstr("'step='"));
  EXPECT_THAT(refusal("p95 step='x +10%"), HasSubstr("quote"));
  EXPECT_THAT(refusal("failed +1ms"), HasSubstr("per cent"));
  EXPECT_THAT(refusal("p95 +-5%"), HasSubstr("no size"));
  EXPECT_THAT(refusal("p95 -200%"), HasSubstr("'-200%' can never be exceeded"));
  EXPECT_THAT(refusal("rate -100%"), HasSubstr("never"));
  EXPECT_THAT(refusal("failed +100%"), HasSubstr("never"));
  EXPECT_EQ(refusal("p95 +200%"), "it was read");
  EXPECT_THAT(refusal(std::string(5'000, 'x')), HasSubstr("longer"));
}

ConditionVerdict judged(const model::RunResult& before, const model::RunResult& after, std::string_view condition) {
  Comparison comparison = compare(before, identity_of(before), after, identity_of(after));
  judge_conditions(comparison, {*parse_fail_if(condition)});
  return comparison.conditions.at(0);
}

TEST(FailIf, FiresOnAChangeBeyondItsLimitThatIsNoChance) {
  const model::RunResult before = made_up({.seed = 1});
  const model::RunResult after = made_up({.all = 1.2, .seed = 2});
  EXPECT_TRUE(judged(before, after, "p95 +10%").fired);
  EXPECT_TRUE(judged(before, after, "p50 +2ms").fired);
  EXPECT_TRUE(judged(before, after, "p95 step='GET /' +10%").fired);
  EXPECT_FALSE(judged(before, after, "p95 +30%").fired);
  EXPECT_FALSE(judged(before, after, "p95 -10%").fired);
  EXPECT_TRUE(judged(after, before, "p95 -10%").fired);
  EXPECT_THAT(judged(before, after, "p95 +10%").sentence, HasSubstr("p95 rose by"));
  EXPECT_THAT(judged(before, after, "p95 +10%").sentence, HasSubstr("the limit is 10%"));
}

TEST(FailIf, DoesNotFireOnWhatMayBeChance) {
  const model::RunResult before = made_up({.seconds = 12, .rate = 20, .seed = 1});
  for (std::uint64_t seed = 2; seed != 30; ++seed) {
    const ConditionVerdict verdict = judged(before, made_up({.seconds = 12, .rate = 20, .seed = seed}), "p95 +1%");
    EXPECT_FALSE(verdict.fired) << seed << ": " << verdict.sentence;
  }
}

TEST(FailIf, TellsOnePointAsOne) {
  const model::RunResult before = made_up({.seed = 1});
  const model::RunResult after = made_up({.failed = 0.05, .seed = 2});
  EXPECT_THAT(judged(before, after, "failed +1%").sentence, ::testing::EndsWith("the limit is 1 point"));
  EXPECT_THAT(judged(before, after, "failed +2%").sentence, ::testing::EndsWith("the limit is 2 points"));
}

TEST(FailIf, JudgesTheMaximumByItsValue) {
  model::RunResult after = made_up({.seed = 1});
  after.workflows[0].steps[0].latency.record(std::chrono::seconds(30));
  EXPECT_TRUE(judged(made_up({.seed = 1}), after, "max +100%").fired);
}

TEST(FailIf, SaysWhyItCouldNotJudge) {
  const model::RunResult before = made_up({.seed = 1});
  const model::RunResult brief = made_up({.seconds = 4, .seed = 2});
  EXPECT_FALSE(judged(before, brief, "p95 +10%").judged);
  EXPECT_THAT(judged(before, brief, "p95 +10%").sentence, HasSubstr("too few"));
  EXPECT_THAT(judged(before, before, "p95 step=cart +10%").sentence, HasSubstr("no step 'cart' in both runs"));
}

TEST(FailIf, NeedsMoreCertaintyOfEachWhereThereAreMany) {
  Delta delta;
  delta.judged = true;
  delta.p = 0.02;
  delta.change = 0.2;
  EXPECT_TRUE(significant_among(delta, 1));
  EXPECT_TRUE(significant_among(delta, 2));
  EXPECT_FALSE(significant_among(delta, 3));
}

}  // namespace
}  // namespace muster::report
