#include "sim/swim_world.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/seed_run.h"
#include "sim/swim_experiments.h"

namespace muster::sim {
namespace {

std::vector<Scenario> scenarios() {
  std::vector<Scenario> made;
  add_swim_scenarios(made);
  add_swim_experiments(made);
  return made;
}

const Scenario& named(const std::vector<Scenario>& all, std::string_view name) {
  return *std::ranges::find(all, name, &Scenario::name);
}

std::string told(const SeedRun& run) {
  return run.record.violation ? run.record.violation->invariant + ": " + run.record.violation->sentence : "";
}

TEST(SwimWorldTest, ItsInvariantsHoldOverAFewSeeds) {
  const std::vector<Scenario> all = scenarios();
  for (const std::string_view name : {"swim", "swim-loss", "swim-garbled"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      EXPECT_EQ(told(run_seed(named(all, name), seed)), "") << name << seed;
  }
}

TEST(SwimWorldTest, TheSameSeedGivesTheSameRun) {
  const std::vector<Scenario> all = scenarios();
  const SeedRun one = run_seed(named(all, "swim"), 3);
  const SeedRun other = run_seed(named(all, "swim"), 3);
  EXPECT_EQ(one.record.hash, other.record.hash);
  EXPECT_GT(one.record.events, 100u);
}

TEST(SwimWorldTest, AGroupOfTenKnowsOfAJoinAndOfACrash) {
  const std::vector<Scenario> all = scenarios();
  const SeedRun run = run_seed(named(all, "swim-scale"), 1);
  ASSERT_TRUE(run.record.measures.contains("10|join known to all"));
  EXPECT_LT(run.record.measures.at("10|join known to all").at(0), 2);
  ASSERT_TRUE(run.record.measures.contains("10|crash known to all"));
}

}  // namespace
}  // namespace muster::sim
