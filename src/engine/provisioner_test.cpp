#include "engine/provisioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace muster::engine {
namespace {

using model::Priority;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kMany = 1'000'000;

Candidate test(Priority priority, std::uint64_t vus = kMany) {
  return {"test", priority, true, vus};
}

Candidate other() {
  return {"other", Priority::kAuto, false, 1000};
}

std::vector<Candidate> any_candidates() {
  const auto one = rc::gen::build<Candidate>(
      rc::gen::set(&Candidate::priority, rc::gen::element(Priority::kAuto, Priority::kLow, Priority::kNormal,
                                                          Priority::kHigh, Priority::kExclusive)),
      rc::gen::set(&Candidate::is_test, rc::gen::weightedElement<bool>({{4, true}, {1, false}})),
      rc::gen::set(&Candidate::vus, rc::gen::inRange<std::uint64_t>(0, 100)));
  return *rc::gen::container<std::vector<Candidate>>(one);
}

std::uint32_t any_pool() {
  return *rc::gen::inRange<std::uint32_t>(1, 65);
}

TEST(Provisioner, KnowsTheRangesOfPriorities) {
  const auto range = [](Priority priority, std::uint32_t pool) {
    const CoreRange made = core_range(priority, pool);
    return std::pair(made.least, made.most);
  };
  EXPECT_EQ(range(Priority::kLow, 24), std::pair(1u, 6u));
  EXPECT_EQ(range(Priority::kNormal, 24), std::pair(6u, 18u));
  EXPECT_EQ(range(Priority::kHigh, 24), std::pair(18u, 24u));
  EXPECT_EQ(range(Priority::kExclusive, 24), std::pair(24u, 24u));
  EXPECT_EQ(range(Priority::kAuto, 24), std::pair(1u, 24u));
  EXPECT_EQ(range(Priority::kNormal, 6), std::pair(2u, 5u));
  EXPECT_EQ(range(Priority::kHigh, 1), std::pair(1u, 1u));
}

TEST(Provisioner, GivesAutoAllCoresWhenAlone) {
  EXPECT_THAT(provision(std::vector{test(Priority::kAuto)}, 8), ElementsAre(ElementsAre(Placement{0, 8})));
}

TEST(Provisioner, NeverGivesMoreCoresThanVus) {
  EXPECT_THAT(provision(std::vector{test(Priority::kAuto, 3)}, 8), ElementsAre(ElementsAre(Placement{0, 3})));
  EXPECT_THAT(provision(std::vector{test(Priority::kHigh, 2)}, 8), ElementsAre(ElementsAre(Placement{0, 2})));
}

TEST(Provisioner, DividesEvenlyAmongEquals) {
  const std::vector candidates{test(Priority::kAuto), test(Priority::kAuto), test(Priority::kAuto)};
  EXPECT_THAT(provision(candidates, 8), ElementsAre(ElementsAre(Placement{0, 3}, Placement{1, 3}, Placement{2, 2})));
}

TEST(Provisioner, GivesTheRestToTheHigherPriority) {
  const std::vector candidates{test(Priority::kLow), test(Priority::kHigh)};
  EXPECT_THAT(provision(candidates, 24), ElementsAre(ElementsAre(Placement{1, 23}, Placement{0, 1})));
}

TEST(Provisioner, StartsANewBatchWhenTheLeastDoesNotFit) {
  const std::vector candidates{test(Priority::kHigh), test(Priority::kHigh), test(Priority::kLow)};
  EXPECT_THAT(provision(candidates, 8),
              ElementsAre(ElementsAre(Placement{0, 7}, Placement{2, 1}), ElementsAre(Placement{1, 8})));
}

TEST(Provisioner, LeavesAnExclusiveWorkflowAloneEvenWithFewVus) {
  const std::vector candidates{test(Priority::kAuto), other(), test(Priority::kExclusive, 2)};
  EXPECT_THAT(provision(candidates, 4),
              ElementsAre(ElementsAre(Placement{2, 2}), ElementsAre(Placement{0, 4}, Placement{1, 1})));
}

TEST(Provisioner, GivesWorkflowsWithoutTestsOneCoreAndNoShare) {
  const std::vector candidates{other(), test(Priority::kAuto)};
  EXPECT_THAT(provision(candidates, 4), ElementsAre(ElementsAre(Placement{1, 4}, Placement{0, 1})));
}

TEST(Provisioner, RunsWorkflowsWithoutTestsAfterAnExclusiveOne) {
  const std::vector candidates{other(), test(Priority::kExclusive)};
  EXPECT_THAT(provision(candidates, 4), ElementsAre(ElementsAre(Placement{1, 4}), ElementsAre(Placement{0, 1})));
}

TEST(Provisioner, OfNothingIsNothing) {
  EXPECT_TRUE(provision({}, 8).empty());
}

RC_GTEST_PROP(Provisioner, PlacesEveryWorkflowExactlyOnce, ()) {
  const auto candidates = any_candidates();
  std::multiset<std::size_t> placed;
  const auto batches = provision(candidates, any_pool());
  for (const Batch& batch : batches) {
    RC_ASSERT(!batch.empty());
    for (const Placement& placement : batch) placed.insert(placement.workflow);
  }
  RC_ASSERT(placed.size() == candidates.size());
  RC_ASSERT(std::set(placed.begin(), placed.end()).size() == candidates.size());
}

RC_GTEST_PROP(Provisioner, StaysWithinThePoolAndTheRanges, ()) {
  const auto candidates = any_candidates();
  const std::uint32_t pool = any_pool();
  const auto batches = provision(candidates, pool);
  for (const Batch& batch : batches) {
    std::uint64_t tests = 0;
    std::uint64_t others = 0;
    for (const auto& [index, cores] : batch) {
      const Candidate& candidate = candidates[index];
      (candidate.is_test ? tests : others) += cores;
      if (!candidate.is_test) {
        RC_ASSERT(cores == 1u);
        continue;
      }
      const CoreRange range = core_range(candidate.priority, pool);
      const std::uint64_t vus = std::max<std::uint64_t>(candidate.vus, 1);
      RC_ASSERT(cores >= std::min<std::uint64_t>(range.least, vus));
      RC_ASSERT(cores <= std::min<std::uint64_t>(range.most, vus));
    }
    RC_ASSERT(tests <= pool);
    RC_ASSERT(others <= pool);
  }
}

RC_GTEST_PROP(Provisioner, RespectsPriorities, ()) {
  const auto candidates = any_candidates();
  const std::uint32_t pool = any_pool();
  Priority first_before = Priority::kExclusive;
  const auto batches = provision(candidates, pool);
  for (const Batch& batch : batches) {
    const Candidate& first = candidates[batch.front().workflow];
    if (!first.is_test) continue;
    RC_ASSERT(first.priority <= first_before);
    first_before = first.priority;
    if (first.priority == Priority::kExclusive) RC_ASSERT(batch.size() == 1u);
    for (const Placement& low : batch) {
      const Candidate& lower = candidates[low.workflow];
      const std::uint64_t lower_vus = std::max<std::uint64_t>(lower.vus, 1);
      if (!lower.is_test || low.cores <= std::min<std::uint64_t>(core_range(lower.priority, pool).least, lower_vus)) {
        continue;
      }
      for (const Placement& high : batch) {
        const Candidate& higher = candidates[high.workflow];
        if (!higher.is_test || higher.priority <= lower.priority) continue;
        const std::uint64_t vus = std::max<std::uint64_t>(higher.vus, 1);
        RC_ASSERT(high.cores == std::min<std::uint64_t>(core_range(higher.priority, pool).most, vus));
      }
    }
  }
}

RC_GTEST_PROP(Provisioner, GivesTheSameAnswerTwice, ()) {
  const auto candidates = any_candidates();
  const std::uint32_t pool = any_pool();
  RC_ASSERT(provision(candidates, pool) == provision(candidates, pool));
}

TEST(Layers, FollowTheLatestDependency) {
  const std::vector<Dependent> workflows{
      {"report", {"validate", "load"}}, {"setup", {}}, {"load", {}}, {"validate", {"load"}}};
  EXPECT_THAT(layers(workflows).value(), ElementsAre(ElementsAre(1, 2), ElementsAre(3), ElementsAre(0)));
}

TEST(Layers, TellTheNamesOfACycle) {
  const std::vector<Dependent> workflows{{"a", {"b"}}, {"b", {"c"}}, {"c", {"free", "b"}}, {"free", {}}};
  const auto made = layers(workflows);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("'b' depends on 'c' depends on 'b'"));
}

