#include "base/rendezvous.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace muster::base {
namespace {

std::vector<Candidate> peers(std::uint64_t count) {
  std::vector<Candidate> made;
  for (std::uint64_t i = 1; i <= count; ++i) made.push_back({NodeId{i}, 1});
  return made;
}

TEST(Rendezvous, WeightFallsWithErrorsAndLatencyToATenth) {
  EXPECT_DOUBLE_EQ(rendezvous_weight(0, 0), 1);
  EXPECT_DOUBLE_EQ(rendezvous_weight(0.1, 0), 0.8);
  EXPECT_DOUBLE_EQ(rendezvous_weight(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(rendezvous_weight(0.4, 0.4), 0.1);
  EXPECT_DOUBLE_EQ(rendezvous_weight(9, -1), 0.1);
}

TEST(Rendezvous, NodesSpreadOverTheirPeers) {
  std::map<NodeId, int> chosen;
  for (std::uint64_t self = 100; self < 1100; ++self)
    ++chosen[rendezvous_best(peers(5), NodeId{self}, "gate", 1).at(0)];
  ASSERT_EQ(chosen.size(), 5u);
  for (const auto& [node, count] : chosen) EXPECT_NEAR(count, 200, 60);
}

TEST(Rendezvous, RolesOfOneNodeChooseApart) {
  int same = 0;
  for (std::uint64_t self = 100; self < 300; ++self) {
    same +=
        rendezvous_best(peers(10), NodeId{self}, "gate", 1) == rendezvous_best(peers(10), NodeId{self}, "worker", 1);
  }
  EXPECT_LT(same, 50);
}

TEST(Rendezvous, ALightPeerIsChosenLessButNotNever) {
  auto candidates = peers(3);
  candidates[0].weight = 0.8;
  std::map<NodeId, int> chosen;
  for (std::uint64_t self = 100; self < 2100; ++self) ++chosen[rendezvous_best(candidates, NodeId{self}, "", 1).at(0)];
  EXPECT_GT(chosen[NodeId{1}], 0);
  EXPECT_LT(chosen[NodeId{1}] * 3, 2 * chosen[NodeId{2}]);
}

RC_GTEST_PROP(Rendezvous, LosingAPeerChangesOnlyTheChoicesThatItHeld, (std::uint64_t self)) {
  const auto count = *rc::gen::inRange<std::uint64_t>(2, 20);
  const auto lost = NodeId{*rc::gen::inRange<std::uint64_t>(1, count + 1)};
  auto candidates = peers(count);
  auto before = rendezvous_best(candidates, NodeId{self}, "manager", 8);
  std::erase_if(candidates, [lost](const Candidate& candidate) { return candidate.node == lost; });
  auto after = rendezvous_best(candidates, NodeId{self}, "manager", 8);
  std::erase(before, lost);
  after.resize(before.size());
  RC_ASSERT(before == after);
}

}  // namespace
}  // namespace muster::base
