#include "engine/thresholds.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "engine/measure.h"

namespace muster::engine {
namespace {

using namespace std::chrono_literals;
using model::Comparison;
using model::Threshold;

Threshold threshold(std::string metric, std::string aggregate, Comparison comparison, double bound) {
  Threshold made;
  made.text = metric + " " + aggregate;
  made.metric = std::move(metric);
  made.aggregate = std::move(aggregate);
  made.comparison = comparison;
  made.bound = bound;
  return made;
}

model::StepResult counted_step(std::string name, std::uint64_t ok, std::uint64_t failed, base::Duration latency) {
  model::StepResult made;
  made.name = std::move(name);
  made.kind = "http";
  made.ok = ok;
  made.failed = failed;
  if (ok + failed > 0) made.latency.record(latency, ok + failed);
  return made;
}

model::WorkflowResult workflow(std::string name, base::Duration elapsed = 10s) {
  model::WorkflowResult made;
  made.name = std::move(name);
  made.state = model::WorkflowState::kCompleted;
  made.elapsed = elapsed;
  return made;
}

void add_second(model::StepResult& to, std::uint32_t second, std::uint64_t ok, std::uint64_t failed,
                base::Duration latency) {
  model::StepSecond made;
  made.second = second;
  made.ok = ok;
  made.failed = failed;
  made.latency.record(latency, ok + failed);
  to.series.push_back(made);
  to.ok += ok;
  to.failed += failed;
  to.latency.record(latency, ok + failed);
}

model::ThresholdVerdict judged(const Threshold& one, const std::vector<model::WorkflowResult>& workflows) {
  return judge({one}, workflows).front();
}

TEST(Thresholds, LatencyPercentilesComeFromAllTestStepsTogether) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("fast", 90, 0, 10ms), counted_step("slow", 10, 0, 500ms)};
  auto group = counted_step("group", 100, 0, 900ms);
  group.role = model::StepRole::kControl;
  shop.steps.push_back(group);
  const auto p90 = judged(threshold("latency", "p90", Comparison::kLess, 0.3), {shop});
  EXPECT_TRUE(p90.judged);
  EXPECT_TRUE(p90.passed);
  EXPECT_NEAR(p90.value, 0.010, 0.0001);
  EXPECT_EQ(p90.samples, 100u);
  const auto p95 = judged(threshold("latency", "p95", Comparison::kLess, 0.3), {shop});
  EXPECT_FALSE(p95.passed);
  EXPECT_NEAR(p95.value, 0.5, 0.001);
}

TEST(Thresholds, EveryAggregateOfLatencyIsMeasured) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 50, 0, 100ms), counted_step("b", 50, 0, 300ms)};
  const auto value = [&](const std::string& aggregate) {
    return judged(threshold("latency", aggregate, Comparison::kLess, 1), {shop}).value;
  };
  EXPECT_NEAR(value("mean"), 0.2, 1e-6);
  EXPECT_NEAR(value("min"), 0.1, 1e-6);
  EXPECT_NEAR(value("max"), 0.3, 1e-6);
  EXPECT_NEAR(value("std"), 0.1, 1e-6);
  EXPECT_NEAR(value("median"), 0.1, 1e-3);
  EXPECT_NEAR(value("p99.9"), 0.3, 1e-3);
  EXPECT_NEAR(value("p999"), 0.3, 1e-3);
  EXPECT_DOUBLE_EQ(value("count"), 100);
}

TEST(Thresholds, WhereNamesAWorkflowAStepOrATag) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("login", 10, 0, 10ms), counted_step("cart", 10, 0, 40ms)};
  shop.steps[1].tags = {{"team", "checkout"}};
  auto admin = workflow("admin");
  admin.steps = {counted_step("login", 10, 0, 80ms)};
  model::TaggedResult eu;
  eu.tags = "region=eu,plan=free";
  eu.ok = 4;
  eu.latency.record(20ms, 4);
  model::TaggedResult europe = eu;
  europe.tags = "region=europe,plan=free";
  europe.latency.record(900ms, 4);
  admin.tagged = {eu, europe};

  auto rule = threshold("latency", "max", Comparison::kLess, 1);
  const auto value = [&](std::vector<std::pair<std::string, std::string>> where) {
    rule.where = std::move(where);
    return judged(rule, {shop, admin}).value;
  };
  EXPECT_NEAR(value({}), 0.08, 1e-6);
  EXPECT_NEAR(value({{"workflow", "shop"}}), 0.04, 1e-6);
  EXPECT_NEAR(value({{"workflow", "shop"}, {"step", "login"}}), 0.01, 1e-6);
  EXPECT_NEAR(value({{"step", "login"}}), 0.08, 1e-6);
  EXPECT_NEAR(value({{"team", "checkout"}}), 0.04, 1e-6);
  EXPECT_NEAR(value({{"region", "eu"}}), 0.02, 1e-6);
  EXPECT_EQ(judged(rule, {shop, admin}).where, "region=eu");
}

