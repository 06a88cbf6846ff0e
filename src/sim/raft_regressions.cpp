// One scenario for each rule that a packaged Raft library was seen to break: each drives the group, by a script, again
// and again into the corner where the rule matters. The oracles are those of every Raft scenario, and more where
// needed.
#include <algorithm>
#include <utility>

#include "sim/raft_scenarios.h"

namespace muster::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

RaftSetup small_group(base::Random& random) {
  RaftSetup setup;
  setup.voters = random.below(2) == 0 ? 3 : 5;
  setup.raft = tight_raft_options(random);
  return setup;
}

Scenario regression(std::string name, std::string summary, std::function<RaftSetup(base::Random& random)> setup) {
  Scenario scenario = raft_scenario(std::move(name), std::move(summary), std::move(setup));
  scenario.safety = seconds(10);
  scenario.liveness = seconds(15);
  scenario.enough_seeds = 200;
  return scenario;
}

// A leader that is cut off gathers entries that nobody else gets, and comes back with them.
void grow_stale_tail(RaftWorld& world) {
  const base::NodeId leader = world.leader();
  if (leader == base::kNoNode) return;
  world.isolate(leader, milliseconds(500 + world.kernel().random().below(500)));
  world.propose(leader, 1 + static_cast<std::uint32_t>(world.kernel().random().below(12)));
}

Scenario overclaim() {
  Scenario scenario = regression(
      "raft-overclaim", "an ack names what its request held, never the follower's own tail", [](base::Random& random) {
        RaftSetup setup = small_group(random);
        setup.propose = milliseconds(30);
        setup.script = [](RaftWorld& world) { world.every(milliseconds(900), [&world] { grow_stale_tail(world); }); };
        return setup;
      });
  scenario.counters = {"tail cut off"};
  return scenario;
}

// The leader's last words reach one follower at most; then it is gone for a while (Raft paper, figure 8).
void die_mid_sentence(RaftWorld& world) {
  const base::NodeId leader = world.leader();
  if (leader == base::kNoNode) return;
  const base::NodeId confidant = world.voter_beside(leader);
  NodeSet alone, others;
  alone.add(world.kernel().index(leader));
  for (const base::NodeId node : world.kernel().nodes())
    if (node != leader && node != confidant) others.add(world.kernel().index(node));
  const std::uint32_t cut = world.kernel().network().cut(alone, others);
  world.propose(leader, 2);
  world.kernel().after(milliseconds(5 + world.kernel().random().below(30)), [&world, leader, cut] {
    world.kernel().network().mend(cut);
    world.crash_for(leader, milliseconds(200 + world.kernel().random().below(600)));
  });
}

Scenario old_term_commit() {
  Scenario scenario = regression(
      "raft-old-term-commit", "only entries of the current term commit by counting", [](base::Random& random) {
        RaftSetup setup = small_group(random);
        setup.voters = 5;
        setup.propose = milliseconds(100);
        setup.script = [](RaftWorld& world) { world.every(milliseconds(400), [&world] { die_mid_sentence(world); }); };
        return setup;
      });
  scenario.counters = {"leader began with entries of an older term"};
  return scenario;
}

// Two are told to ask for votes in the same term: one by a message that was late, so that its transfer was given up,
// and one by the transfer that followed.
void name_two_successors(RaftWorld& world) {
  const cores::Raft* const leading = world.raft(world.leader());
  if (leading == nullptr) return;
  const base::NodeId leader = leading->self();
  const base::NodeId one = world.voter_beside(leader), other = world.voter_beside(leader);
  if (one == other || one == base::kNoNode) return;
  const cores::RaftMessage message{.term = leading->term(), .body = cores::RaftTimeoutNow{}};
  world.forge(leader, one, message);
  world.forge(leader, other, message);
}

Scenario double_vote() {
  Scenario scenario =
      regression("raft-double-vote", "one vote a term, durable before the reply, also while leadership is handed over",
                 [](base::Random& random) {
                   RaftSetup setup = small_group(random);
                   setup.transfer = milliseconds(150);
                   setup.script = [](RaftWorld& world) {
                     world.every(milliseconds(400), [&world] { world.crash_for(world.anybody(), milliseconds(30)); });
                     world.every(milliseconds(700), [&world] { world.isolate(world.leader(), milliseconds(400)); });
                     world.every(milliseconds(600), [&world] { name_two_successors(world); });
                   };
                   return setup;
                 });
  scenario.faults.with(FaultKind::kDelay).with(FaultKind::kDiskStall).with(FaultKind::kTornWrite);
  scenario.faults.least = 3;
  scenario.faults.most = 10;
  scenario.faults.longest = seconds(2);
  scenario.faults.share_of_kinds = 1;
  scenario.counters = {"leadership handed over", "split vote"};
  return scenario;
}

