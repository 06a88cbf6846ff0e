#include "engine/arrivals.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace muster::engine {
namespace {

using base::Duration;
using namespace std::chrono_literals;

std::unique_ptr<LoadShape> constant(double rate, Duration length) {
  model::Load load;
  load.shape = "constant-arrivals";
  load.rate = rate;
  load.length = length;
  load.max_vus = 100;
  return built_in_shapes().make(load).value();
}

std::unique_ptr<LoadShape> ramping(std::vector<model::Stage> stages) {
  model::Load load;
  load.shape = "ramping-arrivals";
  load.stages = std::move(stages);
  load.max_vus = 100;
  return built_in_shapes().make(load).value();
}

std::vector<Duration> all(const LoadShape& shape, model::Spacing spacing, std::uint32_t cores, std::uint64_t seed = 1) {
  std::vector<Duration> times;
  for (const Slice& slice : split(shape.peak_vus(), 0, cores)) {
    Arrivals arrivals(shape, spacing, slice, seed);
    for (Duration at = arrivals.next(); at != Duration::max(); at = arrivals.next()) times.push_back(at);
  }
  std::sort(times.begin(), times.end());
  return times;
}

RC_GTEST_PROP(Arrivals, OfAllCoresTogetherAreThoseOfOne, ()) {
  const auto cores = *rc::gen::inRange<std::uint32_t>(1, 20);
  const auto rate = *rc::gen::inRange(1, 500);
  const auto shape = constant(rate / 7.0, 10s);
  RC_ASSERT(all(*shape, model::Spacing::kEven, cores) == all(*shape, model::Spacing::kEven, 1));
  const auto ramp = ramping({{rate / 3.0, 5s}, {1, 3s}});
  RC_ASSERT(all(*ramp, model::Spacing::kEven, cores) == all(*ramp, model::Spacing::kEven, 1));
}

RC_GTEST_PROP(Arrivals, AreAsManyAsTheIntegralOfTheRate, ()) {
  const auto first = *rc::gen::inRange(0, 100);
  const auto second = *rc::gen::inRange(1, 100);
  const auto ramp = ramping({{static_cast<double>(first), 7s}, {static_cast<double>(second), 11s}});
  const double expected = first / 2.0 * 7 + (first + second) / 2.0 * 11;
  const auto times = all(*ramp, model::Spacing::kEven, 3);
  RC_ASSERT(std::abs(static_cast<double>(times.size()) - expected) <= 1);
}

TEST(Arrivals, OfAWholeNumberAreExactlyThatNumber) {
  for (int rate = 1; rate <= 300; ++rate) {
    const auto shape = constant(rate, 30s);
    ASSERT_EQ(all(*shape, model::Spacing::kEven, 4).size(), static_cast<std::size_t>(rate) * 30);
  }
  for (int per_minute = 1; per_minute <= 120; ++per_minute) {
    const auto shape = constant(per_minute / 60.0, 10min);
    ASSERT_EQ(all(*shape, model::Spacing::kEven, 4).size(), static_cast<std::size_t>(per_minute) * 10);
  }
}

// Counts in windows of a Poisson process have a variance equal to their mean; gaps have a deviation equal to theirs.
TEST(Arrivals, OfPoissonSpacingHaveItsMeanAndVariance) {
  const auto shape = constant(1000, 100s);
  for (const std::uint32_t cores : {1u, 6u}) {
    const auto times = all(*shape, model::Spacing::kPoisson, cores, 42);
    EXPECT_NEAR(static_cast<double>(times.size()), 100'000, 4 * std::sqrt(100'000.0));
    std::vector<double> windows(1000, 0);
    for (const Duration at : times) ++windows[static_cast<std::size_t>(at / 100ms)];
    double variance = 0;
    for (const double count : windows) variance += (count - 100) * (count - 100) / 1000;
    EXPECT_NEAR(variance, 100, 20) << cores;
    double squares = 0;
    for (std::size_t i = 1; i < times.size(); ++i) squares += std::pow(base::seconds(times[i] - times[i - 1]), 2);
    const double mean_square = squares / static_cast<double>(times.size() - 1);
    EXPECT_NEAR(mean_square / (2 * 0.001 * 0.001), 1, 0.05) << cores;
  }
}

TEST(Arrivals, OfPoissonSpacingFollowARamp) {
  const auto shape = ramping({{1000, 100s}});
  const auto times = all(*shape, model::Spacing::kPoisson, 4, 7);
  const auto half = std::lower_bound(times.begin(), times.end(), Duration(50s)) - times.begin();
  EXPECT_NEAR(static_cast<double>(times.size()), 50'000, 4 * std::sqrt(50'000.0));
  EXPECT_NEAR(static_cast<double>(half), 12'500, 4 * std::sqrt(12'500.0));
}

TEST(Arrivals, RepeatWithTheirSeedAndDifferWithoutIt) {
  const auto shape = constant(100, 10s);
  EXPECT_EQ(all(*shape, model::Spacing::kPoisson, 3, 5), all(*shape, model::Spacing::kPoisson, 3, 5));
  EXPECT_NE(all(*shape, model::Spacing::kPoisson, 3, 5), all(*shape, model::Spacing::kPoisson, 3, 6));
}

// Cores hear of a new scale at slightly different times; after that the whole must be as even as before.
RC_GTEST_PROP(Arrivals, StayEvenlySpacedWhenScaled, ()) {
  const auto cores = *rc::gen::inRange<std::uint32_t>(1, 9);
  const double factor = *rc::gen::inRange(1, 40) / 8.0;
  const auto shape = constant(100, 20s);
  std::vector<Duration> times;
  for (const Slice& slice : split(100, 0, cores)) {
    Arrivals arrivals(*shape, model::Spacing::kEven, slice, 1);
    Duration before{};
    const Duration told = 10s + 1ms * *rc::gen::inRange(0, 200);
    bool scaled = false;
    for (Duration at = arrivals.next(); at != Duration::max(); at = arrivals.next()) {
      RC_ASSERT(at >= before);
      before = at;
      if (at > 15s) times.push_back(at);
      if (at >= told && !scaled) arrivals.scale(factor);
      scaled |= at >= told;
    }
  }
  std::sort(times.begin(), times.end());
  RC_ASSERT(std::abs(static_cast<double>(times.size()) - 500 * factor) <= 1);
  for (std::size_t i = 1; i < times.size(); ++i) {
    RC_ASSERT(std::abs(base::seconds(times[i] - times[i - 1]) - 0.01 / factor) < 1e-8);
  }
}

TEST(Arrivals, ScaledBeforeTheFirstOneStartAtOnce) {
  const auto shape = constant(100, 20s);
  Arrivals arrivals(*shape, model::Spacing::kEven, Slice{}, 1);
  arrivals.scale(2);
  EXPECT_EQ(arrivals.next(), 0ms);
  EXPECT_EQ(arrivals.next(), 5ms);
}

TEST(Arrivals, OfPoissonSpacingFollowTheScale) {
  const auto shape = constant(1000, 100s);
  Arrivals arrivals(*shape, model::Spacing::kPoisson, Slice{}, 3);
  arrivals.scale(0.5);
  double count = 0;
  while (arrivals.next() != Duration::max()) ++count;
  EXPECT_NEAR(count, 50'000, 4 * std::sqrt(50'000.0));
}

}  // namespace
}  // namespace muster::engine