TEST(Thresholds, WhereMayNameAStepAndConstantTagsBesideThoseThatOnlyTheRunTells) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 20, 0, 10ms), counted_step("b", 20, 0, 40ms)};
  shop.steps[0].tags = {{"kind", "read"}};
  for (const char* name : {"a", "b"}) {
    for (const char* lane : {"1", "2"}) {
      model::TaggedResult row;
      row.step = name;
      row.tags = std::string("lane=") + lane;
      row.ok = 10;
      row.latency.record(name[0] == 'a' ? 10ms : 40ms, 10);
      shop.tagged.push_back(row);
    }
  }
  auto rule = threshold("requests", "count", Comparison::kGreater, 0);
  const auto count = [&](std::vector<std::pair<std::string, std::string>> where) {
    rule.where = std::move(where);
    return judged(rule, {shop}).value;
  };
  EXPECT_EQ(count({{"lane", "1"}}), 20);
  EXPECT_EQ(count({{"lane", "1"}, {"step", "a"}}), 10);
  EXPECT_EQ(count({{"lane", "1"}, {"kind", "read"}}), 10);
  EXPECT_EQ(count({{"lane", "2"}, {"kind", "read"}, {"step", "a"}, {"workflow", "shop"}}), 10);
  EXPECT_EQ(count({{"kind", "read"}}), 20);
  EXPECT_EQ(count({{"lane", "1"}, {"kind", "read"}, {"step", "b"}}), 0);
}

TEST(Thresholds, ATagThatMatchesNothingMayBeAmongTheOthers) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 20, 0, 10ms)};
  model::TaggedResult other;
  other.tags = "other";
  other.ok = 20;
  shop.tagged = {other};
  auto rule = threshold("latency", "p95", Comparison::kLess, 1);
  rule.where = {{"user", "7"}};
  const auto problem = [&] {
    ThresholdJudge judge({rule});
    judge.finish({shop}, 10s);
    return judge.problems()[0];
  };
  EXPECT_EQ(problem(),
            "nothing in the run is user=7; it may be among the requests that count as \"other\", since there were too "
            "many combinations of tags");
  shop.tagged.clear();
  EXPECT_EQ(problem(), "nothing in the run is user=7");
  shop.tagged = {other};
  rule.where = {{"step", "logn"}};
  EXPECT_EQ(problem(), "nothing in the run is step=logn");
}

TEST(Thresholds, APartOfTheRequestsWithATagIsJudgedOnlyWhereItSettlesTheQuestion) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 200, 800, 10ms), counted_step("b", 30, 0, 10ms)};
  model::TaggedResult row;
  row.step = "a";
  row.tags = "item=1,kind=buy";
  row.ok = 200;
  row.latency.record(10ms, 200);
  model::TaggedResult lane = row;
  lane.step = "b";
  lane.tags = "lane=1";
  lane.ok = 30;
  model::TaggedResult other;
  other.tags = "other";
  other.failed = 800;
  shop.tagged = {row, lane, other};
  const auto told = [&](model::Threshold rule, std::vector<std::pair<std::string, std::string>> where) -> std::string {
    rule.where = std::move(where);
    ThresholdJudge judge({rule});
    judge.finish({shop}, 10s);
    const model::ThresholdVerdict& verdict = judge.verdicts()[0];
    if (!verdict.judged) return judge.problems()[0].substr(0, 28);
    return verdict.passed ? "passed" : "failed";
  };
  const auto failed_rate = threshold("failed", "rate", Comparison::kLess, 0.01);
  const std::string partly = "more of them may be among th";
  EXPECT_EQ(told(failed_rate, {{"kind", "buy"}}), partly);
  EXPECT_EQ(told(failed_rate, {{"kind", "buy"}, {"step", "a"}}), partly);
  EXPECT_EQ(told(failed_rate, {{"kind", "buy"}, {"item", "1"}}), "passed") << "a combination that is listed is whole";
  EXPECT_EQ(told(failed_rate, {{"lane", "1"}}), "passed");
  const auto requests = [](Comparison comparison, double bound) {
    return threshold("requests", "count", comparison, bound);
  };
  EXPECT_EQ(told(requests(Comparison::kGreater, 900), {{"kind", "buy"}}), partly);
  EXPECT_EQ(told(requests(Comparison::kGreater, 100), {{"kind", "buy"}}), "passed");
  EXPECT_EQ(told(requests(Comparison::kLess, 900), {{"kind", "buy"}}), partly);
  EXPECT_EQ(told(requests(Comparison::kLess, 200), {{"kind", "buy"}}), "failed");
  EXPECT_EQ(told(requests(Comparison::kEqual, 200), {{"kind", "buy"}}), partly);
  EXPECT_EQ(told(requests(Comparison::kEqual, 150), {{"kind", "buy"}}), "failed");
  EXPECT_EQ(told(requests(Comparison::kNotEqual, 150), {{"kind", "buy"}}), partly);
  shop.tagged = {row, lane};
  EXPECT_EQ(told(failed_rate, {{"kind", "buy"}}), "passed");
}