TEST(Layers, RefuseAWorkflowThatDependsOnItself) {
  EXPECT_THAT(layers(std::vector<Dependent>{{"a", {"a"}}}).error().message, HasSubstr("'a' depends on 'a'"));
}

TEST(Layers, RefuseUnknownAndDoubledNames) {
  EXPECT_THAT(layers(std::vector<Dependent>{{"a", {"b"}}}).error().message, HasSubstr("'b', which is not a workflow"));
  EXPECT_THAT(layers(std::vector<Dependent>{{"a", {}}, {"a", {}}}).error().message, HasSubstr("named 'a'"));
}

RC_GTEST_PROP(Layers, PutEveryWorkflowRightAfterItsLatestDependency, ()) {
  std::vector<Dependent> workflows;
  const auto size = *rc::gen::inRange<std::size_t>(0, 12);
  for (std::size_t i = 0; i < size; ++i) {
    Dependent made{std::to_string(i), {}};
    for (std::size_t on = 0; on < i; ++on) {
      if (*rc::gen::weightedElement<bool>({{1, true}, {3, false}})) made.depends.push_back(std::to_string(on));
    }
    workflows.push_back(std::move(made));
  }
  const auto made = layers(workflows).value();
  std::map<std::string, std::size_t> layer_of;
  for (std::size_t layer = 0; layer < made.size(); ++layer) {
    for (const std::size_t index : made[layer]) layer_of[workflows[index].name] = layer + 1;
  }
  RC_ASSERT(layer_of.size() == size);
  for (const Dependent& workflow : workflows) {
    std::size_t latest = 0;
    for (const std::string& name : workflow.depends) latest = std::max(latest, layer_of[name]);
    RC_ASSERT(layer_of[workflow.name] == latest + 1);
  }
}

