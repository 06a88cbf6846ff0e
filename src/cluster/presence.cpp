#include "cluster/presence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cores/health.h"

namespace muster::cluster {
namespace {

using model::NodeLife;
constexpr std::array<std::pair<WorkerState, NodeLife>, 5> kLives = {{
    {WorkerState::kRegistering, NodeLife::kStarting},
    {WorkerState::kHealthy, NodeLife::kHealthy},
    {WorkerState::kDegraded, NodeLife::kDegraded},
    {WorkerState::kDraining, NodeLife::kDraining},
    {WorkerState::kOffline, NodeLife::kOffline},
}};

NodeLife life_of(WorkerState state) {
  return std::ranges::find(kLives, state, &std::pair<WorkerState, NodeLife>::first)->second;
}

}  // namespace

NodeRole role_of(const model::NodeState& state) {
  if (std::holds_alternative<model::ManagerState>(state.role)) return NodeRole::kManager;
  return std::holds_alternative<model::GateState>(state.role) ? NodeRole::kGate : NodeRole::kWorker;
}

model::NodeState state_of_manager(NodeId self, std::string datacenter, std::size_t jobs, const Census& workers,
                                  const LogStanding& standing, bool draining) {
  model::ManagerState manager;
  manager.datacenter = std::move(datacenter);
  manager.term = standing.term;
  manager.leads = standing.leader == self;
  manager.has_quorum = standing.current();
  manager.jobs = static_cast<std::uint32_t>(jobs);
  manager.workers = workers.workers;
  manager.healthy_workers = workers.healthy;
  manager.free_cores = workers.free_cores;
  manager.total_cores = workers.cores;
  model::NodeState state;
  state.life = draining ? model::NodeLife::kDraining : model::NodeLife::kHealthy;
  state.accepting = cores::manager_ready(!draining, manager.has_quorum, manager.healthy_workers);
  state.capacity = manager.free_cores;
  state.role = std::move(manager);
  return state;
}

model::NodeState state_of_worker(WorkerState life, std::uint32_t cores, std::uint32_t free_cores,
                                 std::uint32_t completed, std::size_t parts) {
  model::WorkerState worker;
  worker.total_cores = cores;
  worker.free_cores = free_cores;
  worker.completed_cores = completed;
  worker.part_count = static_cast<std::uint32_t>(parts);
  model::NodeState state;
  state.life = life_of(life);
  state.accepting = life == WorkerState::kHealthy || life == WorkerState::kDegraded;
  state.capacity = free_cores;
  state.role = std::move(worker);
  return state;
}

model::NodeState with_pace(model::NodeState state, const cores::PaceWatch& pace) {
  state.throughput = pace.rate();
  state.expected_throughput = pace.usual();
  return state;
}

std::optional<WorkerState> worker_state_of(const model::NodeState& state) {
  if (!std::holds_alternative<model::WorkerState>(state.role)) return std::nullopt;
  return std::ranges::find(kLives, state.life, &std::pair<WorkerState, NodeLife>::second)->first;
}

model::NodeState state_of_gate(const DatacenterTable& datacenters, std::size_t jobs, bool draining) {
  model::GateState gate;
  for (const Datacenter& each : datacenters.list()) {
    if (each.health == DatacenterClass::kUnhealthy) continue;
    gate.datacenters.push_back(each.name);
    ++gate.datacenter_count;
  }
  gate.jobs = static_cast<std::uint32_t>(jobs);
  model::NodeState state;
  state.life = draining ? model::NodeLife::kDraining : model::NodeLife::kHealthy;
  state.accepting = cores::gate_ready(!draining, gate.datacenter_count, false);
  state.role = std::move(gate);
  return state;
}

std::optional<ManagerReport> report_of(NodeId manager, const model::NodeState& state) {
  const auto* const said = std::get_if<model::ManagerState>(&state.role);
  if (said == nullptr) return std::nullopt;
  ManagerReport report;
  report.manager = manager;
  report.datacenter = said->datacenter;
  report.term = said->term;
  report.leader = said->leads;
  report.has_quorum = said->has_quorum;
  report.stuck = cores::pace_of(state.throughput, state.expected_throughput) == cores::Pace::kStuck;
  report.workers = said->workers;
  report.healthy_workers = said->healthy_workers;
  report.free_cores = said->free_cores;
  report.cores = said->total_cores;
  return report;
}

bool urgent(const model::NodeState& before, const model::NodeState& after) {
  if (before.life != after.life || before.accepting != after.accepting) return true;
  const auto* const was = std::get_if<model::ManagerState>(&before.role);
  const auto* const is = std::get_if<model::ManagerState>(&after.role);
  return was != nullptr && is != nullptr && (was->leads != is->leads || was->has_quorum != is->has_quorum);
}

std::optional<Liveness> liveness_of(cores::SwimEventKind event) {
  switch (event) {
    case cores::SwimEventKind::kJoined:
    case cores::SwimEventKind::kMoved:
    case cores::SwimEventKind::kCleared:
      return Liveness::kAlive;
    case cores::SwimEventKind::kSuspected:
      return Liveness::kSuspect;
    case cores::SwimEventKind::kDead:
    case cores::SwimEventKind::kLeft:
    case cores::SwimEventKind::kRemoved:
      return Liveness::kDead;
    case cores::SwimEventKind::kStateChanged:
    case cores::SwimEventKind::kRefuted:
    case cores::SwimEventKind::kConflict:
    case cores::SwimEventKind::kOverflow:
      break;
  }
  return std::nullopt;
}

}  // namespace muster::cluster
