// Lending entries to a candidate. If the only member with links to a majority has a shorter log than those it reaches,
// plain Raft elects nobody: they refuse it, and cannot be elected themselves. So a member whose own elections came to
// nothing lends the candidate what it lacks.
//
// Why this is safe: the borrower's log becomes a prefix of the lender's that is more up to date than its own. A prefix
// that ends in term t holds all that was committed in terms before t, since it is what t's leader had; and of two logs
// that end in the same term the longer one holds the shorter. So no committed entry is dropped. The borrower leaves the
// term in which it borrowed: a leader of that term never counts on what it answered before. An entry that was borrowed
// counts for nothing until a leader has it acknowledged as any other.
#include <algorithm>
#include <utility>

#include "cores/raft.h"

namespace muster::cores {
namespace {

// Before these the candidate and the lender may simply not have had their turn.
constexpr std::uint32_t kFruitlessElections = 2;

}  // namespace

void Raft::lend(base::NodeId to, const RaftVoteRequest& request) {
  if (fruitless_ < kFruitlessElections || !members().is_voter(to)) return;
  const bool same_tail = log_.holds(request.last_index, request.last_term);
  const RaftIndex prev = same_tail ? request.last_index : request.commit;
  const auto prev_term = log_.term_at(prev);
  if (!prev_term || prev >= log_.last()) return;
  send(to, RaftLoan{.prev_index = prev,
                    .prev_term = *prev_term,
                    .entries = log_.batch(prev + 1, options_.batch_entries, options_.batch_bytes)});
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftLoan& loan) {
  if (hears_leader() || fruitless_ == 0 || !members().is_voter(from) || loan.entries.empty()) return;
  if (!consecutive(loan.prev_index, loan.prev_term, loan.entries)) return;
  const RaftEntry& end = loan.entries.back();
  const bool gains = end.term > log_.last_term() || (end.term == log_.last_term() && end.index > log_.last());
  if (!gains || end.term > std::max(term, hard_.term) || loan.prev_index < commit_) return;
  if (!log_.holds(loan.prev_index, loan.prev_term)) return;
  if (room_for(loan.prev_index, loan.entries) < loan.entries.size()) return;
  become_follower(std::max(term, hard_.term) + 1, base::kNoNode);
  store(loan.prev_index, loan.entries);
  ask_before_election();
}

}  // namespace muster::cores