TEST(Thresholds, AStepWhoseRowsDoNotAddUpToItMayHaveMoreOfWhatIsNotListed) {
  model::TaggedResult row;
  row.step = "a";
  row.tags = "item=5";
  row.ok = 10;
  model::TaggedResult other;
  other.tags = "other";
  auto one = workflow("one");
  one.steps = {counted_step("a", 10, 0, 10ms)};
  one.tagged = {row};
  auto two = workflow("two");
  two.steps = {counted_step("b", 1, 80, 10ms), counted_step("c", 7, 0, 10ms)};
  two.tagged = {row, other};
  two.tagged[0].step = "b";
  two.tagged[0].tags = "item=1";
  two.tagged[0].ok = 1;
  two.tagged[1].failed = 80;
  auto rule = threshold("failed", "rate", Comparison::kLess, 0.01);
  rule.where = {{"item", "5"}};
  const auto is_judged = [&] { return judged(rule, {one, two}).judged; };
  EXPECT_FALSE(is_judged()) << "b's item=5 may be among the others";
  rule.where = {{"item", "5"}, {"workflow", "one"}};
  EXPECT_TRUE(is_judged());
  rule.where = {{"item", "5"}};
  two.steps[0].ok = 1;
  two.steps[0].failed = 0;
  two.steps[1].failed = 80;
  EXPECT_FALSE(is_judged()) << "c has no row, and b does not account for the others";
  two.tagged[1].failed = 0;
  EXPECT_TRUE(is_judged());
}

TEST(Thresholds, ANameThatMatchesNothingIsNotJudgedAndSaysSo) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("login", 10, 0, 10ms)};
  auto rule = threshold("latency", "p95", Comparison::kLess, 1);
  rule.where = {{"step", "logn"}};
  ThresholdJudge judge({rule});
  judge.finish({shop}, 10s);
  EXPECT_FALSE(judge.verdicts()[0].judged);
  EXPECT_TRUE(judge.verdicts()[0].passed);
  EXPECT_EQ(judge.verdicts()[0].text, "latency p95") << "as it was written, so that it is found again by its text";
  EXPECT_EQ(judge.problems()[0], "nothing in the run is step=logn");
}

TEST(Thresholds, CombinationsThatMakeNoSenseSayWhatThereIs) {
  EXPECT_EQ(judgeable(threshold("latency", "rate", Comparison::kLess, 1)).error().message,
            "latency has no 'rate'; it has p50, p95 and so on, mean, min, max, std and count");
  EXPECT_EQ(judgeable(threshold("failed", "p95", Comparison::kLess, 1)).error().message,
            "failed has no 'p95'; it has rate and count");
  EXPECT_EQ(judgeable(threshold("latency", "p101.5", Comparison::kLess, 1)).error().message,
            "'p101.5' is no aggregate; there are p50, p95, p99.9 and so on, mean, min, max, std, rate and count");
  auto rule = threshold("service", "p95", Comparison::kLess, 1);
  rule.window = 10s;
  EXPECT_FALSE(judgeable(rule));
  rule = threshold("dropped", "count", Comparison::kLess, 1);
  rule.where = {{"step", "login"}};
  EXPECT_FALSE(judgeable(rule));
  ThresholdJudge judge({rule});
  judge.finish({workflow("shop")}, 10s);
  EXPECT_FALSE(judge.verdicts()[0].judged);
  EXPECT_NE(judge.problems()[0].find("counted per workflow"), std::string::npos);
}

