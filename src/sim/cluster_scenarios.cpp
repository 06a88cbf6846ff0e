#include "sim/cluster_scenarios.h"

#include <utility>

#include "sim/cluster_world.h"

namespace muster::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kClusterSetup = 0x636c7573;  // keeps the setup's generator apart from all others

// Times that are minutes in production, so that what they bring about happens within a run.
void shorten(ClusterSetup& setup) {
  setup.manager.keep_completed = seconds(20);
  setup.manager.keep_failed = seconds(40);
  setup.manager.keep_unacknowledged = minutes(10);
  setup.manager.cleanup = seconds(5);
  setup.manager.orphan_scan = seconds(15);
  setup.manager.bodies.keep = seconds(30);
  setup.gate.keep_completed = seconds(20);
  setup.gate.keep_failed = seconds(40);
  setup.gate.keep_unacknowledged = minutes(10);
  setup.gate.cleanup = seconds(5);
  setup.worker.bodies.keep = seconds(30);
  setup.worker.leader_memory = seconds(20);
  setup.worker.fences.life = seconds(30);
  setup.oldest_message = seconds(15);
}

ClusterSetup draw_setup(base::Random& random) {
  ClusterSetup setup;
  setup.gate_raft = cores::RaftOptions::lan();
  setup.raft = cores::RaftOptions::lan();
  setup.lan = cores::swim_lan();
  setup.wan = cores::swim_wan();
  setup.snapshot_after = 32 + random.below(400);
  setup.raft.kept_entries = random.below(64);
  setup.gate_raft.kept_entries = random.below(64);
  setup.submit = seconds(8 + static_cast<std::int64_t>(random.below(16)));
  setup.longest_part = seconds(1 + static_cast<std::int64_t>(random.below(6)));
  if (random.below(3) == 0) setup.trouble = 0;
  if (random.below(2) == 0) setup.drain = seconds(20);
  if (random.below(2) == 0) setup.change = seconds(6);
  if (random.below(2) == 0) {
    shorten(setup);
    if (random.below(2) == 0) setup.worker.fences.max_keys = 60;
  }
  return setup;
}

// In a quarter of the seeds frames come twice, late or again, as over several connections: fences and versions must do
// without order. Drawn beside the plan's generator, so that the plan is the same either way.
KernelOptions draw_machine(base::Random& random) {
  KernelOptions options;
  options.network.unruly_streams = base::mix(base::Random(random).next()) % 4 == 0;
  return options;
}

// What every kind of cluster with every kind of fault meets.
std::vector<std::string> usual_counters() {
  return {"executor started",
          "job completed",
          "job cancelled",
          "job failed",
          "job partial",
          "job timeout",
          "user told completed",
          "part run again",
          "worker evicted",
          "layer closed",
          "log compacted",
          "snapshot taken over",
          "executor crashed",
          "executor killed",
          "cancellation asked",
          "cancellation confirmed",
          "cancellation raced with the end",
          "running job cancelled after all was healed",
          "job submitted again",
          "job taken over by another manager",
          "job with a time limit taken over",
          "worker drained",
          "loss draining",
          "extension granted",
          "last extension granted",
          "progress shown",
          "job forgotten",
          "noted orphan found",
          "noted quorum time-out",
          "noted body copied",
          "noted part stuck",
          "noted stopped alone",
          "noted fence refused",
          "message shed",
          "quorum circuit opened",
          "quorum circuit closed",
          "trial of a worker",
          "result repeated"};
}

Scenario cluster_scenario(std::string name, std::string summary, std::function<void(ClusterSetup&)> adapt) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.summary = std::move(summary);
  scenario.watches = {"1",         "2",         "3",
                      "4",         "5",         "6",
                      "7",         "8",         "9",
                      "10",        "11",        "12",
                      "13",        "14",        "15",
                      "16",        "17",        "18",
                      "26",        "27",        "28",
                      "29",        "30",        "time",
                      "log-kept",  "log-equal", "provision-once",
                      "cores",     "layers",    "cancelled",
                      "part-once", "bodies",    "failed-cause",
                      "limit",     "draining",  "routing"};
  scenario.make = [adapt = std::move(adapt)](std::uint64_t seed) -> std::unique_ptr<World> {
    base::Random random(base::mix(seed ^ base::mix(kClusterSetup)));
    ClusterSetup setup = draw_setup(random);
    adapt(setup);
    return std::make_unique<ClusterWorld>(std::move(setup));
  };
  scenario.options = draw_machine;
  scenario.faults = FaultProfile::everything(10, 24);
  scenario.faults.with(FaultKind::kCrash, 4)
      .with(FaultKind::kMove, 2)
      .with(FaultKind::kIsolate, 2)
      .with(FaultKind::kOneWay, 2)
      .with(FaultKind::kPause, 2)
      .with(FaultKind::kRestartAll, 0.3);
  scenario.faults.longest = seconds(60);
  scenario.first_fault = seconds(6);
  scenario.safety = seconds(125);
  scenario.liveness = seconds(900);
  scenario.counters = usual_counters();
  demand_faults(scenario);
  scenario.enough_seeds = 300;
  return scenario;
}

// One datacenter whose managers the clients talk to: there are no leases of gates to watch, and no ring of owners.
Scenario scenario_without_gates(std::string name, std::string summary, std::function<void(ClusterSetup&)> adapt) {
  Scenario scenario =
      cluster_scenario(std::move(name), std::move(summary), [adapt = std::move(adapt)](ClusterSetup& setup) {
        setup.gates = 0;
        setup.datacenters = 1;
        adapt(setup);
      });
  std::erase_if(scenario.watches, [](const std::string& law) { return law == "8" || law == "29" || law == "routing"; });
  return scenario;
}

