#include "resilience/overload.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Duration;
using namespace std::chrono_literals;

void handle(OverloadDetector& detector, int times, Duration latency) {
  for (int i = 0; i < times; ++i) detector.handled(latency, kStart);
}

TEST(Overload, ANewNodeIsHealthy) {
  EXPECT_EQ(OverloadDetector().load(kStart), Load::kHealthy);
}

TEST(Overload, LongLatenciesCountWhateverTheBaseline) {
  for (const auto& [latency, load] : {std::pair<Duration, Load>{199ms, Load::kHealthy},
                                      {200ms, Load::kBusy},
                                      {500ms, Load::kStressed},
                                      {2000ms, Load::kOverloaded}}) {
    OverloadDetector detector;
    handle(detector, 50, latency);
    EXPECT_EQ(detector.load(kStart), load);
  }
}

TEST(Overload, TwoLatenciesSayNothingYet) {
  OverloadDetector detector;
  handle(detector, 2, 5s);
  EXPECT_EQ(detector.load(kStart), Load::kHealthy);
  handle(detector, 1, 5s);
  EXPECT_EQ(detector.load(kStart), Load::kOverloaded);
}

TEST(Overload, AMeanAboveTheBaselineIsLoad) {
  for (const auto& [latency, load] : {std::pair<Duration, Load>{71ms, Load::kHealthy},
                                      {73ms, Load::kBusy},
                                      {91ms, Load::kStressed},
                                      {121ms, Load::kOverloaded}}) {
    OverloadDetector detector;
    handle(detector, 100, 60ms);
    handle(detector, 10, latency);
    EXPECT_EQ(detector.load(kStart), load) << latency.count();
  }
}

TEST(Overload, WhatLastsBecomesTheBaseline) {
  OverloadDetector detector;
  handle(detector, 100, 60ms);
  handle(detector, 100, 150ms);
  EXPECT_EQ(detector.load(kStart), Load::kHealthy);
}

TEST(Overload, SmallLatenciesAreNotComparedWithTheBaseline) {
  OverloadDetector detector;
  handle(detector, 100, 1ms);
  handle(detector, 10, 40ms);
  EXPECT_EQ(detector.load(kStart), Load::kHealthy);
}

TEST(Overload, ASteepRiseIsOverloadBeforeItIsLong) {
  const OverloadOptions by_slope_only{.above_baseline = {100, 100, 100}};
  OverloadDetector gentle(by_slope_only);
  OverloadDetector steep(by_slope_only);
  for (int i = 0; i < 20; ++i) {
    gentle.handled(60ms + i * 4ms, kStart);
    steep.handled(10ms + i * 9ms, kStart);
  }
  EXPECT_EQ(gentle.load(kStart), Load::kHealthy);
  EXPECT_EQ(steep.load(kStart), Load::kOverloaded);
}

TEST(Overload, TheFullestResourceDecides) {
  OverloadDetector detector;
  detector.measured({.cpu = 0.69, .memory = 0.5, .queue = 0});
  EXPECT_EQ(detector.load(kStart), Load::kHealthy);
  detector.measured({.cpu = 0.70, .memory = 0.5, .queue = 0});
  EXPECT_EQ(detector.load(kStart), Load::kBusy);
  detector.measured({.cpu = 0.1, .memory = 0.85, .queue = 0.7});
  EXPECT_EQ(detector.load(kStart), Load::kStressed);
  detector.measured({.cpu = 0.1, .memory = 0.1, .queue = 0.95});
  EXPECT_EQ(detector.load(kStart), Load::kOverloaded);
}

TEST(Overload, ANodeThatShedsEverythingBecomesWellAgain) {
  OverloadDetector detector;
  handle(detector, 20, 5s);
  EXPECT_EQ(detector.load(kStart + 9s), Load::kOverloaded);
  EXPECT_EQ(detector.load(kStart + 10s), Load::kHealthy);
}

RC_GTEST_PROP(Overload, EvenLatenciesBelowTheBoundsAreHealthy, ()) {
  OverloadDetector detector;
  handle(detector, *rc::gen::inRange(0, 100), *rc::gen::inRange(0, 199) * 1ms);
  RC_ASSERT(detector.load(kStart) == Load::kHealthy);
}

}  // namespace
}  // namespace muster::resilience
