#include "model/result_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "model/bytes_fixture.h"
#include "model/options.h"

namespace muster::model {
namespace {

using namespace std::chrono_literals;
using base::Duration;
using ::testing::HasSubstr;

WorkflowResult fresh() {
  WorkflowResult result;
  result.name = "browse";
  result.state = WorkflowState::kRunning;
  result.open = true;
  result.began = 2s;
  for (const char* name : {"catalog", "buy"}) {
    StepResult step;
    step.name = name;
    step.kind = "http";
    step.tags = {{"team", "shop"}};
    step.checks = {{"status: 200", 0, 0}, {"json.id: exists", 0, 0}};
    result.steps.push_back(step);
  }
  return result;
}

template <class List, class Row>
Row& row_of(List& list, std::uint32_t second) {
  auto at = std::lower_bound(list.begin(), list.end(), second,
                             [](const auto& row, std::uint32_t wanted) { return row.second < wanted; });
  if (at == list.end() || at->second != second) {
    at = list.insert(at, Row{});
    at->second = second;
  }
  return *at;
}

// One request, recorded the way a core does, all drawn from `seed`: recorded into one result or spread over several,
// the outcome must be the same.
void record_event(WorkflowResult& result, std::uint64_t seed) {
  base::Random random(seed);
  StepResult& step = result.steps[random.below(result.steps.size())];
  const Duration latency(static_cast<std::int64_t>(random.below(5'000'000'000)));
  const auto second = static_cast<std::uint32_t>(random.below(20));
  auto& row = row_of<std::vector<StepSecond>, StepSecond>(step.series, second);
  if (random.below(4) == 0) {
    const auto error = static_cast<ErrorClass>(random.below(kErrorClasses));
    ++step.failed;
    ++row.failed;
    ++step.errors[static_cast<std::size_t>(error)];
    WorkflowResult sample = fresh();
    sample.steps[static_cast<std::size_t>(&step - result.steps.data())].samples.push_back(
        {error, 1s * second, "refused " + std::to_string(random.below(5)), "GET /", ""});
    sample.began = result.began;
    merge(result, sample);
  } else {
    ++step.ok;
    ++row.ok;
    step.latency.record(latency);
    row.latency.record(latency);
    step.phases[random.below(kPhases)].record(latency / 3);
  }
  step.checks[random.below(2)].ok += 1;
  step.bytes_in += random.below(1000);
  ++result.iterations;
  result.lateness.record(latency / 1000);
  row_of<std::vector<WorkflowSecond>, WorkflowSecond>(result.series, second).iterations += 1;

  WorkflowResult more = fresh();
  more.began = result.began;
  more.steps[0].statuses = {{static_cast<std::uint32_t>(200 + random.below(4)), 1}};
  more.metrics.resize(1);
  more.metrics[0].name = random.below(2) == 0 ? "basket" : "amount";
  more.metrics[0].count = 1;
  more.metrics[0].sum = more.metrics[0].min = more.metrics[0].max = static_cast<double>(random.below(100));
  more.metrics[0].last = more.metrics[0].sum;
  more.metrics[0].last_at = Duration(static_cast<std::int64_t>(random.below(1000)));
  more.tagged = {{random.below(2) == 0 ? "plan=free" : "plan=paid", 1, 0, {}}};
  more.notes = {{random.below(2) == 0 ? "retry" : "again", 1}};
  more.provided = {{"token", false, false, 1, {std::to_string(random.below(100))}, random.below(50)}};
  merge(result, more);
}

WorkflowResult recorded(const std::vector<std::uint64_t>& events) {
  WorkflowResult result = fresh();
  for (const std::uint64_t event : events) record_event(result, event);
  return result;
}

WorkflowResult joined(const WorkflowResult& a, const WorkflowResult& b) {
  WorkflowResult whole = a;
  merge(whole, b);
  return whole;
}

// Without what is rounded in the order in which it is added.
std::string exact_bytes_of(WorkflowResult result) {
  for (UserMetric& metric : result.metrics) metric.spread = 0;
  return bytes_of(result);
}

std::vector<std::uint64_t> any_events() {
  return *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>());
}

RC_GTEST_PROP(ResultMerge, OfPartsEqualsTheWhole, ()) {
  const auto events = any_events();
  const auto parts = *rc::gen::inRange<std::size_t>(1, 6);
  std::vector<std::vector<std::uint64_t>> dealt(parts);
  for (std::size_t i = 0; i < events.size(); ++i) dealt[i % parts].push_back(events[i]);
  WorkflowResult whole;
  for (const auto& part : dealt) merge(whole, recorded(part));
  RC_ASSERT(exact_bytes_of(whole) == exact_bytes_of(recorded(events)));
}

RC_GTEST_PROP(ResultMerge, DoesNotDependOnOrderOrGrouping, ()) {
  const WorkflowResult a = recorded(any_events());
  const WorkflowResult b = recorded(any_events());
  const WorkflowResult c = recorded(any_events());
  RC_ASSERT(exact_bytes_of(joined(joined(a, b), c)) == exact_bytes_of(joined(a, joined(c, b))));
}

RC_GTEST_PROP(ResultMerge, StatesAndReasonsDoNotDependOnOrderOrGrouping, ()) {
  const auto any = [] {
    WorkflowResult made;
    made.name = "browse";
    made.state = static_cast<WorkflowState>(*rc::gen::inRange(0, 8));
    made.reason = *rc::gen::element<std::string>("", "a", "b");
    return made;
  };
  const WorkflowResult a = any();
  const WorkflowResult b = any();
  const WorkflowResult c = any();
  RC_ASSERT(bytes_of(joined(joined(a, b), c)) == bytes_of(joined(a, joined(c, b))));
}

TEST(ResultMerge, TakesANamelessResultAsNothing) {
  const WorkflowResult result = recorded({1, 2, 3});
  EXPECT_EQ(bytes_of(joined(WorkflowResult(), result)), bytes_of(result));
  EXPECT_EQ(bytes_of(joined(result, WorkflowResult())), bytes_of(result));
}

TEST(ResultMerge, RunsWhileAnyPartRunsAndThenEndsAsTheWorst) {
  const auto state = [](WorkflowState first, WorkflowState second) {
    WorkflowResult a = fresh();
    WorkflowResult b = fresh();
    a.state = first;
    b.state = second;
    return joined(a, b).state;
  };
  EXPECT_EQ(state(WorkflowState::kRunning, WorkflowState::kFailed), WorkflowState::kRunning);
  EXPECT_EQ(state(WorkflowState::kPending, WorkflowState::kCompleted), WorkflowState::kRunning);
  EXPECT_EQ(state(WorkflowState::kCompleted, WorkflowState::kFailed), WorkflowState::kFailed);
  EXPECT_EQ(state(WorkflowState::kCompleted, WorkflowState::kLost), WorkflowState::kLost);
  EXPECT_EQ(state(WorkflowState::kCompleted, WorkflowState::kCompleted), WorkflowState::kCompleted);
}

TEST(ResultMerge, KeepsTheEarliestSamplesOfEachClass) {
  WorkflowResult whole;
  for (int i = 9; i >= 0; --i) {
    WorkflowResult part = fresh();
    part.steps[0].samples = {{ErrorClass::kTimeout, 1s * i, "late", "", ""}, {ErrorClass::kDns, 1s * i, "no", "", ""}};
    merge(whole, part);
  }
  ASSERT_EQ(whole.steps[0].samples.size(), 2 * kMaxSamplesPerClass);
  EXPECT_EQ(whole.steps[0].samples[0].error, ErrorClass::kDns);
  EXPECT_EQ(whole.steps[0].samples[2].at, 2s);
}

TEST(ResultMerge, KeepsTheValueThatTheProviderMeant) {
  const auto kept = [](Provided first, Provided second) {
    WorkflowResult a = fresh();
    WorkflowResult b = fresh();
    a.provided = {std::move(first)};
    b.provided = {std::move(second)};
    return joined(a, b).provided.at(0).values;
  };
  using Values = std::vector<std::string>;
  EXPECT_EQ(kept({"t", false, false, 1, {"1"}, 5}, {"t", false, false, 1, {"2"}, 3}), Values{"1"});
  EXPECT_EQ(kept({"t", false, true, 1, {"1"}, 5}, {"t", false, true, 1, {"2"}, 3}), Values{"2"});
  EXPECT_EQ(kept({"t", false, true, 1, {}, 0}, {"t", false, true, 1, {"2"}, 3}), Values{"2"});
  EXPECT_EQ(kept({"t", true, false, 3, {"1", "2"}, 1}, {"t", true, false, 3, {"3", "4"}, 2}), (Values{"1", "2", "3"}));
}

TEST(ResultMerge, WhatACoreThatFellBehindSaysIsAddedToItsSecond) {
  WorkflowResult whole = fresh();
  whole.steps.resize(1);
  const auto part = [](std::uint32_t second, std::uint64_t ok) {
    WorkflowResult made;
    made.series.push_back({.second = second, .vus = 1, .iterations = ok, .dropped = 0});
    made.steps.resize(1);
    made.steps[0].series.emplace_back();
    made.steps[0].series[0].second = second;
    made.steps[0].series[0].ok = ok;
    return made;
  };
  merge_series(whole, part(7, 1));
  merge_series(whole, part(9, 2));
  merge_series(whole, part(7, 4));
  merge_series(whole, part(8, 8));
  ASSERT_EQ(whole.series.size(), 3U);
  ASSERT_EQ(whole.steps[0].series.size(), 3U);
  const std::uint64_t expected[] = {5, 8, 2};
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(whole.series[i].second, 7 + i);
    EXPECT_EQ(whole.series[i].iterations, expected[i]);
    EXPECT_EQ(whole.steps[0].series[i].second, 7 + i);
    EXPECT_EQ(whole.steps[0].series[i].ok, expected[i]);
  }
}

TEST(ResultMerge, CountsTagsBeyondTheLimitAsOther) {
  WorkflowResult whole = fresh();
  for (std::size_t i = 0; i < kMaxResultTagged + 50; ++i) {
    WorkflowResult part = fresh();
    part.tagged = {{"user=" + std::to_string(i), 1, 0, {}}};
    merge(whole, part);
  }
  ASSERT_EQ(whole.tagged.size(), kMaxResultTagged);
  const auto other =
      std::find_if(whole.tagged.begin(), whole.tagged.end(), [](const auto& each) { return each.tags == "other"; });
  ASSERT_NE(other, whole.tagged.end());
  EXPECT_EQ(other->ok, 51u);
}

TEST(ResultMerge, OtherTagsThatComeFirstTakeNoPlaceFromTheRest) {
  WorkflowResult whole = fresh();
  whole.tagged = {{"other", 1, 0, {}}};
  for (std::size_t i = 0; i < kMaxTagRows; ++i) {
    WorkflowResult part = fresh();
    part.tagged = {{"user=" + std::to_string(i), 1, 0, {}}};
    merge(whole, part);
  }
  EXPECT_EQ(whole.tagged.size(), kMaxTagRows + 1);
  EXPECT_EQ(whole.tagged.front().ok, 1u) << "other";
}

RC_GTEST_PROP(ResultCodec, DecodingIsTheInverseOfEncoding, ()) {
  WorkflowResult result = recorded(any_events());
  result.cores = {{1s, 2s}, {3ns, 5min}};
  result.reason = *rc::gen::arbitrary<std::string>();
  const std::string bytes = bytes_of(result);
  const auto decoded = decode_workflow_result(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(bytes_of(*decoded) == bytes);
  RC_ASSERT(decoded->reason == result.reason);
  RC_ASSERT(decoded->steps[1].latency == result.steps[1].latency);
  RC_ASSERT(decoded->steps[0].series.size() == result.steps[0].series.size());
  RC_ASSERT(decoded->cores[1].elapsed == 5min);
  RC_ASSERT(decoded->iterations == result.iterations);
}

RC_GTEST_PROP(ResultCodec, ADamagedEncodingIsRefusedOrDecodesToItself, ()) {
  std::string bytes = bytes_of(recorded({*rc::gen::arbitrary<std::uint64_t>(), 2, 3}));
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  if (bytes[0] != static_cast<char>(kResultVersion)) return;
  if (const auto decoded = decode_workflow_result(bytes)) RC_ASSERT(bytes_of(*decoded) == bytes);
}

TEST(ResultCodec, NoPrefixDecodes) {
  const std::string bytes = bytes_of(recorded({1, 2, 3, 4, 5}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_workflow_result(std::string_view(bytes).substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(decode_workflow_result(bytes + "x").has_value());
}

TEST(ResultCodec, KeepsWhetherTheWorkflowIsAScriptsAndReadsResultsThatDoNotSay) {
  WorkflowResult result = fresh();
  result.scripted = true;
  std::string bytes = bytes_of(result);
  EXPECT_TRUE(decode_workflow_result(bytes)->scripted);
  bytes[0] = 2;
  bytes.resize(bytes.size() - 2);
  const auto older = decode_workflow_result(bytes);
  ASSERT_TRUE(older.has_value());
  EXPECT_FALSE(older->scripted);
  EXPECT_EQ(older->steps.size(), 2u);
}

TEST(ResultCodec, KeepsHowTheSecondsAreShiftedAndReadsResultsThatDoNotSay) {
  WorkflowResult result = fresh();
  result.shift = 63ns;
  std::string bytes = bytes_of(result);
  EXPECT_EQ(decode_workflow_result(bytes)->shift, 63ns);
  bytes[0] = 3;
  bytes.pop_back();
  const auto older = decode_workflow_result(bytes);
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->shift, 0ns);
}

TEST(ResultCodec, SaysWhichVersionItFound) {
  std::string bytes = bytes_of(fresh());
  bytes[0] = 77;
  EXPECT_THAT(decode_workflow_result(bytes).error().message, HasSubstr("version is 77, known is 4"));
}

TEST(ResultCodec, RefusesTextsBeyondTheLimit) {
  std::string bytes;
  metrics::Writer writer(bytes);
  writer.byte(kResultVersion);
  writer.text(std::string(kMaxResultText + 1, 'x'));
  EXPECT_THAT(decode_workflow_result(bytes).error().message, HasSubstr("longer than the limit"));
}

TEST(ResultCodec, ALongTextLosesItsEndAndNotTheResult) {
  WorkflowResult result = fresh();
  result.steps[0].checks[0].label = std::string(kMaxResultText - 1, 'x') + "\xC2\xB5 and more";
  const auto decoded = decode_workflow_result(bytes_of(result));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->steps[0].checks[0].label, std::string(kMaxResultText - 1, 'x'));
  EXPECT_EQ(decoded->steps[0].checks[1].label, "json.id: exists");
}

TEST(ResultCodec, RefusesASeriesThatDoesNotAscend) {
  WorkflowResult result = fresh();
  result.series = {{5, 1, 1, 0}, {5, 1, 1, 0}};
  EXPECT_FALSE(decode_workflow_result(bytes_of(result)).has_value());
  result.series = {{std::numeric_limits<std::uint32_t>::max(), 1, 1, 0}};
  EXPECT_TRUE(decode_workflow_result(bytes_of(result)).has_value());
}

TEST(ResultCodec, MakesUserMetricsFinite) {
  WorkflowResult result = fresh();
  result.metrics.resize(1);
  result.metrics[0].sum = std::numeric_limits<double>::infinity();
  result.metrics[0].last = std::nan("");
  const auto decoded = decode_workflow_result(bytes_of(result));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->metrics[0].sum, std::numeric_limits<double>::max());
  EXPECT_EQ(decoded->metrics[0].last, 0);
}

TEST(ResultCodec, ReadsWhatTheVersionsBeforeWrote) {
  WorkflowResult result = fresh();
  std::string bytes = bytes_of(result);
  bytes.resize(bytes.size() - 2);  // whether a script ran it, since version 3, and its shift, since version 4
  for (const char version : {'\1', '\2'}) {
    bytes[0] = version;
    const auto decoded = decode_workflow_result(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(bytes_of(*decoded), bytes_of(result));
  }
}

TEST(ResultMerge, TrendsKeepTheirSpreadHoweverFarFromZeroTheyAre) {
  UserMetric whole;
  for (const double value : {1.79e12 + 1, 1.79e12 + 3, 1.79e12 + 5}) {
    UserMetric part;
    part.count = 1;
    part.sum = part.min = part.max = value;
    part.values.record(value);
    merge(whole, part);
  }
  EXPECT_NEAR(stddev(whole), std::sqrt(8.0 / 3), 0.01);
  EXPECT_NEAR(quantile(whole, 0.5), 1.79e12, 1e-2 * 1.79e12);
  EXPECT_GE(quantile(whole, 0.0), whole.min);
  EXPECT_LE(quantile(whole, 1.0), whole.max);
}

TEST(ResultMerge, TellsHowManyRequestsBecameOther) {
  WorkflowResult whole = fresh();
  for (std::size_t i = 0; i < kMaxResultTagged + 50; ++i) {
    WorkflowResult part = fresh();
    part.tagged = {{"user=" + std::to_string(i), 1, 1, {}, "buy"}};
    merge(whole, part);
  }
  ASSERT_EQ(whole.notes.size(), 1u);
  EXPECT_EQ(whole.notes[0].first, kTooManyTags);
  EXPECT_EQ(whole.notes[0].second, 102u) << "as many as the row counts";
}

}  // namespace
}  // namespace muster::model
