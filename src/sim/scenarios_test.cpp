#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "sim/scenario.h"
#include "sim/seed_run.h"

namespace muster::sim {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Scenario& scenario : built_in_scenarios())
    if (scenario.in_all) all.push_back(scenario.name);
  return all;
}

Scenario scenario_called(const std::string& name) {
  const std::vector<Scenario> all = built_in_scenarios();
  return *std::ranges::find(all, name, &Scenario::name);
}

class EveryScenario : public testing::TestWithParam<std::string> {};

TEST_P(EveryScenario, HoldsAndTellsTheSameTwice) {
  const Scenario scenario = scenario_called(GetParam());
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const SeedRun once = run_seed(scenario, seed);
    ASSERT_FALSE(once.record.violation) << "seed " << seed << ", invariant " << once.record.violation->invariant << ": "
                                        << once.record.violation->sentence;
    EXPECT_EQ(once.record.hash, run_seed(scenario, seed).record.hash);
    EXPECT_GT(once.record.events, 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryScenario, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Scenarios, HaveNamesOfTheirOwn) {
  const std::vector<Scenario> all = built_in_scenarios();
  std::set<std::string> different;
  for (const Scenario& scenario : all) different.insert(scenario.name);
  EXPECT_EQ(different.size(), all.size());
}

TEST(Scenarios, DemandTheFaultsThatTheyHaveAndNoOthers) {
  Scenario scenario;
  scenario.faults.with(FaultKind::kCrash).with(FaultKind::kDiskFull, 0.1);
  demand_faults(scenario);
  EXPECT_EQ(scenario.counters, (std::vector<std::string>{"fault crash", "fault disk-full"}));
}

}  // namespace
}  // namespace muster::sim
