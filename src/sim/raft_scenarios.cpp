#include "sim/raft_scenarios.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace muster::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kRaftSetup = 0x7365747570;  // keeps the setup's generator apart from all others

base::Duration between(base::Duration least, base::Duration most, base::Random& random) {
  return least +
         base::Duration(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((most - least).count()))));
}

// Everything at once: the sum of all others.
Scenario all_at_once() {
  Scenario scenario =
      raft_scenario("raft", "3 and 5 nodes under every fault, with changes of members, transfers, reads and snapshots",
                    [](base::Random& random) {
                      RaftSetup setup;
                      setup.voters = random.below(2) == 0 ? 3 : 5;
                      setup.spares = static_cast<std::uint32_t>(random.below(3));
                      setup.raft = random.below(4) == 0 ? cores::RaftOptions::lan() : tight_raft_options(random);
                      setup.propose = between(milliseconds(4), milliseconds(40), random);
                      setup.read = milliseconds(50);
                      if (random.below(2) == 0) setup.change = between(milliseconds(300), seconds(3), random);
                      if (random.below(2) == 0) setup.transfer = between(milliseconds(300), seconds(3), random);
                      if (random.below(4) != 0) setup.compact = between(milliseconds(50), seconds(1), random);
                      return setup;
                    });
  scenario.faults = FaultProfile::everything(6, 30);
  scenario.faults.with(FaultKind::kCrash, 3).with(FaultKind::kIsolate, 2).with(FaultKind::kRestartAll, 0.5);
  scenario.faults.longest = seconds(4);
  scenario.safety = seconds(12);
  scenario.liveness = seconds(20);
  scenario.counters = {"split vote",
                       "leader elected",
                       "leader stepped down",
                       "tail cut off",
                       "vote refused",
                       "members changed",
                       "leadership handed over",
                       "snapshot installed",
                       "log compacted",
                       "read answered",
                       "outcome unknown",
                       "request refused",
                       "configuration undone",
                       "unfinished record dropped",
                       "node halted itself"};
  demand_faults(scenario);
  return scenario;
}

void crash_leader(RaftWorld& world, const char* measure) {
  const base::NodeId crashed = world.leader();
  const cores::RaftTerm term = world.raft(crashed)->term();
  world.kernel().crash(crashed);
  world.await_leader(
      term, seconds(10),
      [&world, measure](base::Duration took) { world.kernel().measure(measure, base::seconds(took)); },
      [&world] { world.kernel().violate("4", "no new leader within 10 s after the last one crashed"); });
}

// Loss may have just cost the group its leader.
void crash_the_next_leader(RaftWorld& world, const char* measure) {
  world.await_leader(
      0, seconds(5), [&world, measure](base::Duration) { crash_leader(world, measure); },
      [&world] { world.kernel().violate("4", "nobody leads though nothing is broken but some loss"); });
}

Scenario election() {
  static constexpr const char* kLossless = "new leader after, s, without loss";
  static constexpr const char* kLossy = "new leader after, s, with 5 % loss";
  Scenario scenario = raft_scenario(
      "raft-election",
      "how long a group of five is without a leader after it crashed; links of 1-10 ms, 0 and 5 % loss",
      [](base::Random& random) {
        RaftSetup setup;
        setup.voters = 5;
        const bool lossy = random.below(2) == 0;
        setup.script = [lossy](RaftWorld& world) {
          if (lossy) world.kernel().network().noise().loss = 0.05;
          world.kernel().after(seconds(2) + between(base::Duration::zero(), milliseconds(200), world.kernel().random()),
                               [&world, lossy] { crash_the_next_leader(world, lossy ? kLossy : kLossless); });
        };
        return setup;
      });
  scenario.options = [](base::Random&) {
    KernelOptions options;
    const Latency links{.least = milliseconds(1), .most = milliseconds(10), .tail_share = 0, .tail = {}};
    options.network.within_site = links;
    options.network.between_sites = links;
    return options;
  };
  scenario.safety = seconds(18);
  scenario.liveness = base::Duration::zero();
  scenario.counters = {"split vote"};
  scenario.enough_seeds = 1000;
  scenario.judge = [](const Totals& totals) -> std::optional<Violation> {
    for (const char* const name : {kLossless, kLossy}) {
      const auto found = totals.measures.find(std::string_view(name));
      if (found == totals.measures.end() || found->second.size() < 100) continue;
      const double p50 = percentile(found->second, 0.5), p99 = percentile(found->second, 0.99);
      if (p50 >= 0.4 || p99 >= 1)
        return Violation{.invariant = "4",
                         .sentence = fmt::format("{}: p50 {:.3f}, p99 {:.3f}; wanted 0.4 and 1", name, p50, p99)};
    }
    return std::nullopt;
  };
  return scenario;
}

