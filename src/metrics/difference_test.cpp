#include "metrics/difference.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <utility>

namespace muster::metrics {
namespace {

TEST(Difference, IsAFractionOfTheFirst) {
  const Difference found = relative_difference({100, 0.01}, 1e6, {105, 0.01}, 1e6, 0);
  EXPECT_NEAR(found.change, 0.05, 1e-12);
  const double margin = 1.959964 * std::sqrt(2) * 0.01;
  EXPECT_NEAR(found.low, std::exp(std::log(1.05) - margin) - 1, 1e-6);
  EXPECT_NEAR(found.high, std::exp(std::log(1.05) + margin) - 1, 1e-6);
  EXPECT_NEAR(found.p, 0.000559, 2e-5);
}

TEST(Difference, AllowsForFewBlocksAsStudentDid) {
  // Two-sided 5 % points of t: 12.7 for 1 degree of freedom is out of the approximation's reach, 2.571 for 5 is not.
  const std::vector<std::pair<double, double>> points = {{3.0, 3.182}, {5.0, 2.571}, {10.0, 2.228}, {30.0, 2.042}};
  for (const auto& [freedom, t] : points) {
    const Difference found = absolute_difference({0, 1}, freedom, {t, 0}, 1e6);
    EXPECT_NEAR(found.p, 0.05, 0.002) << freedom;
    EXPECT_NEAR(found.high - found.change, t, 0.04) << freedom;
  }
}

TEST(Difference, WhatRunsDifferByAnywayIsAllowedFor) {
  const Difference strict = relative_difference({100, 0.001}, 100, {101, 0.001}, 100, 0);
  const Difference lenient = relative_difference({100, 0.001}, 100, {101, 0.001}, 100, 0.005);
  EXPECT_LT(strict.p, 1e-6);
  EXPECT_GT(lenient.p, 0.1);
}

TEST(Difference, OfFiguresWithoutErrorIsCertain) {
  EXPECT_EQ(absolute_difference({0, 0}, 5, {0, 0}, 5).p, 1);
  EXPECT_EQ(absolute_difference({0, 0}, 5, {1, 0}, 5).p, 0);
}

RC_GTEST_PROP(Difference, AnIntervalThatLeavesOutZeroGoesWithASmallP, ()) {
  const auto unit = [] { return static_cast<double>(*rc::gen::inRange(1, 10'000)) / 10'000; };
  const Estimate before{1 + unit(), 0.2 * unit()};
  const Estimate after{1 + unit(), 0.2 * unit()};
  const double freedom = 3 + 50 * unit();
  const Difference found = relative_difference(before, freedom, after, freedom, 0.001);
  RC_ASSERT(found.low <= found.change);
  RC_ASSERT(found.change <= found.high);
  const bool leaves_out_zero = found.low > 0 || found.high < 0;
  if (std::abs(found.p - 0.05) > 1e-9) RC_ASSERT(leaves_out_zero == (found.p < 0.05));
}

TEST(Holm, DemandsMoreOfTheFirstThanOfTheLast) {
  EXPECT_EQ(holm(std::vector{0.01, 0.04, 0.03, 0.005}, 0.05), (std::vector{true, false, false, true}));
  EXPECT_EQ(holm(std::vector{0.012, 0.016, 0.024, 0.049}, 0.05), (std::vector{true, true, true, true}));
  EXPECT_EQ(holm(std::vector{0.02, 0.02}, 0.05), (std::vector{true, true}));
  EXPECT_TRUE(holm({}, 0.05).empty());
}

TEST(BenjaminiHochberg, AcceptsUpToTheLastThatIsBelowItsLine) {
  EXPECT_EQ(benjamini_hochberg(std::vector{0.04, 0.01, 0.03, 0.9}, 0.05), (std::vector{false, true, false, false}));
  EXPECT_EQ(benjamini_hochberg(std::vector{0.03, 0.01, 0.02, 0.9}, 0.05), (std::vector{true, true, true, false}));
  EXPECT_TRUE(benjamini_hochberg({}, 0.05).empty());
}

}  // namespace
}  // namespace muster::metrics
