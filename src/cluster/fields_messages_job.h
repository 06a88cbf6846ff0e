// The fields of messages_job.h and messages_body.h on the wire.
#pragma once

#include "cluster/fields_job.h"
#include "cluster/messages_body.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

template <class Io>
void fields(Io& io, typename Io::template Of<Submit>& message) {
  io.number(message.job);
  io.number(message.client);
  io.number(message.origin_epoch);
  fields(io, message.bundle);
  fields(io, message.outline);
  io.list(message.datacenters, kMaxDatacenters, [&](auto& name) { io.text(name, kMaxName); });
  io.number(message.datacenter_count);
  io.flag(message.reroute_on_datacenter_loss);
}

template <class Io>
void fields(Io& io, typename Io::template Of<SubmitAnswer>& message) {
  io.number(message.job);
  io.choice(message.answer, kAnswers);
  io.choice(message.state, kJobStates);
  io.number(message.position);
  io.number(message.leader);
  io.number(message.epoch);
  io.span(message.retry_after);
  io.text(message.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<StatusAsk>& message) {
  io.number(message.job);
  io.number(message.client);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkflowStatus>& status) {
  io.number(status.workflow);
  io.choice(status.state, kWorkflowStates);
  io.number(status.parts);
  io.number(status.parts_ended);
  fields(io, status.counts);
  io.list(status.results, kMaxParts, [&](auto& body) { fields(io, body); });
  io.text(status.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<DatacenterStatus>& status) {
  io.text(status.name, kMaxName);
  io.choice(status.state, kJobStates);
  io.flag(status.lost);
  io.text(status.reason, kMaxReason);
  io.span(status.elapsed);
  io.number(status.workflows);
  io.number(status.workflows_ended);
  fields(io, status.counts);
}

template <class Io>
void fields(Io& io, typename Io::template Of<StatusAnswer>& message) {
  io.number(message.job);
  io.choice(message.answer, kAnswers);
  io.choice(message.state, kJobStates);
  io.number(message.position);
  io.number(message.leader);
  io.number(message.epoch);
  io.text(message.reason, kMaxReason);
  io.list(message.workflows, kMaxWorkflows, [&](auto& status) { fields(io, status); });
  io.list(message.datacenters, kMaxDatacenters, [&](auto& status) { fields(io, status); });
  io.span(message.retry_after);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Cancel>& message) {
  io.number(message.job);
  io.number(message.client);
  io.number(message.origin_epoch);
  io.text(message.requester, kMaxName);
  io.text(message.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<CancelAnswer>& message) {
  io.number(message.job);
  io.choice(message.answer, kAnswers);
  io.flag(message.done);
  io.number(message.stopped);
  io.number(message.unconfirmed);
  io.span(message.retry_after);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkflowEnded>& message) {
  io.number(message.job);
  io.number(message.epoch);
  fields(io, message.status);
  io.text(message.datacenter, kMaxName);
  io.number(message.sequence);
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobEnd>& message) {
  io.number(message.job);
  io.number(message.epoch);
  io.choice(message.state, kJobStates);
  io.text(message.reason, kMaxReason);
  io.list(message.workflows, kMaxWorkflows, [&](auto& status) { fields(io, status); });
  io.span(message.elapsed);
  io.list(message.datacenters, kMaxDatacenters, [&](auto& status) { fields(io, status); });
  io.number(message.results);
}

template <class Io>
void fields(Io& io, typename Io::template Of<EndAck>& message) {
  io.number(message.job);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WindowRow>& row) {
  io.number(row.workflow);
  io.number(row.window);
  io.number(row.reported);
  io.number(row.expected);
  fields(io, row.counts);
  io.histogram(row.latency);
}

template <class Io>
void fields(Io& io, typename Io::template Of<TotalRow>& row) {
  io.number(row.workflow);
  fields(io, row.counts);
  fields(io, row.lost);
  io.number(row.vus);
  io.histogram(row.latency);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WindowPush>& message) {
  io.number(message.job);
  io.number(message.epoch);
  io.list(message.windows, kMaxWindowRows, [&](auto& row) { fields(io, row); });
  io.list(message.totals, kMaxWorkflows, [&](auto& row) { fields(io, row); });
  io.text(message.datacenter, kMaxName);
}

template <class Io>
void fields(Io& io, typename Io::template Of<GateAnnounce>& message) {
  io.number(message.job);
  io.number(message.origin_epoch);
}

template <class Io>
void fields(Io& io, typename Io::template Of<OwnerAsk>& message) {
  io.number(message.job);
}

template <class Io>
void fields(Io& io, typename Io::template Of<OwnerIs>& message) {
  io.number(message.job);
  io.number(message.gate);
  io.number(message.origin_epoch);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyOffer>& message) {
  fields(io, message.body);
  io.number(message.round);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyHeld>& message) {
  fields(io, message.hash);
  io.number(message.life);
  io.number(message.round);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyWanted>& message) {
  fields(io, message.body);
  io.number(message.offset);
  io.require(message.offset < message.body.size || message.offset == 0, "a piece beyond the end is wanted");
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyPiece>& message) {
  fields(io, message.hash);
  io.number(message.offset);
  io.text(message.bytes, kBodyPiece);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyMissing>& message) {
  fields(io, message.hash);
  io.flag(message.busy);
}

}  // namespace muster::cluster