// Who has links both ways to a majority, itself counted.
bool some_node_reaches_majority(RaftWorld& world) {
  const std::vector<base::NodeId>& voters = world.founders();
  const Network& network = world.kernel().network();
  return std::ranges::any_of(voters, [&](base::NodeId node) {
    const std::uint32_t from = world.kernel().index(node);
    const auto linked = std::ranges::count_if(voters, [&](base::NodeId other) {
      const std::uint32_t to = world.kernel().index(other);
      return node == other || (network.connected(from, to) && network.connected(to, from));
    });
    return static_cast<std::size_t>(linked) > voters.size() / 2;
  });
}

void check_partition(RaftWorld& world, base::NodeId isolated) {
  const cores::Raft* const old = world.raft(isolated);
  if (old != nullptr && old->leads())
    world.kernel().violate(
        "5", fmt::format("node {} still leads though it was cut off for longer than 2T", base::number(isolated)));
}

void partition(RaftWorld& world, FaultKind kind, base::Duration length) {
  const base::NodeId before = world.leader();
  world.injector().begin({.kind = kind,
                          .begin = {},
                          .length = length,
                          .aimed = true,
                          .strength = 1,
                          .choice = world.kernel().random().next()});
  Kernel& kernel = world.kernel();
  if (kind == FaultKind::kIsolate && before != base::kNoNode)
    kernel.after(2 * world.setup().raft.election_timeout + milliseconds(20),
                 [&world, before] { check_partition(world, before); });
  // Whoever led before is asked as long as it might believe that it still does.
  for (int i = 0; i < 40; ++i) kernel.after(milliseconds(10 * i), [&world, before] { world.read(before); });
  if (!some_node_reaches_majority(world)) {
    kernel.hit("no node reaches a majority");
    return;
  }
  const cores::RaftIndex committed = world.oracle().committed();
  kernel.after(length - milliseconds(10), [&world, committed, kind] {
    if (world.oracle().committed() <= committed)
      world.kernel().violate("4",
                             fmt::format("nothing was committed during a {} partition though some node has links to a "
                                         "majority",
                                         name_of(kind)));
    else
      world.kernel().hit("committed during a partition");
  });
}

Scenario partitions() {
  Scenario scenario = raft_scenario(
      "raft-partitions",
      "isolated leaders, bridges, one-way and partial cuts: whoever has links to a majority gets a leader",
      [](base::Random& random) {
        RaftSetup setup;
        setup.voters = random.below(2) == 0 ? 3 : 5;
        setup.propose = milliseconds(5);
        setup.read = milliseconds(20);
        setup.script = [](RaftWorld& world) {
          static constexpr FaultKind kKinds[] = {FaultKind::kIsolate, FaultKind::kBridge, FaultKind::kOneWay,
                                                 FaultKind::kPartition, FaultKind::kPartial};
          for (int round = 0; round < 4; ++round)
            world.kernel().after(seconds(2 + 9 * round), [&world] {
              partition(world, kKinds[world.kernel().random().below(std::size(kKinds))], seconds(6));
            });
        };
        return setup;
      });
  scenario.safety = seconds(37);
  scenario.liveness = seconds(10);
  scenario.counters = {"committed during a partition", "no node reaches a majority", "leader stepped down"};
  scenario.enough_seeds = 200;
  return scenario;
}

// Everybody restarts in the midst of the first election: who the members are must be on disk before anything else is.
void interrupt_founding(RaftWorld& world) {
  constexpr int kLooks = 500;
  const auto interrupted = std::make_shared<bool>(false);
  for (int look = 0; look < kLooks; ++look) {
    world.kernel().after(milliseconds(look), [&world, interrupted] {
      if (world.oracle().highest_term() == 0 || std::exchange(*interrupted, true)) return;
      const base::Duration more = between(base::Duration::zero(), milliseconds(15), world.kernel().random());
      world.kernel().after(more, [&world] {
        for (const base::NodeId node : world.founders()) world.crash_for(node, milliseconds(30));
      });
    });
  }
}

