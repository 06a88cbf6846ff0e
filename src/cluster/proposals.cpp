#include "cluster/proposals.h"

#include "cluster/command_codec.h"

namespace muster::cluster {
namespace {

struct SubjectOf {
  Subject operator()(const JobAccepted& command) const { return {0, number(command.job), 0, 0}; }
  Subject operator()(const JobOwner& command) const { return {1, number(command.job), 0, 0}; }
  Subject operator()(const Provision& command) const { return {2, number(command.job), command.workflow, 0}; }
  Subject operator()(const PartLost& command) const {
    return {3, number(command.part.job), command.part.workflow, command.part.part};
  }
  Subject operator()(const LayerContext& command) const { return {4, number(command.job), 0, 0}; }
  Subject operator()(const ResultHeld& command) const {
    return {5, number(command.part.job), command.part.workflow, command.part.part};
  }
  Subject operator()(const JobEnded& command) const { return {6, number(command.job), 0, 0}; }
  Subject operator()(const CancelRequested& command) const { return {7, number(command.job), 0, 0}; }
  Subject operator()(const WorkerAdmitted& command) const { return {8, base::number(command.worker.node), 0, 0}; }
  Subject operator()(const WorkerEvicted& command) const { return {9, base::number(command.worker.node), 0, 0}; }
  Subject operator()(const JobForgotten& command) const { return {10, number(command.job), 0, 0}; }
  Subject operator()(const Configuration& command) const { return {11, command.version, 0, 0}; }
  Subject operator()(const CoresDone& command) const {
    return {12, number(command.part.job), command.part.workflow, command.part.part};
  }
};

}  // namespace

Subject subject_of(const Command& command) {
  return std::visit(SubjectOf{}, command);
}

std::span<const BodyRef> named_by(const Command& command) {
  if (const auto* accepted = std::get_if<JobAccepted>(&command)) return {&accepted->bundle, 1};
  if (const auto* context = std::get_if<LayerContext>(&command)) return {&context->body, 1};
  if (const auto* held = std::get_if<ResultHeld>(&command)) return {&held->body, 1};
  return {};
}

template class LogProposals<Entry, ManagerOptions>;

}  // namespace muster::cluster
