// A hundred thousand well-formed messages that make no sense, in the names of members and of strangers: what a brain
// remembers of others is bounded, none of it gets into the ledger, and no number in them leads it astray.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "base/live_memory_fixture.h"
#include "cluster/bytes_fixture.h"
#include "cluster/command_codec.h"
#include "cluster/fields_fixture.h"
#include "cluster/fields_messages_job.h"
#include "cluster/fields_messages_worker.h"
#include "cluster/gate.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/ledger_fixture.h"
#include "cluster/manager.h"
#include "cluster/message_codec.h"
#include "cluster/variant_codec.h"
#include "cluster/worker.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kRounds = 100'000;
// What a brain may keep of them: some ten thousand rows of some hundred bytes, as options.h lists them.
constexpr std::size_t kMemory = std::size_t{48} << 20;

// Random values; numbers are often small or those of what there is, so that they mean something.
class Nonsense : public Fill {
 public:
  explicit Nonsense(std::uint64_t seed) : Fill(seed), random_(~seed) {}

  template <class T>
  void number(T& value) {
    using Number = typename WireNumber<T>::type;
    constexpr std::uint64_t kKnown[] = {cluster::number(kJob), 1, 2, 101, 102, 301, 302, 5, 10};
    switch (random_.below(4)) {
      case 0:
        value = static_cast<T>(static_cast<Number>(random_.below(4)));
        break;
      case 1:
      case 2:
        value = static_cast<T>(static_cast<Number>(kKnown[random_.below(std::size(kKnown))]));
        break;
      default:
        Fill::number(value);
    }
  }
  // The ends of the clock, and moments around now.
  void span(base::Duration& value) {
    std::int64_t count = 0;
    stamp(count);
    value = base::Duration(count);
  }
  void stamp(std::int64_t& value) {
    constexpr std::int64_t kHour = 3'600'000'000'000;
    constexpr std::int64_t kEnds[] = {-kMaxSpan, -kMaxSpan + 1, -1, 0, 1, kMaxSpan - 1, kMaxSpan};
    switch (random_.below(3)) {
      case 0:
        value = kEnds[random_.below(std::size(kEnds))];
        break;
      case 1:
        value = kHour + static_cast<std::int64_t>(random_.below(200'000'000'000));
        break;
      default:
        Fill::stamp(value);
    }
  }

 private:
  base::Random random_;
};

// As a node gets it: through its bytes.
Message nonsense(std::uint64_t seed) {
  for (;; seed += 0x9e3779b97f4a7c15u) {
    base::Random random(seed);
    Message message;
    choose_alternative(message, random.below(kMessages));
    Nonsense fill(random.next());
    std::visit([&](auto& each) { fields(fill, each); }, message);
    std::string bytes;
    encode(message, bytes);
    if (auto decoded = decode_message(bytes)) return *std::move(decoded);
  }
}

NodeId somebody(base::Random& random) {
  constexpr std::uint64_t kKnown[] = {1, 2, 3, 9, 101, 102, 301, 302, 900};
  return random.below(2) == 0 ? NodeId{kKnown[random.below(std::size(kKnown))]} : NodeId{random.next()};
}

// Three times as many as it takes to fill every table: in the last third nothing may grow any more.
void expect_bounded(const std::function<void(std::uint64_t)>& feed) {
  const std::size_t before = base::live_bytes();
  std::size_t live[3] = {};
  std::uint64_t seed = 1;
  for (std::size_t& after : live) {
    for (std::size_t i = 0; i < kRounds; ++i) feed(seed++);
    after = base::live_bytes();
  }
  EXPECT_LE(live[0], before + kMemory);
  EXPECT_LE(live[1], before + kMemory);
  EXPECT_LE(live[2], std::max(live[0], live[1]) + (kMemory >> 4));
}

TEST(Nonsense, IsOfEveryKind) {
  std::array<std::size_t, kMessages> seen{};
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) ++seen[nonsense(seed).index()];
  EXPECT_THAT(seen, testing::Each(testing::Gt(kRounds / kMessages / 100)));
}

TEST(Nonsense, LeavesAManagerWithinItsBoundsAndItsLedgerAlone) {
  base::Instant now(std::chrono::hours(1));
  ManagerSettings settings;
  settings.self = kManagerA;
  settings.cluster = "c";
  settings.environment = "e";
  settings.hash = test_hash;
  Manager manager(settings, {body(1)}, now);
  const LogStanding standing{kManagerA.node, 1, true, {NodeId{1}, NodeId{2}, NodeId{3}}};
  manager.standing(standing, now);
  std::uint64_t index = 0;
  for (const Command& command :
       {Command(WorkerAdmitted{worker(1), 4}), Command(WorkerAdmitted{worker(2), 4}),
        Command(JobAccepted{kJob, kClient, NodeId{9}, 1, kManagerA, body(1), outline({{}, {}, {0}})}),
        Command(Provision{kJob, 1, 0, {{0, worker(1), 2, 1}, {1, worker(2), 2, 1}}})}) {
    ++index;
    manager.applied(index, bytes_of(Entry{kManagerB, index, command}), now);
  }
  ASSERT_EQ(manager.ledger().job(kJob)->workflows[0].parts.size(), 2u);
  const std::string before = manager.snapshot();
  base::Random random(7);
  expect_bounded([&](std::uint64_t seed) {
    now += milliseconds(1);
    manager.standing(standing, now);
    manager.receive(somebody(random), nonsense(seed), now);
    manager.take();
  });
  EXPECT_EQ(manager.snapshot(), before);
  EXPECT_EQ(manager.jobs_led(), 1u);
}

TEST(Nonsense, LeavesAWorkerWithinItsBoundsAndItsCoresAccountedFor) {
  base::Instant now(std::chrono::hours(1));
  WorkerSettings settings;
  settings.self = worker(1);
  settings.cluster = "c";
  settings.environment = "e";
  settings.cores = 4;
  settings.managers = {NodeId{1}, NodeId{2}};
  settings.hash = test_hash;
  Worker brain(settings, now);
  base::Random random(7);
  std::size_t running = 0;
  expect_bounded([&](std::uint64_t seed) {
    now += milliseconds(1);
    brain.receive(somebody(random), nonsense(seed), now);
    for (const Effect& effect : brain.take()) {
      if (const auto* begun = std::get_if<StartExecutor>(&effect)) {
        running += begun->cores.size();
      } else if (const auto* stopped = std::get_if<StopExecutor>(&effect); stopped != nullptr && stopped->kill) {
        brain.executor_ended({stopped->part, stopped->fence, std::nullopt, {}, "", ""}, now);
      }
    }
    ASSERT_LE(brain.free_cores(), 4u);
    ASSERT_LE(brain.parts(), kMaxWorkerParts);
  });
  EXPECT_EQ(running, 0u) << "a bundle was run that nobody had";
}

TEST(Nonsense, LeavesAGateWithinItsBoundsAndItsLedgerAlone) {
  base::Instant now(std::chrono::hours(1));
  GateSettings settings;
  settings.self = kGateA;
  settings.hash = test_hash;
  Gate gate(settings, {body(1)}, now);
  const LogStanding standing{kGateA.node, 1, true, {NodeId{301}, NodeId{302}, NodeId{303}}};
  gate.standing(standing, now);
  for (const std::uint64_t manager : {1u, 2u}) {
    ManagerReport report;
    report.manager = NodeId{manager};
    report.datacenter = "east";
    gate.manager(report, now);
  }
  std::uint64_t index = 0;
  for (const GateCommand& command :
       {GateCommand(JobSubmitted{kJob, kClient, kGateA, RenewalId{1}, body(1), outline({{}, {0}}), {"east"}, 0, false}),
        GateCommand(SlotOffered{{kJob, 1, 0, 1}, "east", false}), GateCommand(SlotAccepted{{kJob, 1, 0, 1}})}) {
    ++index;
    gate.applied(index, bytes_of(GateEntry{kGateB, index, command}), now);
  }
  ASSERT_TRUE(gate.ledger().job(kJob) != nullptr);
  const std::string before = gate.snapshot();
  base::Random random(7);
  expect_bounded([&](std::uint64_t seed) {
    now += milliseconds(1);
    gate.standing(standing, now);
    const ClientId client = random.below(2) == 0 ? kClient : ClientId{random.below(1000)};
    gate.receive(somebody(random), random.below(2) == 0 ? client : ClientId{}, nonsense(seed), now);
    gate.take();
  });
  EXPECT_EQ(gate.snapshot(), before);
}

}  // namespace
}  // namespace muster::cluster