Scenario everybody_restarts() {
  Scenario scenario = raft_scenario(
      "raft-restart", "everybody restarts at once, again and again, with torn writes: what was acknowledged is there",
      [](base::Random& random) {
        RaftSetup setup;
        setup.voters = random.below(2) == 0 ? 3 : 5;
        setup.raft = tight_raft_options(random);
        setup.propose = milliseconds(3);
        setup.compact = milliseconds(300);
        setup.everybody_heals = true;
        if (random.below(2) == 0) setup.script = interrupt_founding;
        return setup;
      });
  scenario.faults.with(FaultKind::kRestartAll, 3)
      .with(FaultKind::kTornWrite)
      .with(FaultKind::kCrash)
      .with(FaultKind::kDiskError);
  scenario.faults.share_of_kinds = 1;
  scenario.faults.least = 4;
  scenario.faults.most = 12;
  scenario.faults.longest = seconds(1);
  scenario.safety = seconds(15);
  scenario.liveness = seconds(10);
  scenario.counters = {"fault restart-all", "unfinished record dropped", "log compacted"};
  scenario.enough_seeds = 200;
  return scenario;
}

void hand_over(RaftWorld& world, base::NodeId to) {
  Kernel& kernel = world.kernel();
  const base::NodeId leader = world.leader();
  if (leader == base::kNoNode || leader == to) return;
  const bool possible = kernel.up(to) && world.oracle().committed_members().is_voter(to);
  world.transfer(leader, to);
  kernel.after(milliseconds(400), [&world, leader, to, possible] {
    const base::NodeId now = world.leader();
    if (now != (possible ? to : leader))
      world.kernel().violate(
          "raft-transfer",
          fmt::format("node {} leads after node {} was to hand over to node {}, which {} take over", base::number(now),
                      base::number(leader), base::number(to), possible ? "can" : "cannot"));
  });
}

Scenario transfers() {
  Scenario scenario = raft_scenario(
      "raft-transfer", "leadership goes where it is sent: to voters that live, and to nobody else",
      [](base::Random& random) {
        RaftSetup setup;
        setup.voters = random.below(2) == 0 ? 3 : 5;
        setup.spares = 1;
        setup.everybody_heals = true;
        setup.script = [](RaftWorld& world) {
          Kernel& kernel = world.kernel();
          kernel.after(seconds(1), [&world] {
            world.change(world.leader(),
                         {.kind = cores::RaftChange::Kind::kAddLearner, .node = world.kernel().nodes().back()});
          });
          for (int round = 0; round < 14; ++round)
            kernel.after(milliseconds(1500 + 600 * round), [&world] { hand_over(world, world.anybody()); });
          kernel.after(milliseconds(5650), [&world] {
            const base::NodeId lost = world.voter_beside(world.leader());
            if (lost != base::kNoNode) world.kernel().crash(lost);
          });
        };
        return setup;
      });
  scenario.safety = seconds(10);
  scenario.liveness = seconds(10);
  scenario.counters = {"leadership handed over", "request refused"};
  scenario.enough_seeds = 100;
  return scenario;
}

}  // namespace

cores::RaftOptions tight_raft_options(base::Random& random) {
  cores::RaftOptions options;
  options.batch_entries = 1 + random.below(8);
  options.batch_bytes = 64 + random.below(512);
  options.window = 1 + random.below(4);
  options.uncommitted_entries = 8 + random.below(64);
  options.uncommitted_bytes = 1024 + random.below(8192);
  options.pending_reads = 1 + random.below(8);
  options.snapshot_part_bytes = 16 + random.below(100);
  options.kept_entries = random.below(16);
  options.promotion_lag = 1 + random.below(64);
  return options;
}

Scenario raft_scenario(std::string name, std::string summary, std::function<RaftSetup(base::Random& random)> setup) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.summary = std::move(summary);
  scenario.watches = {"1",
                      "2",
                      "3",
                      "4",
                      "5",
                      "6",
                      "27",
                      "30",
                      "time",
                      "log-kept",
                      "log-equal",
                      "log-acknowledged",
                      "log-restart",
                      "log-read",
                      "log-progress",
                      "raft-timing",
                      "raft-pre-vote",
                      "raft-stranger",
                      "raft-transfer",
                      "raft-members",
                      "raft-standing"};
  scenario.make = [setup = std::move(setup)](std::uint64_t seed) -> std::unique_ptr<World> {
    base::Random random(base::mix(seed ^ base::mix(kRaftSetup)));
    return std::make_unique<RaftWorld>(setup(random));
  };
  scenario.options = [](base::Random& random) {
    KernelOptions options;
    options.network.unruly_streams = random.below(2) == 0;
    options.network.between_sites = options.network.within_site;
    options.disk.most = between(milliseconds(1), milliseconds(10), random);
    return options;
  };
  return scenario;
}

void add_raft_scenarios(std::vector<Scenario>& scenarios) {
  scenarios.push_back(all_at_once());
  scenarios.push_back(election());
  scenarios.push_back(partitions());
  scenarios.push_back(everybody_restarts());
  scenarios.push_back(transfers());
}

}  // namespace muster::sim