TEST(Thresholds, RatesOfFailureAreFractionsAndRatesOfRequestsArePerSecond) {
  auto shop = workflow("shop", 20s);
  shop.steps = {counted_step("a", 980, 20, 1ms)};
  EXPECT_DOUBLE_EQ(judged(threshold("failed", "rate", Comparison::kLess, 0.01), {shop}).value, 0.02);
  EXPECT_DOUBLE_EQ(judged(threshold("failed", "count", Comparison::kLess, 30), {shop}).value, 20);
  EXPECT_DOUBLE_EQ(judged(threshold("requests", "rate", Comparison::kGreater, 40), {shop}).value, 50);
  EXPECT_TRUE(judged(threshold("requests", "count", Comparison::kEqual, 1000), {shop}).passed);
}

TEST(Thresholds, IterationsDropsLatenessAndChecksAreMeasuredPerWorkflow) {
  auto shop = workflow("shop", 10s);
  shop.iterations = 190;
  shop.failed_iterations = 19;
  shop.arrivals = 200;
  shop.dropped = 10;
  shop.lateness.record(2ms, 190);
  shop.steps = {counted_step("a", 190, 0, 1ms)};
  shop.steps[0].checks = {{"status: 200", 180, 10}};
  EXPECT_DOUBLE_EQ(judged(threshold("iterations", "rate", Comparison::kGreater, 1), {shop}).value, 19);
  EXPECT_DOUBLE_EQ(judged(threshold("failed_iterations", "rate", Comparison::kLess, 0.01), {shop}).value, 0.1);
  EXPECT_FALSE(judged(threshold("failed_iterations", "rate", Comparison::kLess, 0.01), {shop}).passed);
  EXPECT_DOUBLE_EQ(judged(threshold("failed_iterations", "count", Comparison::kLess, 20), {shop}).value, 19);
  EXPECT_DOUBLE_EQ(judged(threshold("dropped", "rate", Comparison::kLess, 0.1), {shop}).value, 0.05);
  EXPECT_DOUBLE_EQ(judged(threshold("dropped", "count", Comparison::kLess, 1), {shop}).value, 10);
  EXPECT_NEAR(judged(threshold("lateness", "p99", Comparison::kLess, 1), {shop}).value, 0.002, 1e-5);
  EXPECT_NEAR(judged(threshold("checks", "rate", Comparison::kGreater, 0.9), {shop}).value, 180.0 / 190, 1e-9);
  EXPECT_DOUBLE_EQ(judged(threshold("checks", "failed", Comparison::kLess, 1), {shop}).value, 10);
}

TEST(Thresholds, UserMetricsAreJudgedByTheirType) {
  auto shop = workflow("shop", 10s);
  model::UserMetric sold{.name = "sold", .type = model::MetricType::kCounter, .count = 4, .sum = 30, .values = {}};
  model::UserMetric hit{.name = "hit", .type = model::MetricType::kRate, .count = 10, .trues = 7, .values = {}};
  model::UserMetric size{
      .name = "size", .type = model::MetricType::kTrend, .count = 2, .sum = 30, .min = 10, .max = 20, .values = {}};
  size.values.record(10);
  size.values.record(20);
  model::UserMetric level{
      .name = "level", .type = model::MetricType::kGauge, .count = 2, .last = 5, .min = 1, .max = 9, .values = {}};
  shop.metrics = {sold, hit, size, level};
  const auto value = [&](const char* name, const char* aggregate) {
    const auto verdict = judged(threshold(name, aggregate, Comparison::kLess, 1e9), {shop});
    EXPECT_TRUE(verdict.judged) << verdict.text;
    return verdict.value;
  };
  EXPECT_DOUBLE_EQ(value("sold", "count"), 30);
  EXPECT_DOUBLE_EQ(value("sold", "rate"), 3);
  EXPECT_DOUBLE_EQ(value("hit", "rate"), 0.7);
  EXPECT_DOUBLE_EQ(value("size", "mean"), 15);
  EXPECT_NEAR(value("size", "p99"), 20, 0.2);
  EXPECT_DOUBLE_EQ(value("level", "last"), 5);
  ThresholdJudge judge(
      {threshold("sold", "p95", Comparison::kLess, 1), threshold("sodl", "count", Comparison::kLess, 1)});
  judge.finish({shop}, 10s);
  EXPECT_EQ(judge.problems()[0], "'sold' is a counter: it has count and rate");
  EXPECT_EQ(judge.problems()[1], "no metric named 'sodl' was recorded");
}