Scenario everything() {
  Scenario scenario = cluster_scenario(
      "cluster", "3 gates, 2 datacenters of 3 managers and 20 workers, jobs of 3 layers, every fault of the catalogue",
      [](ClusterSetup&) {});
  for (const char* counter :
       {"job taken over by another gate", "datacenter lost", "members changed", "gate drained", "noted rerouted",
        "noted fell back", "noted lease lapsed", "noted redirected", "workflow told before the end",
        "last totals shown are those held", "counts of a lost datacenter shown as lost", "unwell leader hands over",
        "critical manager steps down", "critical gate steps down", "datacenters of two classes to choose from",
        "cores given back early"})
    scenario.counters.emplace_back(counter);
  return scenario;
}

Scenario restart() {
  Scenario scenario = cluster_scenario(
      "cluster-restart", "everybody restarts in the middle, once or several times: what was acknowledged ends",
      [](ClusterSetup& setup) { setup.everybody_heals = true; });
  scenario.faults = {};
  scenario.faults.with(FaultKind::kRestartAll, 3)
      .with(FaultKind::kTornWrite)
      .with(FaultKind::kCrash)
      .with(FaultKind::kLoss);
  scenario.faults.share_of_kinds = 1;
  scenario.faults.least = 10;
  scenario.faults.most = 16;
  scenario.faults.longest = seconds(5);
  scenario.counters = {"job completed", "user told completed", "part run again", "job taken over by another manager"};
  demand_faults(scenario);
  scenario.enough_seeds = 100;
  return scenario;
}

Scenario direct() {
  Scenario scenario = scenario_without_gates("cluster-direct", "one datacenter whose clients talk to its managers",
                                             [](ClusterSetup&) {});
  scenario.counters.emplace_back("workflow told before the end");
  return scenario;
}

// Few workers, so that a part comes back to one that had it before.
Scenario echo() {
  Scenario scenario = scenario_without_gates(
      "cluster-echo", "orders that were superseded come once more: fences and epochs turn them away",
      [](ClusterSetup& setup) {
        setup.workers = 8;
        setup.echoes = true;
        setup.everybody_heals = true;
      });
  scenario.counters = {"job completed",
                       "part run again",
                       "job taken over by another manager",
                       "noted fence refused",
                       "old dispatch came again",
                       "old proposal came again",
                       "old proposal let go by",
                       "dispatch from before an admission refused"};
  // A deaf worker takes more than a minute to be evicted, lose its parts and come back.
  scenario.safety = seconds(200);
  demand_faults(scenario);
  return scenario;
}

// Far more jobs than a few workers can do.
Scenario crowd() {
  Scenario scenario = scenario_without_gates(
      "cluster-crowd", "more jobs than a few workers can do: the queue is full, and what was taken on ends",
      [](ClusterSetup& setup) {
        setup.workers = 8;
        setup.submit = milliseconds(2500);
        setup.longest_part = milliseconds(500);
        setup.trouble = 0;
        setup.everybody_heals = true;
      });
  scenario.counters = {"job completed",    "part run again", "job taken over by another manager",
                       "noted queue full", "loss draining",  "worker without room for fences"};
  demand_faults(scenario);
  scenario.enough_seeds = 30;
  return scenario;
}

// Rare as they are, pauses end at the very moment that counts in one seed of hundreds.
Scenario lapse() {
  Scenario scenario = scenario_without_gates(
      "cluster-lapse", "workers wake up just after their contact has lapsed, and hear an answer that was asked before",
      [](ClusterSetup& setup) {
        setup.workers = 8;
        setup.lapse = seconds(10);
        setup.everybody_heals = true;
      });
  scenario.counters = {"job completed", "part run again", "noted stopped alone",
                       "contact confirmed after it had lapsed"};
  demand_faults(scenario);
  scenario.enough_seeds = 100;
  return scenario;
}

// Jobs that run for minutes, at datacenters that the gates do not hear of meanwhile: they end there as lost, and are
// soon forgotten.
Scenario given_up() {
  Scenario scenario = cluster_scenario(
      "cluster-given-up", "datacenters that were cut off run on what the gates have given up, and forgotten",
      [](ClusterSetup& setup) {
        shorten(setup);
        setup.workers = 8;
        setup.submit = seconds(40);
        setup.longest_first = seconds(150);
        setup.trouble = 0;
        setup.gate.keep_completed = seconds(5);
        setup.gate.keep_failed = seconds(5);
      });
  scenario.faults = {};
  scenario.faults.with(FaultKind::kSiteLoss, 4).with(FaultKind::kCrash).with(FaultKind::kLoss);
  scenario.faults.share_of_kinds = 1;
  scenario.faults.least = 4;
  scenario.faults.most = 8;
  scenario.faults.longest = seconds(100);
  scenario.liveness = seconds(1800);
  scenario.counters = {"job completed", "datacenter lost", "owner of a running job asked for",
                       "forgotten job cancelled by a gate", "run of a job that the gates have forgotten"};
  demand_faults(scenario);
  scenario.enough_seeds = 60;
  return scenario;
}

}  // namespace

void add_cluster_scenarios(std::vector<Scenario>& scenarios) {
  scenarios.push_back(everything());
  scenarios.push_back(restart());
  scenarios.push_back(direct());
  scenarios.push_back(echo());
  scenarios.push_back(crowd());
  scenarios.push_back(lapse());
  scenarios.push_back(given_up());
}

}  // namespace muster::sim
