// The fields of what commands, messages and the ledger share: ids, references to bodies, outlines, slices, counts.
#pragma once

#include "cluster/commands.h"
#include "cluster/fields.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/options.h"

namespace muster::cluster {

template <class Io>
void fields(Io& io, typename Io::template Of<Process>& process) {
  io.number(process.node);
  io.number(process.life);
}

template <class Io>
void fields(Io& io, typename Io::template Of<PartId>& part) {
  io.number(part.job);
  io.number(part.workflow);
  io.number(part.part);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Fence>& fence) {
  io.number(fence.epoch);
  io.number(fence.attempt);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyHash>& hash) {
  for (auto& word : hash.words) io.word(word);
}

template <class Io>
void fields(Io& io, typename Io::template Of<BodyRef>& body) {
  fields(io, body.hash);
  io.number(body.size);
  io.require(body.size <= kMaxBodyBytes, "a body is too large");
}

template <class Io>
void fields(Io& io, typename Io::template Of<Counts>& counts) {
  io.number(counts.iterations);
  io.number(counts.ok);
  io.number(counts.failed);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Slice>& slice) {
  io.number(slice.first_core);
  io.number(slice.cores);
  io.number(slice.total_cores);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkflowOutline>& workflow) {
  io.text(workflow.name, kMaxName);
  io.choice(workflow.priority, static_cast<std::size_t>(model::Priority::kExclusive) + 1);
  io.flag(workflow.is_test);
  io.number(workflow.vus);
  io.list(workflow.depends, kMaxDepends, [&](auto& other) { io.number(other); });
  io.maybe(workflow.run_limit, [&](auto& limit) { io.span(limit); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobOutline>& outline) {
  io.text(outline.name, kMaxName);
  io.list(outline.workflows, kMaxWorkflows, [&](auto& workflow) { fields(io, workflow); });
  io.maybe(outline.time_limit, [&](auto& limit) { io.span(limit); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobEnded>& command) {
  io.number(command.job);
  io.number(command.epoch);
  io.choice(command.state, kJobStates);
  io.text(command.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<CancelRequested>& command) {
  io.number(command.job);
  io.text(command.requester, kMaxName);
  io.text(command.reason, kMaxReason);
  io.choice(command.end_as, kJobStates);
  io.flag(command.bury);
  io.number(command.client);
  io.number(command.epoch);
}

}  // namespace muster::cluster
