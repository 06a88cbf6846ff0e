#include "model/threshold_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::model {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Part = ThresholdMisfit::Part;

Threshold about(std::string metric) {
  Threshold made;
  made.metric = std::move(metric);
  return made;
}

TEST(ThresholdReach, EveryMetricFitsAWholeRunAndAWorkflow) {
  for (const char* metric : {"latency", "service", "lateness", "failed", "requests", "iterations", "failed_iterations",
                             "dropped", "checks", "basket"}) {
    Threshold threshold = about(metric);
    EXPECT_FALSE(misfit(threshold)) << metric;
    threshold.where = {{"workflow", "main"}};
    EXPECT_FALSE(misfit(threshold)) << metric;
  }
}

TEST(ThresholdReach, OnlyWhatIsKeptPerSecondFitsAWindow) {
  for (const char* metric : {"latency", "failed", "requests", "iterations", "dropped"}) {
    Threshold threshold = about(metric);
    threshold.window = 2s;
    EXPECT_FALSE(misfit(threshold)) << metric;
  }
  for (const char* metric : {"service", "lateness", "failed_iterations", "checks", "basket"}) {
    Threshold threshold = about(metric);
    threshold.window = 2s;
    const auto wrong = misfit(threshold);
    ASSERT_TRUE(wrong) << metric;
    EXPECT_EQ(wrong->part, Part::kWindow);
    EXPECT_THAT(wrong->message, HasSubstr("leave 'window' out"));
  }
}

TEST(ThresholdReach, WhatIsCountedPerWorkflowFitsNoStepOrTag) {
  for (const char* metric : {"lateness", "iterations", "failed_iterations", "dropped", "basket"}) {
    Threshold threshold = about(metric);
    threshold.where = {{"workflow", "main"}, {"step", "login"}};
    const auto wrong = misfit(threshold);
    ASSERT_TRUE(wrong) << metric;
    EXPECT_EQ(wrong->part, Part::kWhere);
    EXPECT_EQ(wrong->condition, 1u);
    EXPECT_THAT(wrong->message, HasSubstr("counted per workflow"));
  }
}

TEST(ThresholdReach, TagsThatOnlyARunTellsAreKeptForRequestsOfTheWholeRun) {
  const auto holes = [](std::string_view tag) { return tag == "region"; };
  Threshold threshold = about("latency");
  threshold.where = {{"team", "shop"}, {"region", "eu"}};
  EXPECT_FALSE(misfit(threshold, holes));
  threshold.window = 2s;
  EXPECT_FALSE(misfit(threshold));
  ASSERT_TRUE(misfit(threshold, holes));
  EXPECT_EQ(misfit(threshold, holes)->part, Part::kWindow);
  threshold.where.pop_back();
  EXPECT_FALSE(misfit(threshold, holes));
  threshold = about("checks");
  threshold.where = {{"region", "eu"}};
  ASSERT_TRUE(misfit(threshold, holes));
  EXPECT_EQ(misfit(threshold, holes)->part, Part::kWhere);
}

}  // namespace
}  // namespace muster::model
