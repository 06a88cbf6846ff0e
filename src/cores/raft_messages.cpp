#include "cores/raft_messages.h"

#include <algorithm>

#include "cores/options.h"

namespace muster::cores {
namespace {

bool strictly_ascending(const std::vector<base::NodeId>& nodes) {
  const auto not_rising = [](base::NodeId left, base::NodeId right) { return left >= right; };
  return std::adjacent_find(nodes.begin(), nodes.end(), not_rising) == nodes.end() &&
         (nodes.empty() || nodes.front() != base::kNoNode);
}

}  // namespace

bool RaftMembers::is_voter(base::NodeId node) const {
  return std::binary_search(voters.begin(), voters.end(), node);
}

bool RaftMembers::is_learner(base::NodeId node) const {
  return std::binary_search(learners.begin(), learners.end(), node);
}

bool well_formed(const RaftMembers& members) {
  if (members.voters.size() + members.learners.size() > kRaftMaxMembers) return false;
  if (!strictly_ascending(members.voters) || !strictly_ascending(members.learners)) return false;
  return std::none_of(members.learners.begin(), members.learners.end(),
                      [&](base::NodeId node) { return members.is_voter(node); });
}

bool consecutive(RaftIndex index, RaftTerm term, const std::vector<RaftEntry>& entries) {
  for (const RaftEntry& entry : entries) {
    const bool follows = entry.index == ++index && entry.term >= term && entry.term > 0;
    const bool governs = entry.kind == RaftEntryKind::kMembers && !entry.members.voters.empty();
    const bool plain = entry.kind != RaftEntryKind::kMembers && entry.members == RaftMembers{};
    if (!follows || !(governs || plain) || !well_formed(entry.members)) return false;
    if (entry.command.size() > kRaftMaxCommandBytes) return false;
    term = entry.term;
  }
  return true;
}

const std::string& RaftSnapshot::bytes() const {
  static const std::string kEmpty;
  return state ? *state : kEmpty;
}

bool RaftSnapshot::operator==(const RaftSnapshot& other) const {
  return index == other.index && term == other.term && members == other.members &&
         members_index == other.members_index && bytes() == other.bytes();
}

}  // namespace muster::cores