TEST(Thresholds, PercentilesOfATrendAreThoseOfItsValuesWhateverTheirSizeAndSign) {
  for (const double value : {0.0004, 0.0123, -5.0, 1.79e12}) {
    auto shop = workflow("shop", 10s);
    model::UserMetric metric{.name = "m", .count = 1, .sum = value, .min = value, .max = value, .values = {}};
    metric.values.record(value);
    shop.metrics = {metric};
    EXPECT_DOUBLE_EQ(judged(threshold("m", "p95", Comparison::kLess, 1), {shop}).value, value);
    EXPECT_DOUBLE_EQ(judged(threshold("m", "std", Comparison::kLess, 1), {shop}).value, 0);
  }
}

TEST(Thresholds, TooFewSamplesAreNotJudged) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 99, 0, 5s)};
  auto rule = threshold("latency", "p99", Comparison::kLess, 1);
  rule.min_samples = 100;
  const auto verdict = judged(rule, {shop});
  EXPECT_FALSE(verdict.judged);
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.samples, 99u);
}

TEST(Thresholds, NoRequestsAtAllFailALowerBoundOnTheirNumber) {
  auto shop = workflow("shop");
  shop.steps = {counted_step("a", 0, 0, 0s)};
  const auto verdict = judged(threshold("requests", "count", Comparison::kGreater, 0), {shop});
  EXPECT_TRUE(verdict.judged);
  EXPECT_FALSE(verdict.passed);
}

TEST(ThresholdJudge, AFailureOverTheWholeRunMayRecover) {
  auto shop = workflow("shop", 2s);
  shop.state = model::WorkflowState::kRunning;
  shop.steps = {counted_step("a", 5, 5, 1ms)};
  ThresholdJudge judge({threshold("failed", "rate", Comparison::kLess, 0.1)});
  judge.observe({shop}, 2s);
  EXPECT_FALSE(judge.verdicts()[0].passed);
  EXPECT_EQ(judge.verdicts()[0].failed_at, 2s);
  shop.steps = {counted_step("a", 995, 5, 1ms)};
  shop.elapsed = 10s;
  judge.finish({shop}, 10s);
  EXPECT_TRUE(judge.verdicts()[0].passed);
  EXPECT_EQ(judge.verdicts()[0].failed_at, 0s);
  EXPECT_EQ(judge.abort(), nullptr);
}

TEST(ThresholdJudge, AnAbortingThresholdAsksOnceAndStaysFailed) {
  auto shop = workflow("shop", 3s);
  shop.state = model::WorkflowState::kRunning;
  shop.steps = {counted_step("a", 5, 95, 1ms)};
  auto rule = threshold("failed", "rate", Comparison::kLess, 0.1);
  rule.abort = true;
  ThresholdJudge judge({threshold("latency", "p95", Comparison::kLess, 1), rule, rule});
  judge.observe({shop}, 3s);
  ASSERT_NE(judge.abort(), nullptr);
  EXPECT_EQ(judge.abort(), &judge.verdicts()[1]);
  EXPECT_TRUE(judge.verdicts()[1].aborted);
  EXPECT_FALSE(judge.verdicts()[2].aborted);
  shop.steps = {counted_step("a", 9995, 95, 1ms)};
  judge.finish({shop}, 4s);
  EXPECT_FALSE(judge.verdicts()[1].passed);
  EXPECT_EQ(judge.verdicts()[1].failed_at, 3s);
}

TEST(ThresholdJudge, AGrowingCountIsNotHeldAgainstTheRunBeforeItsEnd) {
  auto shop = workflow("shop", 1s);
  shop.state = model::WorkflowState::kRunning;
  shop.steps = {counted_step("a", 5, 0, 1ms)};
  auto rule = threshold("requests", "count", Comparison::kGreaterEqual, 100);
  rule.abort = true;
  ThresholdJudge judge({rule});
  judge.observe({shop}, 1s);
  EXPECT_EQ(judge.abort(), nullptr);
  judge.finish({shop}, 1s);
  EXPECT_FALSE(judge.verdicts()[0].passed);
  EXPECT_EQ(judge.abort(), nullptr) << "there is nothing left to abort";
}

