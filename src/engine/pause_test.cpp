#include "engine/pause.h"

#include <gtest/gtest.h>

#include "engine/rehearsal.h"

namespace muster::engine {
namespace {

using std::chrono::milliseconds;

Pause think(int least, int most) {
  return {.kind = Pause::Kind::kThink, .think = {.least = milliseconds(least), .most = milliseconds(most)}};
}

Pause of(Pause::Kind kind, std::vector<Pause> parts) {
  return {.kind = kind, .parts = std::move(parts)};
}

TEST(Pause, PausesInARowAddUpAndThoseAtTheSameTimeDoNot) {
  base::Random random(7);
  const std::vector<Pause> parts{think(10, 10), think(30, 30), think(20, 20)};
  EXPECT_EQ(length_of(of(Pause::Kind::kAll, parts), random), milliseconds(60));
  EXPECT_EQ(length_of(of(Pause::Kind::kLongest, parts), random), milliseconds(30));
  EXPECT_EQ(length_of(of(Pause::Kind::kAll, {}), random), milliseconds(0));
}

TEST(Pause, OneOfSeveralIsDrawnByTheWeights) {
  base::Random random(7);
  Pause pause = of(Pause::Kind::kOneOf, {think(1, 1), think(1000, 1000), {}});
  pause.parts[0].weight = 8;
  int shorter = 0;
  int longer = 0;
  for (int i = 0; i < 1000; ++i) {
    const base::Duration drawn = length_of(pause, random);
    shorter += drawn == milliseconds(1) ? 1 : 0;
    longer += drawn == milliseconds(1000) ? 1 : 0;
  }
  EXPECT_NEAR(shorter, 800, 60);
  EXPECT_NEAR(longer, 100, 50);
}

TEST(Pause, RoundsMultiplyAndNeverOverflow) {
  base::Random random(7);
  Pause pause = of(Pause::Kind::kAll, {think(10, 10)});
  pause.rounds = 3;
  EXPECT_EQ(length_of(pause, random), milliseconds(30));
  EXPECT_EQ(length_of(pause, random, 2), milliseconds(60));
  pause.rounds = 1e300;
  EXPECT_EQ(length_of(pause, random), std::chrono::hours(365 * 24));
  pause.rounds = 0;
  EXPECT_FALSE(pause.any());
}

TEST(Pause, AFailedIterationTakesThePausesThatItPassesOver) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 3 }", R"(
    steps:
      - { name: a, play: a, fails: "true" }
      - think: 10ms
      - group: shop
        steps: [ { name: b, play: b }, { think: 20ms } ]
)");
  EXPECT_EQ(result.failed_iterations, 3U);
  EXPECT_EQ(step(result, "b").skipped, 3U);
  EXPECT_GE(result.iteration_time.min(), milliseconds(30));
}

TEST(Pause, AFailedIterationTakesThoseInsideSkippedControlStepsToo) {
  for (const std::string skipped :
       {"choose: [ { weight: 1, steps: [ { think: 40ms } ] }, { weight: 1, steps: [ { think: 40ms } ] } ]",
        "parallel: [ { think: 40ms }, { think: 1ms } ]",
        "{ if: iteration == 99, then: [ { think: 40ms } ], else: [ { think: 1h } ] }",
        "{ repeat: 4, steps: [ { think: 10ms } ] }",
        "{ repeat: { while: iteration == 99 }, steps: [ { think: 40ms } ] }",
        "{ repeat: 2, steps: [ { parallel: [ { repeat: 2, steps: [ { think: 10ms } ] }, { think: 1ms } ] } ] }"}) {
    Rehearsal r;
    const auto result = r.run("{ vus: 1, iterations: 2 }",
                              "    steps:\n      - { name: a, play: a, fails: \"true\" }\n      - " + skipped + "\n");
    EXPECT_EQ(result.failed_iterations, 2U) << skipped;
    EXPECT_GE(result.iteration_time.min(), milliseconds(40)) << skipped;
    EXPECT_LT(result.iteration_time.max(), std::chrono::minutes(1)) << skipped;
  }
}

TEST(Pause, AFailureInARoundPassesOverTheRestOfItAndTheRoundsThatAreLeft) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 1 }", R"(
    steps:
      - set: { n: 0 }
      - repeat: 5
        steps:
          - set: { n: "${n + 1}" }
          - { name: a, play: "a", fails: "${n == 2}" }
          - think: 10ms
)");
  EXPECT_EQ(step(result, "a").ok, 1U);
  EXPECT_EQ(result.failed_iterations, 1U);
  EXPECT_GE(result.iteration_time.min(), milliseconds(50));
}

TEST(Pause, AFailureInsideABranchTakesOnlyThePausesBehindIt) {
  Rehearsal r;
  const auto result = r.run("{ vus: 1, iterations: 1 }", R"(
    steps:
      - choose:
          - weight: 1
            steps: [ { think: 1ms }, { name: a, play: a, fails: "true" }, { think: 10ms } ]
      - if: "true"
        then: [ { think: 20ms } ]
        else: [ { think: 1h } ]
)");
  EXPECT_EQ(result.failed_iterations, 1U);
  EXPECT_GE(result.iteration_time.min(), milliseconds(31));
  EXPECT_LT(result.iteration_time.max(), std::chrono::minutes(1));
}

}  // namespace
}  // namespace muster::engine
