#include "cluster/gate_peers.h"

#include <gtest/gtest.h>

#include <set>

#include "cluster/options.h"

namespace muster::cluster {
namespace {

constexpr Process kThisGate{NodeId{1}, Life{10}};

ManagerState state(std::uint64_t life, bool draining = false) {
  return {.life = Life{life}, .applied = 0, .jobs_led = 0, .draining = draining};
}

class GatePeersTest : public ::testing::Test {
 protected:
  GatePeersTest() {
    for (std::uint64_t i = 2; i <= 4; ++i) {
      peers.alive(NodeId{i}, true);
      peers.told(NodeId{i}, state(1));
    }
  }

  GatePeers peers{kThisGate};
};

TEST_F(GatePeersTest, EqualViewsGiveEqualOwners) {
  GatePeers other({NodeId{4}, Life{1}});
  for (std::uint64_t i = 3; i >= 1; --i) other.alive(NodeId{i}, true);
  for (std::uint64_t job = 0; job < 1000; ++job) EXPECT_EQ(peers.ring_owner(JobId{job}), other.ring_owner(JobId{job}));
}

TEST_F(GatePeersTest, ADeadGatesJobsAreSharedAndTheOthersStay) {
  std::set<NodeId> heirs;
  for (std::uint64_t job = 0; job < 1000; ++job) {
    GatePeers fewer = peers;
    const NodeId before = peers.ring_owner(JobId{job});
    fewer.alive(NodeId{3}, false);
    const NodeId after = fewer.ring_owner(JobId{job});
    if (before != NodeId{3}) {
      EXPECT_EQ(after, before);
    } else {
      heirs.insert(after);
    }
  }
  EXPECT_EQ(heirs.size(), 3u);
}

TEST_F(GatePeersTest, TheSuccessorIsTheBackupOfTheRing) {
  for (std::uint64_t job = 0; job < 100; ++job) {
    const NodeId owner = peers.ring_owner(JobId{job});
    const auto next = peers.successor(JobId{job}, owner);
    ASSERT_TRUE(next.has_value());
    EXPECT_NE(next->node, owner);
    if (owner == kThisGate.node) continue;
    GatePeers fewer = peers;
    fewer.alive(owner, false);
    EXPECT_EQ(fewer.ring_owner(JobId{job}), next->node);
  }
}

TEST_F(GatePeersTest, ADrainingGateGetsNoJobs) {
  peers.told(NodeId{2}, state(1, true));
  peers.drain();
  for (std::uint64_t job = 0; job < 200; ++job) {
    EXPECT_NE(peers.ring_owner(JobId{job}), NodeId{2});
    EXPECT_NE(peers.ring_owner(JobId{job}), kThisGate.node);
    EXPECT_GE(peers.successor(JobId{job}, kThisGate.node)->node, NodeId{3});
  }
  EXPECT_EQ(peers.ring().gates, (std::vector<NodeId>{NodeId{3}, NodeId{4}}));
}

TEST_F(GatePeersTest, AGateWhoseLifeIsNotKnownGetsNoLease) {
  GatePeers alone(kThisGate);
  EXPECT_FALSE(alone.successor(JobId{1}, kThisGate.node).has_value());
  alone.alive(NodeId{2}, true);
  EXPECT_FALSE(alone.successor(JobId{1}, kThisGate.node).has_value());
  EXPECT_TRUE(alone.told(NodeId{2}, state(5)));
  EXPECT_FALSE(alone.told(NodeId{2}, state(4)));
  EXPECT_EQ(alone.successor(JobId{1}, kThisGate.node), (Process{NodeId{2}, Life{5}}));
  EXPECT_TRUE(alone.told(NodeId{2}, state(6)));
}

TEST_F(GatePeersTest, RemembersABoundedNumber) {
  for (std::uint64_t i = 10; i < 10 + 2 * kMaxGates; ++i) peers.alive(NodeId{i}, true);
  EXPECT_EQ(peers.ring().gates.size(), kMaxGates);
  EXPECT_FALSE(peers.told(NodeId{9999}, state(1)));
}

}  // namespace
}  // namespace muster::cluster