TEST(ThresholdJudge, ACountThatIsPastWhatItHasToBeAborts) {
  auto shop = workflow("shop", 1s);
  shop.state = model::WorkflowState::kRunning;
  shop.steps = {counted_step("a", 5, 0, 1ms)};
  shop.steps[0].checks = {{"status: 200", 5, 0}};
  auto none = threshold("failed", "count", Comparison::kEqual, 0);
  none.abort = true;
  auto checks = threshold("checks", "failed", Comparison::kEqual, 2);
  checks.abort = true;
  ThresholdJudge judge({none, checks});
  judge.observe({shop}, 1s);
  EXPECT_EQ(judge.abort(), nullptr) << "checks may still come to 2";
  shop.steps[0].checks[0].failed = 3;
  judge.observe({shop}, 2s);
  ASSERT_EQ(judge.abort(), &judge.verdicts()[1]);
  shop.steps[0].failed = 1;
  judge.observe({shop}, 3s);
  EXPECT_FALSE(judge.verdicts()[0].passed);
  EXPECT_EQ(judge.verdicts()[0].failed_at, 3s);
}

TEST(ThresholdJudge, AWindowFailsForGoodWhenOneStretchWasBad) {
  auto shop = workflow("shop", 20s);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  for (std::uint32_t second = 0; second != 20; ++second) {
    add_second(shop.steps[0], second, 100, 0, second >= 8 && second < 12 ? base::Duration(2s) : base::Duration(10ms));
  }
  auto rule = threshold("latency", "p50", Comparison::kLess, 1);
  EXPECT_TRUE(judged(rule, {shop}).passed);
  rule.window = 5s;
  const auto verdict = judged(rule, {shop});
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.failed_at, 11s) << "the first window with more than half of it bad is [6, 11)";
  EXPECT_NEAR(verdict.value, 2, 0.02);
  EXPECT_EQ(verdict.samples, 500u);
}

TEST(ThresholdJudge, AWindowThatFailedKeepsTheValueThatDidNotHold) {
  auto shop = workflow("shop", 6s);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  for (std::uint32_t second = 0; second != 6; ++second) add_second(shop.steps[0], second, 10, second == 2 ? 3 : 0, 1ms);
  auto rule = threshold("failed", "count", Comparison::kEqual, 0);
  rule.window = 1s;
  const auto equal = judged(rule, {shop});
  EXPECT_FALSE(equal.passed);
  EXPECT_EQ(equal.failed_at, 3s);
  EXPECT_DOUBLE_EQ(equal.value, 3);
  EXPECT_EQ(equal.samples, 13u);
  rule.comparison = Comparison::kNotEqual;
  rule.bound = 3;
  const auto different = judged(rule, {shop});
  EXPECT_FALSE(different.passed);
  EXPECT_DOUBLE_EQ(different.value, 3);
}

TEST(ThresholdJudge, OfWindowsThatMissAnExactValueTheFurthestIsShown) {
  auto shop = workflow("shop", 6s);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  constexpr std::array<std::uint64_t, 6> kFailed{0, 3, 9, 2, 1, 0};
  for (std::uint32_t second = 0; second != 6; ++second) {
    add_second(shop.steps[0], second, 10, kFailed[second], 1ms);
  }
  auto rule = threshold("failed", "count", Comparison::kEqual, 0);
  rule.window = 1s;
  const auto verdict = judged(rule, {shop});
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.failed_at, 2s);
  EXPECT_DOUBLE_EQ(verdict.value, 9);
}

TEST(ThresholdJudge, WindowsAreJudgedAsTheyCompleteAndGiveTheSameAsAtTheEnd) {
  auto shop = workflow("shop", 0s);
  shop.state = model::WorkflowState::kRunning;
  shop.steps = {counted_step("a", 0, 0, 0s)};
  auto rule = threshold("requests", "rate", Comparison::kGreaterEqual, 100);
  rule.window = 3s;
  rule.abort = true;
  ThresholdJudge judge({rule});
  for (std::uint32_t second = 0; second != 10; ++second) {
    add_second(shop.steps[0], second, second == 6 ? 10 : 100, 0, 1ms);
    shop.elapsed = std::chrono::seconds(second + 1);
    judge.observe({shop}, shop.elapsed);
    EXPECT_EQ(judge.abort() != nullptr, second > 6) << second << ": it is not told in full yet";
    shop.series.push_back({.second = second, .vus = 1, .iterations = 0, .dropped = 0});
    judge.observe({shop}, shop.elapsed + 300ms);
    EXPECT_EQ(judge.abort() != nullptr, second >= 6) << second << ": judged as soon as all cores have told it";
  }
  EXPECT_EQ(judge.verdicts()[0].failed_at, 7s);
  EXPECT_NEAR(judge.verdicts()[0].value, 70, 1e-9);
}

