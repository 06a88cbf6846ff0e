#include "sim/command_line.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

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
            "--seed takes a range from its least seed to its greatest: 2..9");
  EXPECT_EQ(parse({"--scenario", "all", "--seed", "18446744073709551616"}).error().message,
            "--seed takes a number up to 18446744073709551615 or a range such as 1..1000, not '18446744073709551616'");
  EXPECT_EQ(parse({"--scenario", "register", "--seed", "1..2", "--trace"}).error().message,
            "--trace tells one seed of one scenario: --scenario raft --seed 17 --trace");
  EXPECT_EQ(parse({"--scenario", "register", "--trace", "--json"}).error().message,
            "--trace and --json both want the output for themselves; give one");
  EXPECT_EQ(parse({"--scenario", "all", "--jobs", "0"}).error().message,
            "--jobs takes a number from 1 to 256, not '0'");
  EXPECT_EQ(parse({"--scenario"}).error().message, "--scenario needs a value");
  EXPECT_EQ(parse({}).error().message, "--scenario NAME says what to simulate; --list tells the names");
}

TEST(SimCommandLine, TheGreatestSeedThereIsEndsTheCampaign) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  const std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();
  const CampaignResult result =
      run_campaign(scenarios.front(), {.first = greatest - 1, .last = greatest, .threads = 2});
  EXPECT_EQ(result.totals.seeds, 2u);
}

TEST(SimCommandLine, WhatCannotBeWrittenIsNoSuccess) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  std::FILE* const full = std::fopen("/dev/full", "w");
  std::FILE* const said = std::tmpfile();
  ASSERT_TRUE(full != nullptr && said != nullptr);
  const std::vector<const char*> words{"muster-sim", "--list"};
  EXPECT_EQ(command_line(static_cast<int>(words.size()), words.data(), scenarios, {.out = full, .err = said}), 1);
  EXPECT_GT(std::ftell(said), 0);
  std::fclose(full);
  std::fclose(said);
}

TEST(SimCommandLine, AScenarioNamedTwiceRunsOnce) {
  EXPECT_EQ(parse({"--scenario", "register,all,register"})->scenarios, std::vector<std::string>{"register"});
}

TEST(SimCommandLine, WhoInterruptsItGetsWhatThereIs) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  std::FILE* const said = std::tmpfile();
  ASSERT_TRUE(said != nullptr);
  const std::vector<const char*> words{"muster-sim", "--scenario", "register", "--seed", "1..1000000"};
  int looks = 0;
  const Surroundings around{.out = said, .err = said, .interrupted = [&] { return ++looks > 3; }};
  EXPECT_EQ(command_line(static_cast<int>(words.size()), words.data(), scenarios, around), 130);
  std::rewind(said);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), said));
  EXPECT_NE(text.find("register: 3 seeds, "), std::string::npos) << text;
  EXPECT_NE(text.find("INTERRUPTED"), std::string::npos) << text;
  std::fclose(said);
}

struct NeverRight final : World {
  void begin(Kernel& kernel) override { kernel.violate("30", "nothing is right here"); }
  std::unique_ptr<Process> boot(base::NodeId) override { return nullptr; }
};

TEST(SimCommandLine, WhatFailedCountsThoughTheRestWasNotWaitedFor) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  scenarios.front().make = [](std::uint64_t) -> std::unique_ptr<World> { return std::make_unique<NeverRight>(); };
  std::FILE* const said = std::tmpfile();
  ASSERT_TRUE(said != nullptr);
  const std::vector<const char*> words{"muster-sim", "--scenario",    "register",
                                       "--seed",     "1..1000000000", "--keep-going"};
  int looks = 0;
  const Surroundings around{.out = said, .err = said, .interrupted = [&] { return ++looks > 3; }};
  EXPECT_EQ(command_line(static_cast<int>(words.size()), words.data(), scenarios, around), 1);
  std::fclose(said);
}

