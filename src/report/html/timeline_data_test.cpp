#include "report/html/timeline_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/random.h"
#include "report/html/options.h"
#include "report/test_runs.h"

namespace muster::report::html {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;
using namespace std::chrono_literals;
using Layout = metrics::CoarseHistogram::Layout;

// Reads the bytes of a scope as read.js does.
class Decoded {
 public:
  explicit Decoded(const Scope& scope) : bytes_(scope.bytes) {
    const std::size_t columns = scope.kind == Scope::Kind::kStep ? 6 : 8;
    for (std::size_t i = 0; i != columns; ++i) {
      std::vector<std::int64_t>& column = columns_.emplace_back();
      std::int64_t value = 0;
      for (std::size_t j = 0; j != scope.points; ++j) {
        const std::uint64_t zigzag = number();
        value += static_cast<std::int64_t>(zigzag >> 1) ^ -static_cast<std::int64_t>(zigzag & 1);
        column.push_back(value);
      }
    }
    for (std::size_t i = 0; i != scope.heat_columns; ++i) heat.push_back(sparse());
    latency = sparse();
    service = sparse();
    whole = at_ == bytes_.size();
  }

  const std::vector<std::int64_t>& requests() const { return columns_[0]; }
  const std::vector<std::int64_t>& failed() const { return columns_[1]; }
  const std::vector<std::int64_t>& p95() const { return columns_[3]; }
  const std::vector<std::int64_t>& max() const { return columns_[5]; }
  const std::vector<std::int64_t>& vus() const { return columns_[6]; }
  const std::vector<std::int64_t>& dropped() const { return columns_[7]; }

  std::vector<std::map<std::uint64_t, std::uint64_t>> heat;
  std::map<std::uint64_t, std::uint64_t> latency;
  std::map<std::uint64_t, std::uint64_t> service;
  bool whole = false;

 private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ADD_FAILURE() << "the bytes end too soon";
    return 0;
  }

  std::map<std::uint64_t, std::uint64_t> sparse() {
    std::map<std::uint64_t, std::uint64_t> made;
    std::uint64_t next = 0;
    for (std::uint64_t left = number(); left > 0; --left) {
      const std::uint64_t index = next + number();
      made[index] = number();
      next = index + 1;
    }
    return made;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  std::vector<std::vector<std::int64_t>> columns_;
};

std::uint64_t sum(const std::map<std::uint64_t, std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t all, const auto& each) { return all + each.second; });
}

model::StepSecond second_of(std::uint32_t second, std::uint64_t failed, const std::vector<base::Duration>& times) {
  model::StepSecond made;
  made.second = second;
  made.failed = failed;
  made.ok = times.size() - failed;
  for (const base::Duration time : times) made.latency.record(time);
  return made;
}

// A run of `seconds` with random latencies, some seconds without requests, and some failures.
model::RunResult random_run(std::uint64_t seed, std::uint32_t seconds, std::size_t steps) {
  base::Random random(seed);
  model::RunResult run;
  model::WorkflowResult& workflow = run.workflows.emplace_back();
  workflow.elapsed = std::chrono::seconds(seconds);
  for (std::size_t i = 0; i != steps; ++i) {
    model::StepResult& step = workflow.steps.emplace_back();
    step.name = "step " + std::to_string(i);
    for (std::uint32_t second = 0; second != seconds; ++second) {
      if (random.below(10) == 0) continue;
      std::vector<base::Duration> times;
      for (std::uint64_t left = 1 + random.below(20); left > 0; --left) {
        times.push_back(base::from_seconds(0.001 * (1 + random.exponential())));
        step.latency.record(times.back());
      }
      step.series.push_back(second_of(second, random.below(2), times));
      step.ok += step.series.back().ok;
      step.failed += step.series.back().failed;
    }
  }
  for (std::uint32_t second = 0; second != seconds; ++second) {
    workflow.series.push_back({.second = second, .vus = static_cast<std::uint32_t>(random.below(100))});
  }
  return run;
}

