// The fields of messages_worker.h and messages_watch.h on the wire.
#pragma once

#include "cluster/fields_job.h"
#include "cluster/messages_watch.h"
#include "cluster/messages_worker.h"

namespace muster::cluster {

template <class Io>
void fields(Io& io, typename Io::template Of<PartReport>& report) {
  fields(io, report.part);
  fields(io, report.fence);
  io.flag(report.finished);
  io.span(report.elapsed);
  io.number(report.beat);
  io.number(report.cores_done);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Heartbeat>& message) {
  io.number(message.life);
  io.text(message.cluster, kMaxName);
  io.text(message.environment, kMaxName);
  io.number(message.major);
  io.number(message.minor);
  io.number(message.version);
  io.stamp(message.sent);
  io.choice(message.state, kWorkerStates);
  io.number(message.cores);
  io.number(message.free_cores);
  io.list(message.parts, kMaxWorkerParts, [&](auto& report) { fields(io, report); });
  io.list(message.idle, kMaxIdleJobs, [&](auto& job) { io.number(job); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<Leader>& leader) {
  io.number(leader.job);
  io.number(leader.manager);
  io.number(leader.epoch);
}

template <class Io>
void fields(Io& io, typename Io::template Of<HeartbeatAnswer>& message) {
  io.number(message.life);
  io.stamp(message.sent);
  io.choice(message.contact, kContacts);
  io.list(message.leaders, kMaxWorkerParts, [&](auto& leader) { fields(io, leader); });
  io.list(message.managers, kMaxManagers, [&](auto& manager) { io.number(manager); });
  io.choice(message.pressure, 4);
  io.number(message.admission);
  io.list(message.over, kMaxIdleJobs, [&](auto& job) { io.number(job); });
  io.text(message.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Dispatch>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.number(message.epoch);
  io.number(message.worker_life);
  io.number(message.major);
  fields(io, message.slice);
  fields(io, message.bundle);
  io.text(message.workflow, kMaxName);
  io.span(message.run_limit);
  io.number(message.context_version);
  io.text(message.context, kMaxContext);
  io.number(message.admission);
}

template <class Io>
void fields(Io& io, typename Io::template Of<DispatchAnswer>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.choice(message.reply, kDispatchReplies);
  io.number(message.version);
}

template <class Io>
void fields(Io& io, typename Io::template Of<StopPart>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.number(message.epoch);
  io.choice(message.reason, kStopReasons);
}

template <class Io>
void fields(Io& io, typename Io::template Of<PartStopped>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.number(message.life);
  io.flag(message.finished);
  io.flag(message.alone);
}

template <class Io>
void fields(Io& io, typename Io::template Of<PartProgress>& progress) {
  fields(io, progress.part);
  fields(io, progress.fence);
  io.number(progress.sequence);
  io.span(progress.collected);
  io.number(progress.beat);
  io.number(progress.vus);
  fields(io, progress.counts);
  io.histogram(progress.latency);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Progress>& message) {
  io.number(message.life);
  io.span(message.sent);
  io.list(message.parts, kMaxWorkerParts, [&](auto& progress) { fields(io, progress); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<PartResult>& message) {
  io.number(message.worker);
  io.number(message.life);
  fields(io, message.part);
  fields(io, message.fence);
  io.choice(message.outcome, kPartOutcomes);
  fields(io, message.body);
  fields(io, message.counts);
  io.text(message.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ResultAck>& message) {
  fields(io, message.part);
  fields(io, message.fence);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Probe>& message) {
  io.number(message.number);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ProbeAnswer>& message) {
  io.number(message.number);
  io.number(message.life);
  io.number(message.version);
  io.choice(message.state, kWorkerStates);
  io.number(message.free_cores);
  io.list(message.parts, kMaxWorkerParts, [&](auto& report) { fields(io, report); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<CancelPoll>& message) {
  io.number(message.life);
  io.list(message.parts, kMaxWorkerParts, [&](auto& report) { fields(io, report); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<ExtensionAsk>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.choice(message.reason, kExtensionReasons);
  io.real(message.progress);
  io.span(message.estimated_end);
  io.number(message.active);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ExtensionAnswer>& message) {
  fields(io, message.part);
  fields(io, message.fence);
  io.flag(message.granted);
  io.span(message.extended);
  io.span(message.deadline);
  io.number(message.left);
  io.flag(message.warning);
  io.span(message.grace);
  io.text(message.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Drain>& message) {
  io.flag(message.on);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Forward>& message) {
  io.text(message.entry, kMaxCommandBytes);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ManagerState>& message) {
  io.number(message.life);
  io.number(message.applied);
  io.number(message.jobs_led);
  io.flag(message.draining);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Reconnect>& message) {
  io.number(message.job);
  io.number(message.client);
  io.number(message.workflows_seen);
  io.number(message.window_seen);
}

template <class Io>
void fields(Io&, typename Io::template Of<DatacentersAsk>&) {}

template <class Io>
void fields(Io& io, typename Io::template Of<Datacenter>& datacenter) {
  io.text(datacenter.name, kMaxName);
  io.choice(datacenter.health, kDatacenterClasses);
  io.number(datacenter.managers);
  io.number(datacenter.workers);
  io.number(datacenter.free_cores);
  io.number(datacenter.cores);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Datacenters>& message) {
  io.choice(message.answer, kAnswers);
  io.span(message.retry_after);
  io.list(message.list, kMaxDatacenters, [&](auto& datacenter) { fields(io, datacenter); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<Ring>& message) {
  io.number(message.version);
  io.list(message.gates, kMaxGates, [&](auto& gate) { io.number(gate); });
}

}  // namespace muster::cluster
