#include "model/node_state_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/corpus_fixture.h"

namespace muster::model {
namespace {

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostWide = std::numeric_limits<std::uint64_t>::max();
constexpr Permille kMostPermille = std::numeric_limits<Permille>::max();

NodeState largest(decltype(NodeState::role) role) {
  NodeState state;
  state.life = NodeLife::kOffline;
  state.accepting = true;
  state.capacity = kMost;
  state.throughput = 1e300;
  state.expected_throughput = -1e300;
  state.overload = OverloadState::kOverloaded;
  state.major = state.minor = std::numeric_limits<std::uint16_t>::max();
  state.health_level = 4;
  state.role = std::move(role);
  return state;
}

WorkerState largest_worker() {
  WorkerState worker{kMost, kMost, kMost, kMostPermille, kMostPermille, {}, kMost, kMostWide, {}};
  worker.parts.assign(kMaxNamedParts, kMostWide);
  worker.extension = ExtensionRequest{ExtensionReason::kContention, kMostPermille, kMost, kMost};
  return worker;
}

ManagerState largest_manager() {
  return {std::string(kMaxDatacenterName, 'd'), true, true, kMostWide, kMost, kMost, kMost, kMost, kMost};
}

GateState largest_gate() {
  return {std::vector<std::string>(kMaxNamedDatacenters, std::string(kMaxDatacenterName, 'd')), kMost, kMost};
}

TEST(NodeStateTest, ComesBackAsItWasInEveryRole) {
  for (const NodeState& state :
       {NodeState{}, largest(largest_worker()), largest(largest_manager()), largest(largest_gate())}) {
    const auto back = decode_node_state(encode(state));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(*back, state);
  }
}

TEST(NodeStateTest, TheLargestOfEveryRoleFitsIntoAnAck) {
  EXPECT_LE(encode(largest(largest_worker())).size(), kMaxNodeStateBytes);
  EXPECT_LE(encode(largest(largest_manager())).size(), kMaxNodeStateBytes);
  EXPECT_LE(encode(largest(largest_gate())).size(), kMaxNodeStateBytes);
}

TEST(NodeStateTest, ListsAndNamesBeyondTheirLimitsAreCut) {
  WorkerState worker;
  worker.parts.assign(20, 7);
  worker.part_count = 20;
  NodeState state;
  state.role = worker;
  const auto back = decode_node_state(encode(state));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(std::get<WorkerState>(back->role).parts.size(), kMaxNamedParts);
  EXPECT_EQ(std::get<WorkerState>(back->role).part_count, 20u);
}

TEST(NodeStateTest, NumbersThatAreNotFiniteBecomeZero) {
  NodeState state;
  state.throughput = std::numeric_limits<double>::quiet_NaN();
  const auto back = decode_node_state(encode(state));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->throughput, 0);
}

TEST(NodeStateTest, NothingLessAndNothingMoreThanAStateDecodes) {
  const std::string whole = encode(largest(largest_worker()));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode_node_state(whole.substr(0, size)));
  EXPECT_FALSE(decode_node_state(whole + '\0'));
}

TEST(NodeStateTest, AnotherVersionIsRefusedByName) {
  std::string bytes = encode(NodeState{});
  bytes[0] = 9;
  const auto refused = decode_node_state(bytes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("its version is 9, known is 1"), std::string::npos);
}

TEST(NodeStateTest, TheCorpusHasEveryRole) {
  const base::Corpus corpus(MUSTER_TEST_DATA "/../corpus/node_state_fuzz");
  WorkerState worker{8, 3, 1, 250, 400, {11, 12}, 2, 0, ExtensionRequest{ExtensionReason::kPause, 500, 30, 2}};
  NodeState state{NodeLife::kHealthy, true, 3, 12.5, 20, OverloadState::kBusy, 1, 2, 1, worker};
  corpus.expect("worker", encode(state));
  state.role = ManagerState{"east", true, true, 7, 3, 20, 18, 40, 160};
  corpus.expect("manager", encode(state));
  state.role = GateState{{"east", "west"}, 2, 5};
  corpus.expect("gate", encode(state));
  for (const auto& [name, bytes] : corpus.seeds()) EXPECT_TRUE(decode_node_state(bytes)) << name;
}

}  // namespace
}  // namespace muster::model