TEST(TimelineData, KeepsEachSecondOfAShortRun) {
  model::RunResult run;
  model::WorkflowResult& workflow = run.workflows.emplace_back();
  workflow.began = 2500ms;
  workflow.elapsed = 3s;
  model::StepResult& step = workflow.steps.emplace_back();
  step.name = "login";
  step.series = {second_of(2, 0, {1ms, 2ms}), second_of(4, 1, {1ms, 1ms, 9ms})};
  for (const model::StepSecond& second : step.series) step.latency.record(1ms, second.ok + second.failed);
  workflow.series = {{.second = 2, .vus = 7, .iterations = 1, .dropped = 0},
                     {.second = 4, .vus = 3, .iterations = 1, .dropped = 5}};

  const TimelineData data = timeline_data(run);
  EXPECT_EQ(data.begin, 2u);
  EXPECT_EQ(data.end, 5u);
  ASSERT_EQ(data.scopes.size(), 3u);
  for (const Scope& scope : data.scopes) {
    const Decoded read(scope);
    EXPECT_TRUE(read.whole);
    EXPECT_DOUBLE_EQ(scope.from, 2.5);
    EXPECT_DOUBLE_EQ(scope.until, 5.5);
    EXPECT_THAT(read.requests(), ElementsAre(2, 0, 3));
    EXPECT_THAT(read.failed(), ElementsAre(0, 0, 1));
    EXPECT_THAT(read.max(), ElementsAre(Layout::index(2'000'000) + 1, 0, Layout::index(9'000'000) + 1));
    if (scope.kind == Scope::Kind::kStep) continue;
    EXPECT_THAT(read.vus(), ElementsAre(7, 0, 3));
    EXPECT_THAT(read.dropped(), ElementsAre(0, 0, 5));
  }
  EXPECT_EQ(data.find(0), 1u);
  EXPECT_EQ(data.find(0, 0), 2u);
  EXPECT_EQ(data.find(0, 1), std::nullopt);
}