Scenario late_duplicate() {
  Scenario scenario = regression(
      "raft-late-duplicate", "an old append to a node that has compacted is harmless", [](base::Random& random) {
        RaftSetup setup = small_group(random);
        setup.raft.kept_entries = random.below(3);
        setup.propose = milliseconds(4);
        setup.compact = milliseconds(15);
        setup.script = [](RaftWorld& world) {
          world.every(milliseconds(1500), [&world] { world.crash_for(world.anybody(), milliseconds(500)); });
        };
        return setup;
      });
  scenario.options = [](base::Random&) {
    KernelOptions options;
    options.network.unruly_streams = true;
    options.network.between_sites = options.network.within_site;
    return options;
  };
  scenario.faults.with(FaultKind::kReplay, 3)
      .with(FaultKind::kDuplicate)
      .with(FaultKind::kReorder)
      .with(FaultKind::kDelay);
  scenario.faults.least = 4;
  scenario.faults.most = 10;
  scenario.faults.longest = seconds(8);
  scenario.faults.share_of_kinds = 1;
  scenario.counters = {"log compacted", "snapshot installed", "fault replay"};
  return scenario;
}

// Terms and logs are driven apart; then one node of three is lost for good, and the other two must get on.
Scenario pre_vote_deadlock() {
  Scenario scenario =
      regression("raft-pre-vote-deadlock", "a longer log of a lower term and its opposite still elect a leader",
                 [](base::Random& random) {
                   RaftSetup setup = small_group(random);
                   setup.voters = 3;
                   setup.propose = milliseconds(60);
                   setup.script = [](RaftWorld& world) {
                     world.every(milliseconds(700), [&world] { grow_stale_tail(world); });
                     world.every(milliseconds(900), [&world] { die_mid_sentence(world); });
                     world.every(milliseconds(1100), [&world] { world.crash_for(world.anybody(), milliseconds(400)); });
                   };
                   return setup;
                 });
  scenario.counters = {"entries lent to a candidate"};
  scenario.faults.with(FaultKind::kPartial).with(FaultKind::kOneWay).with(FaultKind::kPause).with(FaultKind::kDelay);
  scenario.faults.share_of_kinds = 1;
  scenario.faults.least = 2;
  scenario.faults.most = 8;
  scenario.faults.longest = seconds(2);
  return scenario;
}

Scenario append_failure() {
  Scenario scenario =
      regression("raft-append-failure", "a failed or short write stops the node; no index is used twice",
                 [](base::Random& random) {
                   RaftSetup setup = small_group(random);
                   setup.propose = milliseconds(3);
                   setup.compact = milliseconds(200);
                   return setup;
                 });
  scenario.faults.with(FaultKind::kDiskError, 3).with(FaultKind::kDiskFull, 3).with(FaultKind::kTornWrite);
  scenario.faults.with(FaultKind::kDiskStall);
  scenario.faults.share_of_kinds = 1;
  scenario.faults.least = 5;
  scenario.faults.most = 15;
  scenario.faults.longest = seconds(2);
  scenario.counters = {"node halted itself", "unfinished record dropped"};
  return scenario;
}

constexpr base::NodeId kCrawls{1};

// The oldest proposal of a leader that has led for a while must not be old.
void check_starvation(RaftWorld& world) {
  const base::NodeId leader = world.leader();
  if (leader == base::kNoNode || world.kernel().elapsed() < seconds(2)) return;
  const cores::Raft& leading = *world.raft(leader);
  if (leading.match_of(kCrawls).value_or(leading.commit()) < leading.commit()) world.kernel().hit("one was behind");
  const auto* const process = static_cast<const RaftProcess*>(world.kernel().process(leader));
  for (const auto& [request, asked] : process->unanswered()) {
    if (world.kernel().now() - asked.at < seconds(1)) continue;
    world.kernel().violate("log-progress",
                           fmt::format("a proposal waits {:.2f} s for its commit though a majority is quick",
                                       base::seconds(world.kernel().now() - asked.at)));
    return;
  }
}

Scenario starvation() {
  Scenario scenario =
      regression("raft-starvation", "a majority at index i commits i though later entries are under way",
                 [](base::Random& random) {
                   RaftSetup setup;
                   setup.voters = random.below(2) == 0 ? 3 : 5;
                   setup.raft.batch_entries = 32 + random.below(64);
                   setup.raft.window = 4 + random.below(8);
                   setup.propose = std::chrono::microseconds(400 + random.below(1000));
                   setup.everybody_heals = true;
                   setup.script = [](RaftWorld& world) {
                     // A minority crawls, whoever leads.
                     world.kernel().disk_trouble(kCrawls).stalled_till = base::Duration(seconds(8)).count();
                     world.kernel().slow_down(kCrawls, milliseconds(20));
                     world.every(milliseconds(100), [&world] { check_starvation(world); });
                   };
                   return setup;
                 });
  scenario.counters = {"one was behind"};
  scenario.enough_seeds = 100;
  return scenario;
}

// An index that no group of a simulation reaches.
constexpr cores::RaftIndex kFarAhead = 1'000'000;

