// The fields of gate_commands.h on the wire; some of them are in snapshots of the gates' ledger, too.
#pragma once

#include "cluster/fields_messages_job.h"
#include "cluster/gate_commands.h"
#include "cluster/gate_options.h"

namespace muster::cluster {

template <class Io>
void fields(Io& io, typename Io::template Of<JobSubmitted>& command) {
  io.number(command.job);
  io.number(command.client);
  fields(io, command.owner);
  io.number(command.renewal);
  fields(io, command.bundle);
  fields(io, command.outline);
  io.list(command.datacenters, kMaxDatacenters, [&](auto& name) { io.text(name, kMaxName); });
  io.number(command.count);
  io.flag(command.reroute);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Renewal>& row) {
  io.number(row.job);
  io.number(row.epoch);
  io.number(row.renewal);
  io.number(row.heard);
}

template <class Io>
void fields(Io& io, typename Io::template Of<LeasesRenewed>& command) {
  fields(io, command.holder);
  io.list(command.rows, kMaxRenewals, [&](auto& row) { fields(io, row); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<LeaseMoved>& command) {
  io.number(command.job);
  io.number(command.epoch);
  io.number(command.last);
  io.number(command.renewal);
  fields(io, command.to);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotFence>& fence) {
  io.number(fence.job);
  io.number(fence.epoch);
  io.number(fence.slot);
  io.number(fence.offer);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotOffered>& command) {
  fields(io, command.fence);
  io.text(command.datacenter, kMaxName);
  io.flag(command.refused);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotAccepted>& command) {
  fields(io, command.fence);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkflowReceived>& command) {
  fields(io, command.fence);
  fields(io, command.status);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotEnded>& command) {
  fields(io, command.fence);
  io.choice(command.state, kJobStates);
  io.text(command.reason, kMaxReason);
  io.span(command.elapsed);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotLost>& command) {
  fields(io, command.fence);
  io.number(command.heard);
  io.choice(command.loss, kSlotLosses);
  io.text(command.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SlotFailed>& command) {
  fields(io, command.fence);
  io.choice(command.state, kJobStates);
  io.flag(command.refused);
  io.text(command.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobCancelled>& command) {
  io.number(command.job);
  io.number(command.client);
  io.text(command.requester, kMaxName);
  io.text(command.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<EndAcknowledged>& command) {
  io.number(command.job);
}

template <class Io>
void fields(Io& io, typename Io::template Of<GateJobForgotten>& command) {
  io.number(command.job);
}

}  // namespace muster::cluster