TEST(Provisioner, TellsHowManyCoresWorkflowsThatTakeTurnsLack) {
  const std::vector three(3, test(Priority::kAuto));
  EXPECT_FALSE(shortage(three, 3));
  const auto lacking = shortage(three, 2);
  ASSERT_TRUE(lacking);
  EXPECT_EQ(to_text(*lacking, Tense::kWill),
            "3 workflows of one layer need 3 cores to run together, and 2 are there: they run in 2 batches, one after "
            "the other; --cores 3 runs them together");
  EXPECT_EQ(
      to_text(*shortage(three, 1), Tense::kDid),
      "3 workflows of one layer needed 3 cores to run together, and 1 was there: they ran in 3 batches, one after "
      "the other; --cores 3 runs them together");
}

TEST(Provisioner, WorkflowsThatAskToBeAloneLackNothing) {
  EXPECT_FALSE(shortage(std::vector{test(Priority::kExclusive), test(Priority::kAuto), other()}, 1));
}

TEST(Provisioner, PrioritiesThatNeverFitTogetherAreToldInsteadOfANumberOfCores) {
  const auto lacking = shortage(std::vector(2, test(Priority::kHigh)), 4);
  ASSERT_TRUE(lacking);
  EXPECT_EQ(lacking->enough, 0u);
  EXPECT_THAT(to_text(*lacking, Tense::kWill), HasSubstr("a lower `priority` lets them run together"));
}

}  // namespace
}  // namespace muster::engine
