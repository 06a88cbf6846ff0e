#include "metrics/block_bootstrap.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.h"
#include "metrics/normal_draws.h"

namespace muster::metrics {
namespace {

constexpr std::array kMedianAndTail = {0.5, 0.95};

std::vector<double> autoregressive(std::size_t size, double carried, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<double> series(size);
  double level = normal_draw(random) / std::sqrt(1 - carried * carried);
  for (double& value : series) value = level = carried * level + normal_draw(random);
  return series;
}

// Lognormal latencies around 20 ms; the level of each second is `drift` of its logarithm off.
std::vector<Slice> run_of(std::size_t size, std::uint64_t each, double drift, double carried, std::uint64_t seed) {
  base::Random random(base::mix(seed));
  std::vector<double> levels = autoregressive(size, carried, seed);
  std::vector<Slice> seconds(size);
  Recorder<9> recorder;
  for (std::size_t i = 0; i != size; ++i) {
    const double level = std::log(20e6) + drift * levels[i] * std::sqrt(1 - carried * carried);
    recorder.clear();
    for (std::uint64_t k = 0; k != each; ++k) {
      recorder.record(base::Duration(std::llround(std::exp(level + 0.5 * normal_draw(random)))));
    }
    seconds[i].latency = coarse(recorder);
    seconds[i].requests = each;
  }
  return seconds;
}

TEST(BlockLength, IsShortForSecondsThatDoNotDependOnEachOther) {
  std::size_t sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) sum += block_length(autoregressive(100, 0, seed));
  EXPECT_LE(sum, 20u * 6) << "the cube root of 100 is 5 already";
}

TEST(BlockLength, GrowsWithWhatIsCarriedOver) {
  std::size_t some = 0;
  std::size_t much = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    some += block_length(autoregressive(100, 0.5, seed));
    much += block_length(autoregressive(100, 0.8, seed));
  }
  EXPECT_GT(some, 20u * 5);
  EXPECT_GT(much, 20u * 8);
  EXPECT_LE(much, 20u * 20);
}

TEST(BlockLength, CopesWithWhatIsNoSeries) {
  EXPECT_EQ(block_length({}), 1u);
  EXPECT_EQ(block_length(std::vector{1.0}), 1u);
  EXPECT_EQ(block_length(std::vector<double>(64, 3.0)), 4u);
}

TEST(BlockBootstrap, FindsTheFiguresOfTheSeries) {
  const auto seconds = run_of(60, 500, 0, 0, 1);
  const Spread spread = block_bootstrap(seconds, kMedianAndTail);
  ASSERT_EQ(spread.quantiles.size(), 2u);
  EXPECT_NEAR(spread.quantiles[0].value / 20e6, 1, 0.01);
  EXPECT_NEAR(spread.quantiles[1].value / 20e6, std::exp(0.5 * 1.645), 0.05);
  EXPECT_NEAR(spread.mean.value / 20e6, std::exp(0.125), 0.02);
  EXPECT_EQ(spread.rate.value, 500);
  EXPECT_EQ(spread.rate.error, 0);
  EXPECT_EQ(spread.failed.value, 0);
}

TEST(BlockBootstrap, FindsTheErrorThatIndependentSamplesHave) {
  // Of a quantile: sqrt(p (1 - p) / n) / density; for the median of this lognormal 0.5 * 1.2533 / sqrt(n).
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    sum += block_bootstrap(run_of(100, 200, 0, 0, seed), kMedianAndTail).quantiles[0].error;
  }
  const double expected = 0.5 * 1.2533 / std::sqrt(100 * 200.0);
  EXPECT_NEAR(sum / 10 / expected, 1, 0.2);
}

TEST(BlockBootstrap, FindsTheErrorOfALevelThatDrifts) {
  // The level's mean has a standard deviation of 2 % * sqrt((1 + c) / (1 - c) / n), beside that of the samples.
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sum += block_bootstrap(run_of(120, 200, 0.02, 0.6, seed), kMedianAndTail).quantiles[0].error;
  }
  const double expected = std::hypot(0.02 * std::sqrt(1.6 / 0.4 / 120), 0.5 * 1.2533 / std::sqrt(120 * 200.0));
  EXPECT_GT(sum / 20 / expected, 0.8);
  EXPECT_LT(sum / 20 / expected, 1.25);
}

TEST(BlockBootstrap, GivesTheSameForTheSameSeed) {
  const auto seconds = run_of(60, 100, 0.05, 0.5, 1);
  const Spread first = block_bootstrap(seconds, kMedianAndTail);
  const Spread again = block_bootstrap(seconds, kMedianAndTail);
  const Spread other = block_bootstrap(seconds, kMedianAndTail, {.seed = 2});
  EXPECT_EQ(first.quantiles[1].error, again.quantiles[1].error);
  EXPECT_NE(first.quantiles[1].error, other.quantiles[1].error);
  EXPECT_NEAR(first.quantiles[1].error / other.quantiles[1].error, 1, 0.15);
}

TEST(BlockBootstrap, CountsSecondsInWhichNothingHappened) {
  auto seconds = run_of(40, 100, 0, 0, 1);
  for (std::size_t i = 0; i != 20; ++i) seconds[i] = {};
  for (std::size_t i = 20; i != 30; ++i) seconds[i].failed = 50;
  const Spread spread = block_bootstrap(seconds, kMedianAndTail);
  EXPECT_EQ(spread.rate.value, 50);
  EXPECT_GT(spread.rate.error, 0);
  EXPECT_EQ(spread.failed.value, 0.25);
  EXPECT_GT(spread.failed.error, 0);
}

TEST(BlockBootstrap, SaysNothingAboutNothing) {
  EXPECT_EQ(block_bootstrap({}, kMedianAndTail).freedom, 0);
  EXPECT_EQ(block_bootstrap(std::vector<Slice>(100), kMedianAndTail).freedom, 0);
  EXPECT_EQ(block_bootstrap(run_of(3, 10, 0, 0, 1), kMedianAndTail).freedom, 0);
  EXPECT_GT(block_bootstrap(run_of(4, 10, 0, 0, 1), kMedianAndTail).freedom, 0);
}

}  // namespace
}  // namespace muster::metrics
