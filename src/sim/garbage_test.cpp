// Nodes of every kind among bytes that nobody sent, and among those that somebody sent long ago. Every test runs a
// scenario twice from one seed: one node of the second world is fed, and what the two worlds do then is compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/live_memory_fixture.h"
#include "sim/cluster_logged.h"
#include "sim/cluster_map.h"
#include "sim/cluster_worker.h"
#include "sim/injector.h"
#include "sim/raft_process.h"
#include "sim/scenario.h"
#include "sim/swim_process.h"

namespace muster::sim {
namespace {

using base::NodeId;
using std::chrono::seconds;

constexpr std::size_t kFrames = 100'000;
constexpr std::size_t kReplays = 10'000;
// Two readings of the allocator, and the buffers that a node keeps for its next frame.
constexpr std::size_t kNoise = std::size_t{512} << 10;

struct Frame {
  Address from{};
  NodeId sender{};
  Channel channel = Channel::kStream;
  std::string bytes;
};

// Of any length up to that of a datagram, in the name of a node or of nobody. Every other one begins as a frame of a
// known kind or version does, so that it is not refused for its first byte alone.
std::vector<Frame> garbage(std::uint64_t seed, const std::vector<NodeId>& nodes) {
  constexpr std::string_view kFirstBytes = "MRNF\x01\x02\x03";
  base::Random random(seed);
  std::vector<Frame> frames(kFrames);
  for (Frame& frame : frames) {
    frame.from = static_cast<Address>(random.below(2 * nodes.size()));
    frame.sender = random.below(2) == 0 ? nodes[random.below(nodes.size())] : NodeId{random.next()};
    frame.channel = random.below(2) == 0 ? Channel::kDatagram : Channel::kStream;
    frame.bytes.resize(random.below(random.below(4) == 0 ? 16 : kMaxDatagram));
    for (char& byte : frame.bytes) byte = static_cast<char>(random.next());
    if (frame.bytes.empty() || random.below(2) == 0) continue;
    frame.bytes[0] = kFirstBytes[random.below(kFirstBytes.size())];
    if (frame.bytes.size() > 1 && random.below(2) == 0) frame.bytes[1] = '\x01';
  }
  return frames;
}

std::string raft_state(const cores::Raft& raft) {
  return fmt::format("term {}, vote {}, commit {}, role {}, leader {}, members {}", raft.term(),
                     base::number(raft.vote()), raft.commit(), static_cast<int>(raft.role()),
                     base::number(raft.leader()), raft.members().voters.size());
}

// All that a node holds true, in words. The log of managers and gates is told by what is committed: an old proposal
// that comes again is appended again, and then judged to be repeated.
std::string state_of(const Kernel& kernel, NodeId node) {
  const Process* const process = kernel.process(node);
  if (const auto* raft = dynamic_cast<const RaftProcess*>(process)) {
    return fmt::format("log {}..{}, {}", raft->raft().log().first(), raft->raft().log().last(),
                       raft_state(raft->raft()));
  }
  if (const auto* swim = dynamic_cast<const SwimProcess*>(process)) {
    std::string text = fmt::format("incarnation {}", swim->core().incarnation());
    swim->core().members().each([&](cores::MemberTable::Slot, const cores::Member& member) {
      text += fmt::format("; {} is {} at {} since {}", base::number(member.id), static_cast<int>(member.status),
                          static_cast<std::uint32_t>(address_of(member.address)), member.incarnation);
    });
    return text;
  }
  if (const auto* manager = dynamic_cast<const ManagerProcess*>(process)) {
    return fmt::format("ledger {}, leads {} jobs, {}", manager->brain().ledger().digest(), manager->brain().jobs_led(),
                       raft_state(*manager->raft()));
  }
  if (const auto* gate = dynamic_cast<const GateProcess*>(process)) {
    return fmt::format("ledger {}, owns {} jobs, {}", gate->brain().ledger().digest(), gate->brain().jobs_owned(),
                       raft_state(*gate->raft()));
  }
  if (const auto* worker = dynamic_cast<const WorkerProcess*>(process)) {
    return fmt::format("state {}, {} cores free, {} parts", static_cast<int>(worker->brain().state()),
                       worker->brain().free_cores(), worker->brain().parts());
  }
  return "down";
}

struct Kind {
  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

