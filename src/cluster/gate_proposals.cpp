#include "cluster/gate_proposals.h"

#include <algorithm>

#include "cluster/gate_command_codec.h"

namespace muster::cluster {
namespace {

// A slot's phases exclude each other, so all commands that change them have one subject.
constexpr std::size_t kSlotKind = 100;

struct SubjectOf {
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
  return std::visit(SubjectOf{}, command);
}

void GateProposals::standing(const LogStanding& standing, base::Instant now, Effects& effects) {
  const bool moved = standing.leader != standing_.leader || standing.term != standing_.term;
  standing_ = standing;
  if (!moved || standing.leader == kNoNode) return;
  for (auto& [sequence, waiting] : waiting_) send(waiting, now, effects);
}

std::optional<std::uint64_t> GateProposals::propose(GateCommand command, base::Instant now, Effects& effects) {
  const Subject subject = subject_of(command);
  if (waiting_.size() >= kMaxProposals || !subjects_.insert(subject).second) return std::nullopt;
  const std::uint64_t sequence = ++last_;
  Waiting& waiting = waiting_[sequence];
  waiting = {subject, {self_, sequence, std::move(command)}, now + options_.quorum_timeout, now};
  due_.emplace(now, sequence);
  send(waiting, now, effects);
  return sequence;
}

bool GateProposals::applied(const GateEntry& entry, base::Instant now) {
  if (entry.proposer != self_) return false;
  const auto at = waiting_.find(entry.sequence);
  if (at == waiting_.end()) return false;
  circuit_.succeeded(now);
  remove(at);
  return true;
}

std::vector<GateCommand> GateProposals::wake(base::Instant now, Effects& effects) {
  std::vector<GateCommand> timed_out;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = waiting_.find(due_.begin()->second);
    if (now < at->second.give_up) {
      send(at->second, now, effects);
      continue;
    }
    timed_out.push_back(std::move(at->second.entry.command));
    remove(at);
  }
  if (!timed_out.empty()) circuit_.failed(now);
  return timed_out;
}

// What this node's own core has taken is lost only with its leadership, which is told; a message can be lost at any
// time.
void GateProposals::send(Waiting& waiting, base::Instant now, Effects& effects) {
  std::string bytes;
  encode(waiting.entry, bytes);
  base::Duration again = options_.repropose;
  if (standing_.leader == self_.node) {
    effects.push_back(Propose{std::move(bytes)});
    again *= 4;
  } else if (standing_.leader != kNoNode) {
    effects.push_back(Send{standing_.leader, Forward{std::move(bytes)}});
  }
  due_.erase({waiting.due, waiting.entry.sequence});
  waiting.due = std::min(now + again, waiting.give_up);
  due_.emplace(waiting.due, waiting.entry.sequence);
}

void GateProposals::remove(Table::iterator at) {
  due_.erase({at->second.due, at->first});
  subjects_.erase(at->second.subject);
  waiting_.erase(at);
}

}  // namespace muster::cluster
