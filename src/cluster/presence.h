// How membership is read by the brains, and what they say in its acks: a node's role, the news of its life and death,
// and for gates what each manager knows of its datacenter. What the shell measures itself (overload, cpu and memory,
// membership's level) and its versions are its own to add. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cluster/datacenter_table.h"
#include "cluster/ids.h"
#include "cluster/proposals.h"
#include "cluster/worker_table.h"
#include "cores/pace.h"
#include "cores/swim_effects.h"
#include "model/node_state.h"

namespace muster::cluster {

NodeRole role_of(const model::NodeState& state);

// What a manager says of itself, of its open jobs and workers, and of where its log stands.
model::NodeState state_of_manager(NodeId self, std::string datacenter, std::size_t jobs, const Census& workers,
                                  const LogStanding& standing, bool draining);
// `completed`: cores of parts that run on with fewer.
model::NodeState state_of_worker(WorkerState state, std::uint32_t cores, std::uint32_t free_cores,
                                 std::uint32_t completed, std::size_t parts);
// As a manager takes in what a worker said; nothing if it is none.
std::optional<WorkerState> worker_state_of(const model::NodeState& state);
// With how it gets on, beside what is usual.
model::NodeState with_pace(model::NodeState state, const cores::PaceWatch& pace);
model::NodeState state_of_gate(const DatacenterTable& datacenters, std::size_t jobs, bool draining);

// As a gate takes in what a manager said; nothing if it is none.
std::optional<ManagerReport> report_of(NodeId manager, const model::NodeState& state);

// Whether others must hear of the change at once rather than with the next ack.
bool urgent(const model::NodeState& before, const model::NodeState& after);

// What an event of membership says of the life of a node; nothing if it says nothing about it.
std::optional<Liveness> liveness_of(cores::SwimEventKind event);

}  // namespace muster::cluster
