// Random schedules: whatever is lost, doubled, reordered or crashes, applied entries are one sequence, each term has
// one leader and what was acknowledged stays; once the trouble ends, the group gets on with its work.
#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cores/raft_group.h"

namespace muster::cores {
namespace {

RaftOptions small_limits(base::Random& random) {
  RaftOptions options;
  options.batch_entries = 1 + static_cast<std::size_t>(random.below(4));
  options.window = 1 + static_cast<std::size_t>(random.below(4));
  options.kept_entries = static_cast<std::size_t>(random.below(8));
  options.snapshot_part_bytes = 50;
  options.uncommitted_entries = 32;
  return options;
}

class Trouble {
 public:
  Trouble(std::uint64_t seed, Node founders)
      : random_(seed), group_(founders, seed, small_limits(random_)), founders_(founders) {
    group_.weather.loss = random_.unit() * 0.2;
    group_.weather.doubling = random_.unit() * 0.2;
    group_.weather.most_delay = Milliseconds(1 + static_cast<int>(random_.below(60)));
    group_.weather.disk = Milliseconds(random_.below(3) == 0 ? 20 : 1);
  }

  RaftGroup& group() { return group_; }

  void step() {
    const Node node = 1 + random_.below(founders_ + 2);
    if (!group_.up(node)) {
      if (random_.below(3) == 0) group_.join(node);
    } else {
      disturb(node);
    }
    group_.run(Milliseconds(random_.below(80)));
  }

  void end() {
    group_.heal();
    group_.weather = {};
    for (Node node = 1; node <= founders_ + 2; ++node) {
      if (!group_.up(node) || group_[node].role() == RaftRole::kStopped) group_.restart(node);
      group_.stall_disk(node, false);
    }
  }

 private:
  void disturb(Node node) {
    const Node other = 1 + random_.below(founders_ + 2);
    switch (random_.below(18)) {
      case 0:
        return group_.restart(node);
      case 1:
        return group_.crash(node);
      case 2:
        return group_.isolate(node);
      case 3:
        return group_.cut(node, other);
      case 4:
      case 5:
        return group_.heal();
      case 6:
        return group_.compact(node);
      case 7:
        return group_.stall_disk(node, random_.below(2) == 0);
      case 8:
        return group_.fail_disk(node);
      case 9:
        group_.transfer(node, other);
        return;
      case 10:
      case 11:
        return change(node, other);
      case 12:
        group_.read(node);
        return;
      default:
        return propose(node);
    }
  }

  void change(Node node, Node other) {
    const bool member = group_[node].members().contains(base::NodeId{other});
    const bool learner = group_[node].members().is_learner(base::NodeId{other});
    const RaftChange::Kind kind = !member   ? RaftChange::Kind::kAddLearner
                                  : learner ? RaftChange::Kind::kPromote
                                            : RaftChange::Kind::kRemove;
    group_.change(node, kind, other);
  }

  void propose(Node node) {
    const Node leader = random_.below(4) == 0 ? 0 : group_.leader();
    for (std::uint64_t i = random_.below(8); i-- > 0;) {
      group_.propose(leader != 0 ? leader : node, fmt::format("command {}", ++commands_));
    }
  }

  base::Random random_;
  RaftGroup group_;
  Node founders_;
  int commands_ = 0;
};

void survive(std::uint64_t seed) {
  Trouble trouble(seed, 1 + seed % 5);
  RaftGroup& group = trouble.group();
  for (int i = 0; i < 120 && group.history.violations().empty(); ++i) trouble.step();
  trouble.end();
  const std::uint64_t before = group.history.committed();
  const bool works = group.run_until(
      [&] {
        const Node leader = group.leader();
        if (leader != 0 && group.history.committed() == before) group.propose(leader, "the last command");
        return group.history.committed() > before;
      },
      std::chrono::seconds(20));
  group.run(std::chrono::seconds(2));
  ASSERT_TRUE(group.history.violations().empty()) << "seed " << seed << ": " << group.history.violations().front();
  ASSERT_TRUE(works) << "seed " << seed << ": the group does not recover" << group.describe();
  const Node leader = group.leader();
  ASSERT_NE(leader, 0u) << "seed " << seed;
  for (const base::NodeId voter : group[leader].members().voters) {
    ASSERT_EQ(group.state(base::number(voter)), group.state(leader)) << "seed " << seed << group.describe();
  }
}

// RAFT_SEEDS=from..to looks at other seeds than these, for instance many more.
std::pair<std::uint64_t, std::uint64_t> seeds() {
  std::pair<std::uint64_t, std::uint64_t> range{1, 300};
  const char* const text = std::getenv("RAFT_SEEDS");
  if (text == nullptr) return range;
  const std::string_view given = text;
  const std::size_t dots = given.find("..");
  const std::string_view to = dots == std::string_view::npos ? given : given.substr(dots + 2);
  std::from_chars(given.data(), given.data() + std::min(dots, given.size()), range.first);
  std::from_chars(to.data(), to.data() + to.size(), range.second);
  return range;
}

TEST(RaftProperties, HoldOverRandomSchedules) {
  const auto [from, to] = seeds();
  for (std::uint64_t seed = from; seed <= to; ++seed) {
    survive(seed);
    if (HasFatalFailure()) return;
  }
}

TEST(RaftProperties, EqualSeedsGiveEqualHistories) {
  const auto history = [](std::uint64_t seed) {
    Trouble trouble(seed, 3);
    std::uint64_t hash = 0;
    trouble.group().on_send = [&](Node from, Node to, const RaftMessage& message) {
      std::string bytes;
      encode(message, bytes);
      hash = base::mix(hash ^ base::fnv1a(bytes, from * 64 + to));
    };
    for (int i = 0; i < 60; ++i) trouble.step();
    return hash;
  };
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

}  // namespace
}  // namespace muster::cores