TEST(ThresholdJudge, AWindowWaitsForTheWorkflowThatIsBehindButNotForEver) {
  std::vector<model::WorkflowResult> both{workflow("a", 3s), workflow("b", 3s)};
  for (model::WorkflowResult& each : both) {
    each.state = model::WorkflowState::kRunning;
    each.steps = {counted_step("s", 0, 0, 0s)};
    for (std::uint32_t second = 0; second != 3; ++second) {
      add_second(each.steps[0], second, 100, 0, 1ms);
      each.series.push_back({.second = second, .vus = 1, .iterations = 0, .dropped = 0});
    }
  }
  both[1].steps[0].series.pop_back();
  both[1].series.pop_back();
  auto rule = threshold("requests", "rate", Comparison::kGreaterEqual, 200);
  rule.window = 1s;
  ThresholdJudge judge({rule}, {.patience = 5s});
  judge.observe(both, 4s);
  EXPECT_TRUE(judge.verdicts()[0].passed) << "the third second of b is still to come";
  judge.observe(both, 9s);
  EXPECT_FALSE(judge.verdicts()[0].passed);
}

TEST(ThresholdJudge, WindowsBeginWhereCountingBegan) {
  auto shop = workflow("shop", 6s);
  shop.began = 4500ms;
  shop.steps = {counted_step("a", 0, 0, 0s)};
  for (std::uint32_t second = 4; second != 10; ++second) add_second(shop.steps[0], second, 100, 0, 1ms);
  auto rule = threshold("requests", "rate", Comparison::kGreaterEqual, 100);
  rule.window = 3s;
  EXPECT_TRUE(judged(rule, {shop}).passed) << "the warm-up's empty seconds are not judged";
}

TEST(ThresholdJudge, ARunShorterThanTheWindowIsJudgedAsAWhole) {
  auto shop = workflow("shop", 3s);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  add_second(shop.steps[0], 0, 10, 10, 1ms);
  auto rule = threshold("failed", "rate", Comparison::kLess, 0.1);
  rule.window = 10s;
  const auto verdict = judged(rule, {shop});
  EXPECT_TRUE(verdict.judged);
  EXPECT_FALSE(verdict.passed);
}

// A server that hangs: nothing for seconds, and all that was under way fails when the grace is over.
TEST(ThresholdJudge, WhatIsCutShortAtTheEndOfTheRunIsJudged) {
  auto shop = workflow("shop", 6s + 200us);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  add_second(shop.steps[0], 0, 245, 0, 20ms);
  add_second(shop.steps[0], 6, 0, 5, 5s);
  shop.series = {{.second = 0, .vus = 5, .iterations = 245, .dropped = 0},
                 {.second = 6, .vus = 0, .iterations = 0, .dropped = 280}};
  for (auto rule :
       {threshold("latency", "p95", Comparison::kLess, 0.3), threshold("failed", "rate", Comparison::kLess, 0.01),
        threshold("failed", "count", Comparison::kEqual, 0), threshold("dropped", "count", Comparison::kLess, 1),
        threshold("dropped", "rate", Comparison::kLess, 0.01)}) {
    for (const base::Duration window : {1s, 3s}) {
      rule.window = window;
      const auto verdict = judged(rule, {shop});
      EXPECT_TRUE(verdict.judged) << rule.text;
      EXPECT_FALSE(verdict.passed) << rule.text;
      EXPECT_EQ(verdict.failed_at, 6s + 200us) << rule.text;
    }
  }
}