TEST(TimelineData, APointOfSeveralSecondsHasThePercentileOfTheirMergedHistogram) {
  const model::RunResult run = random_run(1, 2'500, 2);
  const TimelineData data = timeline_data(run);
  const Scope& whole = data.scopes[0];
  EXPECT_EQ(whole.width, 3u);
  EXPECT_LE(whole.points, kMaxPoints);
  const Decoded read(whole);
  for (std::size_t i = 0; i != whole.points; ++i) {
    metrics::CoarseHistogram merged;
    std::uint64_t requests = 0;
    for (const model::StepResult& step : run.workflows[0].steps) {
      for (const model::StepSecond& second : step.series) {
        if (second.second / whole.width != i) continue;
        merged.merge(second.latency);
        requests += second.ok + second.failed;
      }
    }
    ASSERT_EQ(read.requests()[i], static_cast<std::int64_t>(requests));
    // The lowest and the highest rank are exact in a histogram; here they are their bucket, as all others.
    const auto expected =
        merged.empty() ? 0 : Layout::index(static_cast<std::uint64_t>(merged.quantile(0.95).count())) + 1;
    ASSERT_EQ(read.p95()[i], static_cast<std::int64_t>(expected)) << "point " << i;
  }
}

TEST(TimelineData, NoRequestIsLostInTheHeatMapOrTheDistribution) {
  for (const std::uint32_t seconds : {1u, 59u, 999u, 1001u, 7777u}) {
    const model::RunResult run = random_run(seconds, seconds, 3);
    std::uint64_t all = 0;
    for (const model::StepResult& step : run.workflows[0].steps) all += step.ok + step.failed;
    const TimelineData data = timeline_data(run);
    ASSERT_EQ(data.scopes.size(), 5u);
    std::uint64_t of_steps = 0;
    for (const Scope& scope : data.scopes) {
      const Decoded read(scope);
      ASSERT_TRUE(read.whole);
      std::uint64_t heat = 0;
      for (const auto& column : read.heat) heat += sum(column);
      EXPECT_EQ(heat, sum(read.latency));
      EXPECT_EQ(sum(read.service), 0u);
      EXPECT_LE(scope.heat_columns, kMaxHeatColumns);
      if (scope.kind == Scope::Kind::kStep) {
        of_steps += heat;
      } else {
        EXPECT_EQ(heat, all);
      }
    }
    EXPECT_EQ(of_steps, all);
  }
}

TEST(TimelineData, WorkflowsThatRanAfterEachOtherDoNotAddUpTheirUsers) {
  model::RunResult run;
  for (std::uint32_t i = 0; i != 2; ++i) {
    model::WorkflowResult& workflow = run.workflows.emplace_back();
    for (std::uint32_t second = 0; second != 1501; ++second) {
      workflow.series.push_back({.second = second * 2 + i, .vus = 10});
    }
  }
  const TimelineData data = timeline_data(run);
  EXPECT_GT(data.scopes[0].width, 1u);
  EXPECT_THAT(Decoded(data.scopes[0]).vus(), Each(10));
}

TEST(TimelineData, ThinsOutTheSeriesOfManySteps) {
  model::RunResult run;
  model::WorkflowResult& workflow = run.workflows.emplace_back();
  workflow.elapsed = 3600s;
  for (std::uint64_t i = 0; i != 500; ++i) {
    model::StepResult& step = workflow.steps.emplace_back();
    step.name = std::to_string(i);
    step.latency.record(1ms, 1 + i);
    step.series = {second_of(0, 0, {1ms}), second_of(3599, 0, {1ms})};
  }
  const TimelineData data = timeline_data(run);
  EXPECT_EQ(data.scopes.size(), 2 + kMaxChartedSteps);
  EXPECT_EQ(data.steps_left_out, 300u);
  EXPECT_EQ(data.find(0, 0), std::nullopt) << "the busiest are kept";
  EXPECT_TRUE(data.find(0, 499));
  std::vector<std::size_t> points;
  for (const Scope& scope : data.scopes) {
    if (scope.kind == Scope::Kind::kStep) points.push_back(scope.points);
  }
  EXPECT_THAT(points, Each(Le(kAllStepPoints / kMaxChartedSteps)));
  EXPECT_THAT(points, Each(Ge(kMinPoints)));
}

TEST(TimelineData, ARunThatEndedBeforeItBeganIsEmpty) {
  const TimelineData data = timeline_data(test::nothing());
  ASSERT_EQ(data.scopes.size(), 1u);
  EXPECT_TRUE(Decoded(data.scopes[0]).whole);
  EXPECT_EQ(data.end - data.begin, 1u);
}

TEST(TimelineData, SecondsAtTheEndOfTheirRangeAreNoProblem) {
  model::RunResult run;
  model::WorkflowResult& workflow = run.workflows.emplace_back();
  workflow.series = {{.second = 0, .vus = 1}, {.second = 4'294'967'295u, .vus = 2}};
  const TimelineData data = timeline_data(run);
  EXPECT_EQ(data.end, 4'294'967'296u);
  EXPECT_LE(data.scopes[0].points, kMaxPoints);
  EXPECT_EQ(Decoded(data.scopes[0]).vus().back(), 2);
}

TEST(TimelineData, IsJsonThatMayStandInAScript) {
  auto run = test::marked();
  run.workflows[0].name = "</script><!--\xff";
  run.workflows[0].steps[0].name = "</SCRIPT>\u2028";
  run.thresholds[0].text = "<script>";
  const std::string text = timeline_json(timeline_data(run), run);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["scopes"][1]["name"], "</script><!--.");
  EXPECT_EQ(json["scopes"][2]["name"], "</SCRIPT>.");
  EXPECT_EQ(json["marks"][0]["text"], "<script> in every 10s");
  EXPECT_EQ(json["marks"].size(), 2u);
}

}  // namespace
}  // namespace muster::report::html
