#include "engine/tag_sets.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/recording.h"
#include "engine/rehearsal.h"
#include "model/options.h"

namespace muster::engine {
namespace {

// A program whose steps have tags of these names; an empty name stands for none.
Program with_tags(const std::vector<std::string>& names) {
  Program program;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    program.steps.emplace_back().name = "s" + std::to_string(i);
    CallPlan& plan = program.calls.emplace_back();
    plan.step = i;
    if (!names[i].empty()) plan.tags.emplace_back().name = names[i];
  }
  return program;
}

std::string set(std::size_t number) {
  return "r=" + std::to_string(number);
}

TEST(TagSets, WhatOneCoreWasGivenAnotherHasToo) {
  const Program program = with_tags({"r"});
  TagSets shared(program);
  KnownTags one(shared, 1);
  KnownTags other(shared, 1);
  for (std::size_t i = 0; i < model::kMaxTagSets; ++i) EXPECT_NE((i % 2 == 0 ? one : other).place(0, set(i)), 0U);
  EXPECT_EQ(one.place(0, "r=late"), KnownTags::kOther);
  EXPECT_EQ(other.place(0, "r=late"), KnownTags::kOther);
  for (std::size_t i = 0; i < model::kMaxTagSets; ++i) {
    EXPECT_NE(one.place(0, set(i)), KnownTags::kOther) << i;
    EXPECT_NE(other.place(0, set(i)), KnownTags::kOther) << i;
  }
}

TEST(TagSets, PlacesAreThoseOfOneStepAndOneCombination) {
  const Program program = with_tags({"r", "", "r"});
  TagSets shared(program);
  KnownTags core(shared, 3);
  std::map<std::size_t, std::string> places;
  for (int round = 0; round < 2; ++round) {
    for (const std::uint32_t step : {0U, 2U}) {
      for (std::size_t i = 0; i < model::kMaxTagSets + 9; ++i) {
        const std::size_t place = core.place(step, set(i));
        if (place == KnownTags::kOther) continue;
        const std::string whose = set(i) + " of " + std::to_string(step);
        EXPECT_EQ(places.try_emplace(place, whose).first->second, whose);
      }
    }
  }
  EXPECT_EQ(places.size(), 2 * model::kMaxTagSets);
}

TEST(TagSets, StepsWithTheSameTagsHaveTheSameCombinations) {
  const Program program = with_tags({"r", "r", "q"});
  TagSets shared(program);
  KnownTags core(shared, 3);
  for (std::size_t i = 0; i < 2 * model::kMaxTagSets; ++i) core.place(0, set(i));
  for (std::size_t i = 2 * model::kMaxTagSets; i-- > 0;) {
    EXPECT_EQ(core.place(1, set(i)) != KnownTags::kOther, i < model::kMaxTagSets) << i;
  }
  EXPECT_NE(core.place(2, "q=1"), KnownTags::kOther) << "another tag has combinations of its own";
}

TEST(TagSets, AWorkflowHasABoundedNumberOfRows) {
  constexpr std::size_t kSteps = 12;
  const Program program = with_tags(std::vector<std::string>(kSteps, "r"));
  TagSets shared(program);
  KnownTags core(shared, kSteps);
  std::size_t rows = 0;
  for (std::size_t i = 0; i < model::kMaxTagSets; ++i) {
    std::size_t of_set = 0;
    for (std::uint32_t step = 0; step < kSteps; ++step)
      of_set += core.place(step, set(i)) != KnownTags::kOther ? 1U : 0U;
    EXPECT_TRUE(of_set == 0 || of_set == kSteps) << "in all steps or in none";
    rows += of_set;
  }
  EXPECT_LE(rows, model::kMaxTagRows);
  EXPECT_GT(rows, model::kMaxTagRows - kSteps);
}

// Requests by tags, as they were made.
std::map<std::string, std::uint64_t> made(const Journal& journal) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& text : journal.texts()) ++counts["r=" + text];
  return counts;
}

// By tags, of all steps together.
std::map<std::string, std::uint64_t> listed(const model::WorkflowResult& result) {
  std::map<std::string, std::uint64_t> counts;
  for (const model::TaggedResult& row : result.tagged) counts[row.tags] += row.ok;
  return counts;
}

void expect_whole(const model::WorkflowResult& result, const Journal& journal) {
  auto truth = made(journal);
  auto told = listed(result);
  EXPECT_EQ(told.size(), model::kMaxTagSets + 1);
  std::uint64_t others = 0;
  for (const auto& [tags, count] : truth) {
    if (told.contains(tags)) {
      EXPECT_EQ(told[tags], count) << tags;
    } else {
      others += count;
    }
  }
  EXPECT_EQ(told[std::string(kOtherTags)], others);
}

TEST(TagSets, SeveralCoresCountACombinationWholeOrAsOther) {
  Rehearsal r;
  r.cores = 2;
  const auto result = r.run("{ vus: 4, iterations: 6000 }", R"yaml(
    steps:
      - set: { r: "random(1, 300)" }
      - { name: a, play: "${r}", tags: { r: "${r}" } }
      - { name: b, play: "${r}", tags: { r: "${r}" } }
)yaml");
  expect_whole(result, *r.journal);
}

TEST(TagSets, WhatIsHandedOverLaterIsCountedAsBefore) {
  Rehearsal r;
  const auto result = r.run("{ vus: 10, iterations: 4000 }", R"yaml(
    steps:
      - set: { r: "random(1, 300)" }
      - { name: a, play: "${r}", takes: 2ms, tags: { r: "${r}" } }
)yaml");
  EXPECT_GT(result.elapsed, std::chrono::milliseconds(500)) << "both recordings of the core were used";
  expect_whole(result, *r.journal);
}

}  // namespace
}  // namespace muster::engine
