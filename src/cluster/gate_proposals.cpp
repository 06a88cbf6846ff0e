#include "cluster/gate_proposals.h"

#include "cluster/gate_command_codec.h"

namespace muster::cluster {
namespace {

// A slot's phases exclude each other, so all commands that change them have one subject.
constexpr std::size_t kSlotKind = 100;

struct GateSubjectOf {
  Subject operator()(const JobSubmitted& command) const { return {0, number(command.job), 0, 0}; }
  // Each is for leases of its own.
  Subject operator()(const LeasesRenewed& command) const {
    return {1, command.rows.empty() ? 0 : static_cast<std::uint64_t>(command.rows.front().renewal), 0, 0};
  }
  Subject operator()(const LeaseMoved& command) const { return {2, number(command.job), 0, 0}; }
  Subject operator()(const WorkflowReceived& command) const {
    return {3, number(command.fence.job), command.fence.slot, command.status.workflow};
  }
  Subject operator()(const JobCancelled& command) const { return {4, number(command.job), 0, 0}; }
  Subject operator()(const EndAcknowledged& command) const { return {5, number(command.job), 0, 0}; }
  Subject operator()(const GateJobForgotten& command) const { return {6, number(command.job), 0, 0}; }
  template <class Slot>
  Subject operator()(const Slot& command) const {
    return {kSlotKind, number(command.fence.job), command.fence.slot, 0};
  }
};

}  // namespace

Subject subject_of(const GateCommand& command) {
  return std::visit(GateSubjectOf{}, command);
}

std::span<const BodyRef> named_by(const GateCommand& command) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&command)) return {&submitted->bundle, 1};
  if (const auto* received = std::get_if<WorkflowReceived>(&command)) return received->status.results;
  return {};
}

template class LogProposals<GateEntry, GateOptions>;

}  // namespace muster::cluster