TEST(ThresholdJudge, ALastSecondThatIsCutShortFailsNoLowerBound) {
  auto shop = workflow("shop", 4s + 600ms);
  shop.steps = {counted_step("a", 0, 0, 0s)};
  for (std::uint32_t second = 0; second != 5; ++second)
    add_second(shop.steps[0], second, second < 4 ? 100 : 55, 0, 1ms);
  for (auto rule : {threshold("requests", "rate", Comparison::kGreaterEqual, 100),
                    threshold("requests", "count", Comparison::kGreater, 90),
                    threshold("requests", "count", Comparison::kEqual, 100),
                    threshold("requests", "count", Comparison::kNotEqual, 55),
                    threshold("requests", "rate", Comparison::kLessEqual, 100)}) {
    rule.window = 1s;
    const auto verdict = judged(rule, {shop});
    EXPECT_TRUE(verdict.judged) << rule.text;
    EXPECT_TRUE(verdict.passed) << rule.text;
    EXPECT_DOUBLE_EQ(verdict.value, 100) << rule.text;
  }
  add_second(shop.steps[0], 4, 46, 0, 1ms);
  auto most = threshold("requests", "rate", Comparison::kLessEqual, 100);
  most.window = 1s;
  EXPECT_FALSE(judged(most, {shop}).passed) << "more than a whole second may have";
}

TEST(ThresholdJudge, AShareAtTheEndOfTheRunRestsOnMoreThanAMoment) {
  const auto ends = [](base::Duration end, std::uint64_t ok, std::uint64_t failed) {
    auto shop = workflow("shop", end);
    shop.steps = {counted_step("a", 0, 0, 0s)};
    for (std::uint32_t second = 0; second != 4; ++second) add_second(shop.steps[0], second, 100, 0, 1ms);
    add_second(shop.steps[0], 4, ok, failed, 1ms);
    auto rule = threshold("failed", "rate", Comparison::kLess, 0.05);
    rule.window = 1s;
    return judged(rule, {shop});
  };
  EXPECT_TRUE(ends(4s + 20ms, 2, 1).passed) << "one of 103";
  EXPECT_NEAR(ends(4s + 20ms, 2, 1).value, 1.0 / 103, 1e-9);
  EXPECT_FALSE(ends(4s + 20ms, 2, 10).passed) << "ten of 112";
  EXPECT_FALSE(ends(4s + 870ms, 28, 5).passed) << "five of 33";
  EXPECT_NEAR(ends(4s + 870ms, 28, 5).value, 5.0 / 33, 1e-9);
}

TEST(ThresholdJudge, TheWarmUpOfALaterWorkflowFailsNoLowerBound) {
  std::vector<model::WorkflowResult> layers{workflow("a", 3s), workflow("b", 2s)};
  layers[1].began = 4s;
  for (model::WorkflowResult& each : layers) each.steps = {counted_step("s", 0, 0, 0s)};
  for (const std::uint32_t second : {0u, 1u, 2u}) add_second(layers[0].steps[0], second, 50, 0, 1ms);
  for (const std::uint32_t second : {4u, 5u}) add_second(layers[1].steps[0], second, 50, 0, 1ms);
  auto rule = threshold("requests", "rate", Comparison::kGreaterEqual, 45);
  rule.window = 2s;
  const auto verdict = judged(rule, layers);
  EXPECT_TRUE(verdict.judged);
  EXPECT_TRUE(verdict.passed);
  EXPECT_DOUBLE_EQ(verdict.value, 50);
  layers[1].steps[0].series[1].ok = 20;
  EXPECT_FALSE(judged(rule, layers).passed) << "where it counts it is judged";
  rule.window = 4s;
  ThresholdJudge judge({rule});
  judge.finish(layers, 6s);
  EXPECT_FALSE(judge.verdicts()[0].judged);
  EXPECT_EQ(judge.problems()[0], "no window with enough samples was counted throughout; give it a shorter `window`");
  rule.comparison = Comparison::kLess;
  rule.bound = 30;
  EXPECT_FALSE(judged(rule, layers).passed) << "what was counted may be too much";
}

// Both begin in the run's first tenth of a second, and so in its first second.
TEST(ThresholdJudge, TheRateOfShortWorkflowsThatFollowEachOtherIsOverTheTimeOfAll) {
  std::vector<model::WorkflowResult> layers{workflow("a", 10ms), workflow("b", 1ms)};
  layers[0].shift = 2ms;
  layers[1].shift = 51ms;
  for (model::WorkflowResult& each : layers) each.steps = {counted_step("s", 6, 0, 1ms)};
  EXPECT_DOUBLE_EQ(judged(threshold("requests", "rate", Comparison::kLess, 1000), layers).value, 240);
}

}  // namespace
}  // namespace muster::engine
