// Snapshots: taking one, and sending one in parts to a follower whose next entries are gone (dissertation, chapter 5).
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "cores/raft.h"

namespace muster::cores {

bool Raft::compact(RaftIndex index, std::string state) {
  const bool sound = index <= handed_out_ && !snapshot_to_apply_ && index > log_.snapshot().index &&
                     state.size() <= kRaftMaxSnapshotBytes && role_ != RaftRole::kStopped;
  if (!sound) return false;
  stirred_ = true;
  log_.compact(index, std::move(state), options_.kept_entries);
  checkpoint();
  return true;
}

void Raft::begin_snapshot(RaftProgress& progress) {
  progress.mode = RaftProgress::Mode::kSnapshot;
  progress.in_flight.clear();
  progress.snapshot = log_.snapshot();
  progress.snapshot_hash = base::hash_of(progress.snapshot.bytes());
  progress.offset = 0;
  progress.part_sent = false;
}

void Raft::send_part(base::NodeId to, RaftProgress& progress, bool with_data) {
  const RaftSnapshot& snapshot = progress.snapshot;
  RaftSnapshotPart part{.index = snapshot.index,
                        .snapshot_term = snapshot.term,
                        .members = snapshot.members,
                        .snapshot_members_index = snapshot.members_index,
                        .members_index = log_.members_index(),
                        .total_bytes = snapshot.bytes().size(),
                        .total_hash = progress.snapshot_hash,
                        .offset = progress.offset,
                        .stamp = now_,
                        .round = round_,
                        .data = {}};
  if (with_data) {
    part.data = snapshot.bytes().substr(static_cast<std::size_t>(progress.offset), options_.snapshot_part_bytes);
    progress.part_sent = true;
    progress.part_sent_at = now_;
  }
  send(to, std::move(part));
}

// The vote goes into it with the rest: what was written before may be deleted.
void Raft::checkpoint() {
  log_.wrote(write(RaftCheckpoint{log_.image(hard_)}));
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftSnapshotPart& part) {
  if (term < hard_.term) {
    const RaftSnapshotReply refusal{.index = part.index, .done = false, .next = 0, .stamp = {}, .round = 0};
    if (member(from)) send(from, refusal);
    return;
  }
  const bool sound = well_formed(part.members) && !part.members.voters.empty() && part.index <= kRaftMaxTerm &&
                     part.snapshot_term <= term && part.snapshot_members_index <= part.index &&
                     part.total_bytes <= kRaftMaxSnapshotBytes && part.offset <= part.total_bytes &&
                     part.data.size() <= part.total_bytes - part.offset;
  if (!sound || !follow(from, term, part.members_index)) return;
  RaftSnapshotReply reply{
      .index = part.index, .done = part.index <= commit_, .next = 0, .stamp = part.stamp, .round = part.round};
  if (!reply.done) {
    reply.next = gather(part);
    reply.done = part.index <= commit_;
  }
  send(from, reply, reply.done ? log_.ticket_of(part.index) : 0);
}

// Adds a part to what came before it and installs what is complete. Gives the offset that is wanted next.
std::uint64_t Raft::gather(const RaftSnapshotPart& part) {
  const bool same = incoming_ && incoming_->snapshot.index == part.index &&
                    incoming_->snapshot.term == part.snapshot_term && incoming_->total_bytes == part.total_bytes &&
                    incoming_->total_hash == part.total_hash;
  if (!same) {
    RaftSnapshot snapshot{part.index, part.snapshot_term, part.members, part.snapshot_members_index, nullptr};
    incoming_ = Incoming{std::move(snapshot), part.total_bytes, part.total_hash, {}};
  }
  if (part.offset == incoming_->bytes.size()) incoming_->bytes += part.data;
  if (incoming_->bytes.size() < part.total_bytes) return incoming_->bytes.size();
  Incoming complete = std::move(*incoming_);
  incoming_.reset();
  if (base::hash_of(complete.bytes) != complete.total_hash) return 0;
  complete.snapshot.state = std::make_shared<const std::string>(std::move(complete.bytes));
  log_.install(std::move(complete.snapshot));
  commit_ = handed_out_ = part.index;
  snapshot_to_apply_ = true;
  checkpoint();
  return part.total_bytes;
}

void Raft::on(base::NodeId from, RaftTerm term, const RaftSnapshotReply& reply) {
  if (overtaken(from, term) || term < hard_.term) return;
  const auto found = progress_.find(from);
  if (!leads() || found == progress_.end()) return;
  RaftProgress& progress = found->second;
  heard(progress, reply.stamp, reply.round);
  if (progress.mode != RaftProgress::Mode::kSnapshot || reply.index != progress.snapshot.index) return;
  if (reply.done) {
    progress.match = std::max(progress.match, reply.index);
    progress.mode = RaftProgress::Mode::kProbe;
    progress.asked = false;
    progress.next = progress.match + 1;
    progress.snapshot = {};
    advance_commit();
    return;
  }
  // Offsets go on with an answer to the part under way, or start anew with one to something sent after it. Doubled
  // answers would else double the parts from then on.
  const bool advances = reply.next > progress.offset;
  const bool lost = reply.stamp > progress.part_sent_at;
  if (!(advances || lost) || reply.next >= progress.snapshot.bytes().size()) return;
  progress.offset = reply.next;
  progress.part_sent = false;
}

}  // namespace muster::cores
