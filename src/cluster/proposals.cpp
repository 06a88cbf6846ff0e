#include "cluster/proposals.h"

#include <algorithm>

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
};

}  // namespace

Subject subject_of(const Command& command) {
  return std::visit(SubjectOf{}, command);
}

void Proposals::standing(const LogStanding& standing, base::Instant now, Effects& effects) {
  const bool moved = standing.leader != standing_.leader || standing.term != standing_.term;
  standing_ = standing;
  if (!moved || standing.leader == kNoNode) return;
  for (auto& [sequence, waiting] : waiting_) send(waiting, now, effects);
}

std::optional<std::uint64_t> Proposals::propose(Command command, base::Instant now, Effects& effects) {
  const Subject subject = subject_of(command);
  if (waiting_.size() >= kMaxProposals || !subjects_.insert(subject).second) return std::nullopt;
  const std::uint64_t sequence = ++last_;
  Waiting& waiting = waiting_[sequence];
  waiting.subject = subject;
  waiting.entry = {self_, sequence, std::move(command)};
  waiting.give_up = now + options_.quorum_timeout;
  waiting.due = now;
  due_.emplace(now, sequence);
  send(waiting, now, effects);
  return sequence;
}

bool Proposals::applied(const Entry& entry, base::Instant now) {
  if (entry.proposer != self_) return false;
  const auto at = waiting_.find(entry.sequence);
  if (at == waiting_.end()) return false;
  circuit_.succeeded(now);
  remove(at);
  return true;
}

std::vector<Proposals::TimedOut> Proposals::wake(base::Instant now, Effects& effects) {
  std::vector<TimedOut> timed_out;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = waiting_.find(due_.begin()->second);
    if (now < at->second.give_up) {
      send(at->second, now, effects);
      continue;
    }
    timed_out.push_back({at->first, std::move(at->second.entry.command)});
    remove(at);
  }
  if (!timed_out.empty()) circuit_.failed(now);
  return timed_out;
}

base::Instant Proposals::deadline() const {
  return due_.empty() ? base::kNever : due_.begin()->first;
}

// What this node's own core has taken is lost only with its leadership, which is told; a message can be lost at any
// time.
void Proposals::send(Waiting& waiting, base::Instant now, Effects& effects) {
  std::string bytes;
  encode(waiting.entry, bytes);
  base::Duration again = options_.repropose;
  if (standing_.leader == self_.node) {
    effects.push_back(Propose{std::move(bytes)});
    again *= 4;
  } else if (standing_.leader != kNoNode) {
    effects.push_back(Send{standing_.leader, Forward{std::move(bytes)}});
  }
  reschedule(waiting.entry.sequence, waiting, std::min(now + again, waiting.give_up));
}

void Proposals::reschedule(std::uint64_t sequence, Waiting& waiting, base::Instant due) {
  due_.erase({waiting.due, sequence});
  waiting.due = due;
  due_.emplace(due, sequence);
}

void Proposals::remove(Table::iterator at) {
  due_.erase({at->second.due, at->first});
  subjects_.erase(at->second.subject);
  waiting_.erase(at);
}

}  // namespace muster::cluster
