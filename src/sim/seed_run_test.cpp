#include "sim/seed_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/campaign.h"
#include "sim/invariants.h"
#include "sim/register_world.h"

namespace muster::sim {
namespace {

Scenario register_scenario(bool hasty) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  Scenario scenario = scenarios.front();
  scenario.make = [hasty](std::uint64_t) {
    RegisterOptions options;
    options.hasty = hasty;
    return make_register_world(options);
  };
  scenario.safety = std::chrono::seconds(5);
  return scenario;
}

std::uint64_t first_failing(const Scenario& scenario) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    if (run_seed(scenario, seed).record.violation) return seed;
  return 0;
}

TEST(SeedRun, GivesTheSameHashForTheSameSeedAndAnotherForAnother) {
  const Scenario scenario = register_scenario(false);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const SeedRun once = run_seed(scenario, seed);
    const SeedRun twice = run_seed(scenario, seed);
    EXPECT_EQ(once.record.hash, twice.record.hash);
    EXPECT_NE(once.record.hash, run_seed(scenario, seed + 1).record.hash);
  }
}

TEST(SeedRun, IsNotChangedByKeepingATrace) {
  const Scenario scenario = register_scenario(false);
  const SeedRun traced = run_seed(scenario, 3, Trace::kEnd);
  EXPECT_EQ(run_seed(scenario, 3).record.hash, traced.record.hash);
  EXPECT_FALSE(traced.lines.empty());
}

TEST(SeedRun, DrawsAsManyFaultsAsTheProfileSays) {
  const Scenario scenario = register_scenario(false);
  const SeedRun run = run_seed(scenario, 4);
  EXPECT_GE(run.plan.size(), scenario.faults.least);
  EXPECT_LE(run.plan.size(), scenario.faults.most);
  EXPECT_EQ(run.record.faults, run.plan.size());
}

TEST(SeedRun, FindsNodesThatPromiseBeforeTheyKeep) {
  EXPECT_EQ(first_failing(register_scenario(false)), 0u);
  EXPECT_NE(first_failing(register_scenario(true)), 0u);
}

TEST(SeedRun, ShrinksAFailureToFewFaultsOfTheSameKindOfFailure) {
  const Scenario scenario = register_scenario(true);
  const std::uint64_t seed = first_failing(scenario);
  const SeedRun failed = run_seed(scenario, seed);
  const Shrunk shrunk = shrink(scenario, seed, failed);
  ASSERT_TRUE(shrunk.run.record.violation);
  EXPECT_EQ(shrunk.run.record.violation->invariant, failed.record.violation->invariant);
  EXPECT_EQ(shrunk.plan.size(), 1u);
  EXPECT_FALSE(shrunk.run.lines.empty());
}

TEST(SeedRun, ShrinksNoFurtherOnceItIsInterrupted) {
  const Scenario scenario = register_scenario(true);
  const std::uint64_t seed = first_failing(scenario);
  const SeedRun failed = run_seed(scenario, seed);
  const Shrunk shrunk = shrink(scenario, seed, failed, [] { return true; });
  EXPECT_TRUE(shrunk.interrupted);
  EXPECT_EQ(shrunk.tries, 0u);
  ASSERT_TRUE(shrunk.run.record.violation);
  EXPECT_EQ(shrunk.run.record.violation->invariant, failed.record.violation->invariant);
  EXPECT_FALSE(shrink(scenario, seed, failed).interrupted);
}

TEST(Campaign, TellsTheSameWithOneThreadAndWithTwo) {
  const Scenario scenario = register_scenario(false);
  CampaignOptions options;
  options.last = 12;
  const CampaignResult one = run_campaign(scenario, options);
  options.threads = 2;
  const CampaignResult two = run_campaign(scenario, options);
  EXPECT_EQ(one.totals.hash, two.totals.hash);
  EXPECT_EQ(one.totals.events, two.totals.events);
  EXPECT_EQ(two.totals.seeds, 12u);
}

TEST(Campaign, StopsAtTheFirstFailureUnlessItIsToKeepGoing) {
  const Scenario scenario = register_scenario(true);
  const std::uint64_t first = first_failing(scenario);
  CampaignOptions options;
  options.last = first + 30;
  const CampaignResult stopped = run_campaign(scenario, options);
  ASSERT_EQ(stopped.failures.size(), 1u);
  EXPECT_EQ(stopped.failures[0].seed, first);
  EXPECT_EQ(stopped.totals.seeds, first);
  options.keep_going = true;
  EXPECT_EQ(run_campaign(scenario, options).totals.seeds, first + 30);
}

TEST(Campaign, FailsWhenSomethingExpectedWasNeverSeen) {
  Scenario scenario = register_scenario(false);
  scenario.counters = {"pigs flew"};
  scenario.enough_seeds = 3;
  CampaignOptions options;
  options.last = 2;
  EXPECT_TRUE(run_campaign(scenario, options).passed());
  options.last = 3;
  const CampaignResult result = run_campaign(scenario, options);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.unseen, std::vector<std::string>{"pigs flew"});
}

TEST(Campaign, FindsAWorldThatIsNotDeterministic) {
  Scenario scenario = register_scenario(false);
  auto calls = std::make_shared<std::uint32_t>(0);
  scenario.make = [calls](std::uint64_t) {
    RegisterOptions options;
    options.nodes = 3 + (*calls)++ % 2;
    return make_register_world(options);
  };
  CampaignOptions options;
  options.repeat_check = true;
  const CampaignResult result = run_campaign(scenario, options);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].run.record.violation->invariant, "30");
}

TEST(Scenarios, WatchOnlyInvariantsThatAreInTheTable) {
  for (const Scenario& scenario : built_in_scenarios())
    for (const std::string& name : scenario.watches)
      EXPECT_NE(find_invariant(name), nullptr) << scenario.name << " watches " << name;
}

TEST(Scenarios, LeaveNoInvariantUnwatched) {
  for (const Invariant& invariant : invariants()) {
    EXPECT_TRUE(std::ranges::any_of(built_in_scenarios(), [&](const Scenario& scenario) {
      return std::ranges::count(scenario.watches, invariant.name) > 0;
    })) << invariant.name;
  }
}

TEST(Percentile, IsTheValueBelowWhichThatShareLies) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({3, 1, 2}, 1), 3);
}

}  // namespace
}  // namespace muster::sim