TEST(SimCommandLine, WhoInterruptsTheSearchForAShorterPlanGetsTheShortestSoFar) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  scenarios.front().make = [](std::uint64_t) {
    RegisterOptions options;
    options.hasty = true;
    return make_register_world(options);
  };
  std::uint64_t seed = 1;
  while (!run_seed(scenarios.front(), seed).record.violation) ++seed;
  const std::string failing = std::to_string(seed);
  std::FILE* const said = std::tmpfile();
  ASSERT_TRUE(said != nullptr);
  const std::vector<const char*> words{"muster-sim", "--scenario", "register", "--seed", failing.c_str(), "--shrink"};
  // Asked before the seed, and before each try.
  int looks = 0;
  const Surroundings around{.out = said, .err = said, .interrupted = [&] { return ++looks > 3; }};
  EXPECT_EQ(command_line(static_cast<int>(words.size()), words.data(), scenarios, around), 130);
  std::rewind(said);
  std::string text(65536, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), said));
  EXPECT_NE(text.find("FAILED: scenario register, seed " + failing), std::string::npos) << text;
  EXPECT_NE(text.find("shrunk in 2 tries to "), std::string::npos) << text;
  EXPECT_NE(text.find("INTERRUPTED: fewer or shorter faults may do"), std::string::npos) << text;
  std::fclose(said);
}

TEST(SimCommandLine, TellsHowFarItIs) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  std::vector<CampaignProgress> told;
  CampaignOptions options{.first = 1, .last = 4};
  options.tell = [&](const CampaignProgress& progress) { told.push_back(progress); };
  run_campaign(scenarios.front(), options);
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told.back().seeds, 4u);
  EXPECT_EQ(tell_progress(scenarios.front(), {.seeds = 25, .failed = 1, .of = 100, .seconds = 10}),
            "register: 25 of 100 seeds, 1 FAILED, 10 s, about 30 s left");
}

void expect_eighty_columns(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(SimTelling, ListsInEightyColumns) {
  const std::vector<Scenario> scenarios = built_in_scenarios();
  expect_eighty_columns(tell_scenarios(scenarios));
  expect_eighty_columns(tell_invariants(scenarios));
}

TEST(SimTelling, TellsAFailureInEightyColumns) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  std::string sentence = "the gates have it open, with 2 slots;";
  for (int i = 0; i < 3; ++i) sentence += " " + sentence;
  FailedSeed failure;
  failure.seed = 42;
  failure.run.record.violation = {.invariant = "raft-members", .sentence = sentence, .at = std::chrono::seconds(2)};
  failure.run.lines = {"1024.925612 n201  <- n203 raft", "1025.000000       VIOLATION of 15: " + sentence};
  const std::string text = tell_failure(scenarios.front(), failure);
  expect_eighty_columns(text);
  EXPECT_NE(text.find("\n  1024.925612 n201  <- n203 raft\n"), std::string::npos) << text;
  Shrunk shrunk;
  shrunk.run = failure.run;
  expect_eighty_columns(tell_shrunk(shrunk));
}

TEST(SimTelling, SaysThatTooFewSeedsJudgeNoCounters) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  const CampaignResult result = run_campaign(scenarios.front(), {});
  EXPECT_NE(tell_totals(scenarios.front(), result).find("was not judged: that takes 500 seeds"), std::string::npos);
  EXPECT_NE(tell_json(scenarios.front(), result, {}).find("\"unseen\":null"), std::string::npos);
}

TEST(SimTelling, NamesScenarioSeedInvariantAndTheEndOfTheTrace) {
  std::vector<Scenario> scenarios;
  add_register_scenario(scenarios);
  FailedSeed failure;
  failure.seed = 42;
  failure.run.record.violation = {.invariant = "1", .sentence = "two leaders of term 3", .at = std::chrono::seconds(2)};
  failure.run.lines = {"the last line"};
  const std::string text = tell_failure(scenarios.front(), failure);
  EXPECT_NE(text.find("scenario register, seed 42, invariant 1 (At most one leader per"), std::string::npos);
  EXPECT_NE(text.find("two leaders of term 3"), std::string::npos);
  EXPECT_NE(text.find("the last line"), std::string::npos);
}

}  // namespace
}  // namespace muster::sim
