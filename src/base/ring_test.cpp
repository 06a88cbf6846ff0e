#include "base/ring.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/hash.h"
#include "base/options.h"

namespace muster::base {
namespace {

Ring of(std::uint64_t count) {
  Ring ring;
  for (std::uint64_t i = 1; i <= count; ++i) ring.add(NodeId{i});
  return ring;
}

TEST(Ring, AnEmptyOneHasNoOwner) {
  EXPECT_EQ(Ring().owner(1), kNoNode);
  EXPECT_TRUE(Ring().owners(1, 3).empty());
  EXPECT_EQ(Ring().first_live(1, [](NodeId) { return true; }), kNoNode);
}

TEST(Ring, ANodeStandsThereOnce) {
  Ring ring;
  EXPECT_TRUE(ring.add(NodeId{7}));
  EXPECT_FALSE(ring.add(NodeId{7}));
  EXPECT_FALSE(ring.add(kNoNode));
  EXPECT_TRUE(ring.remove(NodeId{7}));
  EXPECT_FALSE(ring.remove(NodeId{7}));
  EXPECT_EQ(ring.owner(1), kNoNode);
}

TEST(Ring, TakesNoMoreNodesThanItsBound) {
  Ring ring = of(kMaxRingNodes);
  EXPECT_FALSE(ring.add(NodeId{kMaxRingNodes + 1}));
  EXPECT_EQ(ring.nodes().size(), kMaxRingNodes);
}

TEST(Ring, TheBackupIsWhoWouldOwnTheKeyWithoutItsOwner) {
  for (std::uint64_t key = 0; key < 200; ++key) {
    Ring ring = of(5);
    const auto owners = ring.owners(hash_of(key), 2);
    ring.remove(owners[0]);
    EXPECT_EQ(ring.owner(hash_of(key)), owners[1]);
  }
}

TEST(Ring, TheNextLiveNodeTakesOverFromTheDead) {
  const Ring ring = of(4);
  const auto owners = ring.owners(hash_of("job"), 4);
  EXPECT_EQ(ring.first_live(hash_of("job"), [&](NodeId node) { return node != owners[0]; }), owners[1]);
  EXPECT_EQ(ring.first_live(hash_of("job"), [&](NodeId node) { return node == owners[3]; }), owners[3]);
  EXPECT_EQ(ring.first_live(hash_of("job"), [](NodeId) { return false; }), kNoNode);
}

TEST(Ring, SharesAreEven) {
  constexpr std::uint64_t kKeys = 50'000;
  const Ring ring = of(10);
  std::map<NodeId, std::uint64_t> owned;
  for (std::uint64_t key = 0; key < kKeys; ++key) ++owned[ring.owner(hash_of(key))];
  ASSERT_EQ(owned.size(), 10u);
  for (const auto& [node, count] : owned) {
    EXPECT_GT(count, kKeys / 10 * 7 / 10);
    EXPECT_LT(count, kKeys / 10 * 13 / 10);
  }
}

TEST(Ring, ANewNodeTakesAboutItsShareAndOnlyForItself) {
  constexpr std::uint64_t kKeys = 20'000;
  for (const std::uint64_t count : {2u, 5u, 20u}) {
    const Ring before = of(count);
    const Ring after = of(count + 1);
    std::uint64_t moved = 0;
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const NodeId now = after.owner(hash_of(key));
      if (now == before.owner(hash_of(key))) continue;
      ASSERT_EQ(now, NodeId{count + 1});
      ++moved;
    }
    EXPECT_GT(moved, kKeys / (count + 1) * 7 / 10);
    EXPECT_LT(moved, kKeys / (count + 1) * 13 / 10);
  }
}

RC_GTEST_PROP(Ring, EqualSetsHaveEqualOwnersWhateverTheirHistory,
              (const std::set<std::uint8_t>& ids, std::uint64_t key)) {
  const std::vector<std::uint8_t> order(ids.rbegin(), ids.rend());
  Ring forth;
  Ring back;
  back.add(NodeId{1000});
  for (const auto id : ids) forth.add(NodeId{id + 1u});
  for (const auto id : order) back.add(NodeId{id + 1u});
  back.remove(NodeId{1000});
  RC_ASSERT(forth == back);
  RC_ASSERT(forth.owners(key, ids.size()) == back.owners(key, ids.size()));
}

}  // namespace
}  // namespace muster::base