cores::RaftMessage strange_message(base::Random& random, cores::RaftTerm term) {
  cores::RaftMessage message;
  message.term = term + random.below(50);
  switch (random.below(6)) {
    case 0: {
      const bool pre = random.below(2) == 0;
      message.body = cores::RaftVoteRequest{.pre = pre,
                                            .transfer = random.below(2) == 0,
                                            .asked = message.term + (pre ? 1 : 0),
                                            .last_index = kFarAhead,
                                            .last_term = message.term};
      break;
    }
    case 1:
      message.body = cores::RaftVoteReply{.pre = random.below(2) == 0, .granted = true, .asked = message.term};
      break;
    case 2: {
      cores::RaftAppend append;
      append.commit = kFarAhead;
      message.body = std::move(append);
      break;
    }
    case 3: {
      cores::RaftAppendReply reply;
      reply.accepted = random.below(2) == 0;
      reply.index = kFarAhead;
      message.body = reply;
      break;
    }
    case 4: {
      cores::RaftSnapshotReply reply;
      reply.index = kFarAhead;
      reply.done = true;
      message.body = reply;
      break;
    }
    default:
      message.body = cores::RaftTimeoutNow{};
      break;
  }
  return message;
}

Scenario stranger() {
  Scenario scenario = regression(
      "raft-stranger", "messages from outside the configuration are dropped, whatever flags they carry",
      [](base::Random& random) {
        RaftSetup setup = small_group(random);
        setup.spares = 2;
        setup.everybody_heals = true;
        setup.script = [](RaftWorld& world) {
          world.every(milliseconds(5), [&world] {
            Kernel& kernel = world.kernel();
            const base::NodeId from = kernel.nodes()[world.founders().size() + kernel.random().below(2)];
            const base::NodeId to = world.founders()[kernel.random().below(world.founders().size())];
            const cores::RaftMessage message = strange_message(kernel.random(), world.oracle().highest_term());
            world.forge(from, to, message);
          });
        };
        setup.finish = [](RaftWorld& world) {
          if (world.oracle().highest_term() > 30)
            world.kernel().violate("3",
                                   fmt::format("strangers drove the term up to {}", world.oracle().highest_term()));
        };
        return setup;
      });
  scenario.counters = {"message of a stranger"};
  return scenario;
}

Scenario re_entry() {
  Scenario scenario =
      regression("raft-re-entry", "losing leadership while a proposal is answered, and asking again from the answer",
                 [](base::Random& random) {
                   RaftSetup setup = small_group(random);
                   setup.chained = true;
                   setup.propose = milliseconds(100);
                   setup.transfer = milliseconds(400);
                   setup.script = [](RaftWorld& world) {
                     world.every(milliseconds(800), [&world] { world.isolate(world.leader(), milliseconds(500)); });
                   };
                   return setup;
                 });
  scenario.counters = {"outcome unknown", "leader stepped down"};
  return scenario;
}

void change_in_isolation(RaftWorld& world) {
  using Kind = cores::RaftChange::Kind;
  const base::NodeId leader = world.leader();
  const cores::RaftMembers& members = world.oracle().committed_members();
  if (leader == base::kNoNode) return;
  world.isolate(leader, milliseconds(600));
  const base::NodeId somebody = world.anybody();
  const bool inside = members.contains(somebody);
  if (inside && members.voters.size() <= 2) return;
  world.change(leader, {.kind = inside ? Kind::kRemove : Kind::kAddLearner, .node = somebody});
}

// Whoever leads next is asked for a change before it can have committed anything.
void change_at_once(RaftWorld& world) {
  const cores::Raft* const leading = world.raft(world.leader());
  if (leading == nullptr) return;
  const cores::RaftTerm term = leading->term();
  world.crash_for(leading->self(), milliseconds(300));
  world.await_leader(
      term, seconds(2),
      [&world](base::Duration) {
        using Kind = cores::RaftChange::Kind;
        const base::NodeId somebody = world.anybody();
        const cores::RaftMembers& members = world.oracle().committed_members();
        const bool inside = members.contains(somebody);
        if (inside && members.voters.size() <= 2) return;
        world.change(world.leader(), {.kind = inside ? Kind::kRemove : Kind::kAddLearner, .node = somebody});
      },
      [] {});
}

Scenario membership_rollback() {
  Scenario scenario = regression(
      "raft-membership-rollback", "an uncommitted configuration is undone by truncation", [](base::Random& random) {
        RaftSetup setup = small_group(random);
        setup.spares = 2;
        setup.change = milliseconds(500);
        setup.everybody_heals = true;
        setup.script = [](RaftWorld& world) {
          world.every(milliseconds(900), [&world] { change_in_isolation(world); });
          world.every(milliseconds(2500), [&world] { change_at_once(world); });
        };
        setup.finish = [](RaftWorld& world) {
          const cores::Raft* const leader = world.raft(world.leader());
          if (leader != nullptr && leader->members_committed() &&
              leader->members() != world.oracle().committed_members())
            world.kernel().violate("log-equal", "the leader's configuration is not the last one committed");
        };
        return setup;
      });
  scenario.counters = {"configuration undone", "members changed"};
  return scenario;
}

}  // namespace

void add_raft_regressions(std::vector<Scenario>& scenarios) {
  for (const auto make : {overclaim, old_term_commit, double_vote, late_duplicate, pre_vote_deadlock, append_failure,
                          starvation, stranger, re_entry, membership_rollback})
    scenarios.push_back(make());
}

}  // namespace muster::sim
