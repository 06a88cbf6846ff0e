// The follower's side of replication: what is stored of an append, and what its answer may claim (dissertation, 3.5).
#include <algorithm>
#include <span>

#include "cores/raft.h"

namespace muster::cores {

void Raft::on(base::NodeId from, RaftTerm term, const RaftAppend& append) {
  if (term < hard_.term) {
    // A leader of the past learns from the answer's term that it is one. The stamp is not echoed: it is no proof of
    // anything in our term.
    if (member(from)) send(from, mismatch(append.prev_index, append.prev_term));
    return;
  }
  if (!storable(append, term) || !follow(from, term, append.members_index)) return;
  // Up to the commit index both logs are equal, though this one may have forgotten what stood there.
  const bool matches = append.prev_index <= commit_ || log_.holds(append.prev_index, append.prev_term);
  if (!matches) {
    RaftAppendReply refusal = mismatch(append.prev_index, append.prev_term);
    refusal.stamp = append.stamp;
    refusal.round = append.round;
    return send(from, refusal);
  }
  const std::span<const RaftEntry> entries(append.entries.data(), room_for(append.prev_index, append.entries));
  const RaftIndex stored = store(append.prev_index, entries);
  commit_to(std::min(append.commit, stored));
  // Until an entry of its own term is committed a leader may not know of all that is. And a message may have been on
  // its way for long: what it says was so when its leader had our last answer, which we know the time of.
  const bool known = append.echo > started_ && append.echo <= now_;
  if (known && commit_ >= append.commit && log_.holds(commit_, term)) {
    caught_up_at_ = std::max(caught_up_at_.value_or(append.echo), append.echo);
  }
  // A heartbeat is answered at once, with what is durable of it: a slow disk must not make a node look dead.
  const bool heartbeat = entries.empty();
  const RaftIndex claimed = heartbeat ? std::min(stored, log_.durable()) : stored;
  send(from,
       RaftAppendReply{.accepted = true,
                       .index = claimed,
                       .hint_index = stored,
                       .hint_term = 0,
                       .stamp = append.stamp,
                       .round = append.round,
                       .told = now_},
       heartbeat ? 0 : log_.ticket_of(claimed));
}

bool Raft::storable(const RaftAppend& append, RaftTerm term) const {
  if (append.prev_index > kRaftMaxTerm || append.prev_term > term) return false;
  return consecutive(append.prev_index, append.prev_term, append.entries) &&
         (append.entries.empty() || append.entries.back().term <= term);
}

// Stores entries that follow `behind`, where the logs agree, and gives the last of them that is stored. What is here
// already is left alone, so that an old message shortens nothing; what contradicts is dropped with all behind it.
RaftIndex Raft::store(RaftIndex behind, std::span<const RaftEntry> entries) {
  for (const RaftEntry& entry : entries) {
    if (entry.index <= commit_ || log_.holds(entry.index, entry.term)) continue;
    if (entry.index <= log_.last()) {
      if (entry.index <= log_.written()) write(RaftTruncate{entry.index});
      log_.truncate(entry.index);
    }
    log_.append(entry);
  }
  write_entries();
  return behind + entries.size();
}

// How many of these entries there is room for behind the snapshot. A leader is content with less than it sent.
std::size_t Raft::room_for(RaftIndex behind, const std::vector<RaftEntry>& entries) const {
  const RaftIndex base = log_.snapshot().index;
  std::size_t bytes = log_.bytes_behind(base) - log_.bytes_behind(std::max(behind, base));
  std::size_t count = 0;
  for (const RaftEntry& entry : entries) {
    if (entry.index > base) bytes += entry.bytes();
    if (entry.index > base + options_.log_entries || bytes > options_.log_bytes) break;
    ++count;
  }
  return count;
}

// The highest index at which the logs may agree, as far as can be told here: entries of a term later than the leader's
// previous one cannot be the leader's.
RaftAppendReply Raft::mismatch(RaftIndex prev_index, RaftTerm prev_term) const {
  RaftIndex hint = std::min(prev_index, log_.last());
  while (hint > commit_ && hint >= log_.first() && log_.at(hint).term > prev_term) --hint;
  return {.accepted = false,
          .index = prev_index,
          .hint_index = hint,
          .hint_term = log_.term_at(hint).value_or(0),
          .stamp = {},
          .round = 0};
}

}  // namespace muster::cores