  std::string name;
  std::string scenario;
  NodeId victim;
  base::Duration before;  // until it is fed
};

class Garbage : public testing::TestWithParam<Kind> {
 protected:
  // A world without faults but for two nodes that crash and come back while the victim looks on.
  struct Run {
    explicit Run(const Kind& kind) {
      const std::vector<Scenario> all = built_in_scenarios();
      world = std::ranges::find(all, kind.scenario, &Scenario::name)->make(3);
      KernelOptions options;
      options.tap = [this, &kind](NodeId node, const Packet& packet) {
        if (node == kind.victim)
          heard.push_back({packet.from, packet.sender, packet.channel, std::string(packet.bytes)});
      };
      kernel.emplace(3, *world, options);
      world->begin(*kernel);
      for (const NodeId node : {NodeId{2}, NodeId{3}, NodeId{102}, NodeId{112}}) {
        if (std::ranges::find(kernel->nodes(), node) == kernel->nodes().end()) continue;
        kernel->after(kind.before / 3, [this, node] { kernel->crash(node); });
        kernel->after(kind.before / 2, [this, node] { kernel->restart(node, false); });
      }
      kernel->run(kind.before);
    }

    // As one event, so that both worlds have as many.
    void feed(NodeId victim, const std::vector<Frame>& frames, bool authentic) {
      kernel->post(victim, [&](Process& process, Host& host) {
        before = state_of(*kernel, victim);
        for (const Frame& frame : frames) {
          process.receive(host, {.from = frame.from,
                                 .sender = frame.sender,
                                 .channel = frame.channel,
                                 .bytes = frame.bytes,
                                 .authentic = authentic});
        }
        after = state_of(*kernel, victim);
      });
      kernel->run(kernel->elapsed() + seconds(2));
      live = base::live_bytes();
    }

    std::string violation() {
      const auto& found = kernel->record().violation;
      return found ? found->invariant + ": " + found->sentence : "";
    }

    std::unique_ptr<World> world;
    std::optional<Kernel> kernel;
    std::vector<Frame> heard;
    std::string before, after;
    std::size_t live = 0;
  };

  static std::vector<NodeId> nodes_of(const Kind& kind) {
    const Run run(kind);
    return run.kernel->nodes();
  }

  // What a run of its own adds to the process's memory until it was fed.
  static std::pair<std::unique_ptr<Run>, std::size_t> run(const std::vector<Frame>& frames, bool authentic) {
    const std::size_t nothing = base::live_bytes();
    auto run = std::make_unique<Run>(GetParam());
    run->feed(GetParam().victim, frames, authentic);
    return {std::move(run), run->live - nothing};
  }
};

TEST_P(Garbage, RandomBytesChangeNothingThatIsOrComes) {
  const std::vector<Frame> frames = garbage(1, nodes_of(GetParam()));
  // One frame for the other, too: a node that is called looks at its alarm again.
  auto [undisturbed, own] = run({frames.front()}, false);
  auto [fed, memory] = run(frames, false);
  ASSERT_FALSE(fed->before.empty());
  EXPECT_EQ(fed->after, fed->before);
  EXPECT_LE(memory, own + kNoise);
  for (auto* each : {&undisturbed, &fed}) (*each)->kernel->run(GetParam().before + seconds(20));
  EXPECT_EQ(fed->violation(), "");
  EXPECT_EQ(fed->kernel->record().hash, undisturbed->kernel->record().hash);
  EXPECT_EQ(fed->kernel->record().traffic.sent, undisturbed->kernel->record().traffic.sent);
}

// The links refuse what is older than some minutes, and what came before; this is what a node does without them.
TEST_P(Garbage, OldFramesChangeNothingThatIsAndAllWorkComesToItsEnd) {
  const auto undisturbed = run({}, true).first;
  ASSERT_GT(undisturbed->heard.size(), 200u);
  base::Random random(5);
  std::vector<Frame> frames;
  const std::size_t old = undisturbed->heard.size() * 3 / 4;
  while (frames.size() < kReplays) frames.push_back(undisturbed->heard[random.below(old)]);
  const auto fed = run(frames, true).first;
  ASSERT_FALSE(fed->before.empty());
  EXPECT_EQ(fed->after, fed->before);
  // The simulator keeps the room that it took for the answers, so it is the second time that shows what a node keeps.
  const std::size_t once = fed->live;
  fed->feed(GetParam().victim, frames, true);
  EXPECT_EQ(fed->after, fed->before);
  EXPECT_LE(fed->live, once + kNoise);
  Kernel& kernel = *fed->kernel;
  Injector injector(kernel, *fed->world);
  injector.heal(kernel.nodes(), random);
  fed->world->heal(kernel.nodes());
  kernel.run(kernel.elapsed() + seconds(600), [&] { return fed->world->settled(); });
  if (!kernel.violated()) fed->world->end();
  EXPECT_EQ(fed->violation(), "");
}

INSTANTIATE_TEST_SUITE_P(Nodes, Garbage,
                         testing::Values(Kind{"Raft", "raft", NodeId{1}, seconds(12)},
                                         Kind{"Swim", "swim", NodeId{1}, seconds(60)},
                                         Kind{"Manager", "cluster", NodeId{101}, seconds(60)},
                                         Kind{"Worker", "cluster", NodeId{111}, seconds(60)},
                                         Kind{"Gate", "cluster", NodeId{1}, seconds(60)}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster::sim
