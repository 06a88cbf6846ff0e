#include "sim/command_line.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/campaign.h"
#include "sim/register_world.h"
#include "sim/telling.h"

namespace muster::sim {
namespace {

base::Expected<Flags> parse(std::vector<const char*> words) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  return parse_flags(words, scenarios);
}

TEST(SimCommandLine, ReadsSeedsAndRanges) {
  const auto one = parse({"--scenario", "register", "--seed", "17"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first_seed, 17u);
  EXPECT_EQ(one->last_seed, 17u);
  const auto many = parse({"--scenario=all", "--seed=5..900", "--jobs", "2", "--shrink", "--json"});
  ASSERT_TRUE(many);
  EXPECT_EQ(many->scenarios, std::vector<std::string>{"register"});
  EXPECT_EQ(many->first_seed, 5u);
  EXPECT_EQ(many->last_seed, 900u);
  EXPECT_EQ(many->jobs, 2u);
  EXPECT_TRUE(many->shrink);
  EXPECT_TRUE(many->json);
}

TEST(SimCommandLine, RefusesWhatItDoesNotKnowAndSaysWhat) {
  EXPECT_EQ(parse({"--scenario", "registre"}).error().message,
            "there is no scenario 'registre'; did you mean 'register'?; --list tells them all");
  EXPECT_EQ(parse({"--sede", "1"}).error().message, "unknown flag '--sede'; --help tells them all");
  EXPECT_EQ(parse({"--scenario", "all", "--seed", "9..2"}).error().message,
            "--seed takes a number or a range such as 1..1000, not '9..2'");
  EXPECT_EQ(parse({"--scenario", "all", "--jobs", "0"}).error().message,
            "--jobs takes a number from 1 to 256, not '0'");
  EXPECT_EQ(parse({"--scenario"}).error().message, "--scenario needs a value");
  EXPECT_EQ(parse({}).error().message, "--scenario NAME says what to simulate; --list tells the names");
}

TEST(SimTelling, NamesScenarioSeedInvariantAndTheEndOfTheTrace) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  FailedSeed failure;
  failure.seed = 42;
  failure.run.record.violation = {.invariant = "1", .sentence = "two leaders of term 3", .at = std::chrono::seconds(2)};
  failure.run.lines = {"the last line"};
  const std::string text = tell_failure(scenarios.front(), failure);
  EXPECT_NE(text.find("scenario register, seed 42, invariant 1 (At most one leader per group and term.)"),
            std::string::npos);
  EXPECT_NE(text.find("two leaders of term 3"), std::string::npos);
  EXPECT_NE(text.find("the last line"), std::string::npos);
}

}  // namespace
}  // namespace muster::sim
