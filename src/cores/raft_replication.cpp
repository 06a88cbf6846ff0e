// The leader's side of replication: what is sent to whom, what counts as committed, and whether a majority still
// answers (dissertation, 3.5, 6.2 and 6.4).
#include <algorithm>
#include <array>
#include <functional>

#include "cores/raft.h"

namespace muster::cores {
namespace {

using Mode = RaftProgress::Mode;

// The value that a majority of the voters has reached: `value` of self counts like the others'.
template <class Value, class Of>
Value reached_by_majority(const RaftMembers& members, Of&& of) {
  std::array<Value, kRaftMaxMembers> values;
  std::size_t count = 0;
  for (const base::NodeId voter : members.voters) values[count++] = of(voter);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(members.majority() - 1);
  std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
  return *middle;
}

}  // namespace

void Raft::on(base::NodeId from, RaftTerm term, const RaftAppendReply& reply) {
  if (overtaken(from, term) || term < hard_.term) return;
  const auto found = progress_.find(from);
  if (!leads() || found == progress_.end() || reply.index > log_.last()) return;
  RaftProgress& progress = found->second;
  heard(progress, reply.stamp, reply.round);
  if (!reply.accepted) return refused(progress, reply);
  progress.told = reply.told;
  progress.match = std::max(progress.match, reply.index);
  while (!progress.in_flight.empty() && progress.in_flight.front() <= progress.match) progress.in_flight.pop_front();
  const bool resumes = progress.mode == Mode::kSnapshot && progress.match + 1 >= log_.first();
  if (progress.mode == Mode::kProbe || resumes) {
    progress.mode = Mode::kReplicate;
    progress.in_flight.clear();
    progress.next = std::clamp(reply.hint_index, progress.match, log_.last()) + 1;
  }
  progress.next = std::max(progress.next, progress.match + 1);
  advance_commit();
  if (leads() && transfer_ && transfer_->to == from) hand_over();
}

// Refusals may come late or twice; only one that answers what is under way moves anything.
void Raft::refused(RaftProgress& progress, const RaftAppendReply& reply) {
  if (progress.mode == Mode::kSnapshot || reply.index <= progress.match) return;
  if (progress.mode == Mode::kProbe && reply.index != progress.next - 1) return;
  RaftIndex agreed = std::min(reply.hint_index, reply.index - 1);
  while (agreed > progress.match && log_.term_at(agreed).value_or(0) > reply.hint_term) --agreed;
  progress.mode = Mode::kProbe;
  progress.in_flight.clear();
  progress.asked = false;
  progress.next = std::max(agreed, progress.match) + 1;
}

// Only what was sent in this leadership proves anything about it, and nothing can have been sent later than now.
void Raft::heard(RaftProgress& progress, base::Instant stamp, std::uint64_t round) {
  if (stamp < leader_since_ || stamp > now_ || round > round_) return;
  progress.answered = true;
  progress.acked = std::max(progress.acked, stamp);
  quorum_acked_.reset();
  progress.round = std::max(progress.round, round);
  confirm_reads();
}

void Raft::replicate(base::NodeId to, RaftProgress& progress) {
  if (progress.mode != Mode::kSnapshot && !log_.term_at(progress.next - 1)) begin_snapshot(progress);
  switch (progress.mode) {
    case Mode::kSnapshot:
      if (!progress.part_sent) send_part(to, progress, true);
      return;
    case Mode::kProbe:
      if (!progress.asked) send_append(to, progress, true);
      return;
    case Mode::kReplicate:
      break;
  }
  while (progress.next <= log_.last() && progress.in_flight.size() < options_.window) send_append(to, progress, true);
  if (progress.commit_sent < commit_ && progress.commit_sent < progress.next - 1) send_append(to, progress, false);
}

void Raft::send_append(base::NodeId to, RaftProgress& progress, bool with_entries) {
  RaftAppend append{.prev_index = progress.next - 1,
                    .prev_term = log_.term_at(progress.next - 1).value_or(0),
                    .commit = commit_,
                    .members_index = log_.members_index(),
                    .stamp = now_,
                    .round = round_,
                    .entries = {},
                    .echo = progress.told};
  if (with_entries) append.entries = log_.batch(progress.next, options_.batch_entries, options_.batch_bytes);
  const RaftIndex end = append.prev_index + append.entries.size();
  progress.commit_sent = std::max(progress.commit_sent, std::min(commit_, end));
  if (progress.mode == Mode::kProbe) {
    progress.asked = true;
  } else if (!append.entries.empty()) {
    progress.next = end + 1;
    progress.in_flight.push_back(end);
  }
  send(to, std::move(append));
}

void Raft::heartbeat() {
  heartbeat_due_ = now_ + options_.heartbeat;
  start_read_round();
  for (auto& [node, progress] : progress_) heartbeat(node, progress);
  hand_over();
}

// Without entries: what was lost shows in the answer, and a node that is down costs little.
void Raft::heartbeat(base::NodeId to, RaftProgress& progress) {
  if (progress.mode != Mode::kSnapshot && !log_.term_at(progress.next - 1)) begin_snapshot(progress);
  if (progress.mode == Mode::kSnapshot) return send_part(to, progress, false);
  send_append(to, progress, false);
}

// What gathered since the last take() goes out together.
void Raft::lead_on() {
  const bool round_under_way = !reads_.empty() && reads_.front().round <= round_;
  const bool reads_wait = !reads_.empty() && reads_.back().round > round_;
  if (reads_wait && !round_under_way) {
    start_read_round();
    for (auto& [node, progress] : progress_) {
      if (members().is_voter(node)) heartbeat(node, progress);
    }
    confirm_reads();
  }
  for (auto& [node, progress] : progress_) replicate(node, progress);
}

// By counting, only an entry of the own term is committed (dissertation, 3.6.2, figure 3.7); the own log counts as far
// as it is durable, and only if this node votes.
void Raft::advance_commit() {
  const auto index = reached_by_majority<RaftIndex>(
      members(), [&](base::NodeId voter) { return voter == self_ ? log_.durable() : progress_.at(voter).match; });
  if (index <= commit_ || !log_.holds(index, hard_.term)) return;
  commit_to(index);
  confirm_reads();
  if (members_committed() && !is_voter()) retire();
}

base::Instant Raft::quorum_acked() const {
  return reached_by_majority<base::Instant>(
      members(), [&](base::NodeId voter) { return voter == self_ ? base::kNever : progress_.at(voter).acked; });
}

// Counted from when the answered messages were sent: an answer says that its sender followed us then, not that it does
// now.
base::Instant Raft::quorum_due() const {
  if (!quorum_acked_) quorum_acked_ = quorum_acked();
  const base::Instant acked = *quorum_acked_;
  return acked == base::kNever ? base::kNever : acked + 2 * options_.election_timeout;
}

void Raft::start_read_round() {
  if (!reads_.empty() && reads_.back().round > round_) ++round_;
}

void Raft::confirm_reads() {
  if (reads_.empty() || commit_ < opening_) return;
  const auto confirmed = reached_by_majority<std::uint64_t>(
      members(), [&](base::NodeId voter) { return voter == self_ ? round_ : progress_.at(voter).round; });
  for (; !reads_.empty() && reads_.front().round <= confirmed; reads_.pop_front()) {
    answer(reads_.front().request, RaftOutcome::kReadReady, std::max(reads_.front().index, opening_));
  }
}

}  // namespace muster::cores
