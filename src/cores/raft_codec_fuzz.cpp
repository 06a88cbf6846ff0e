// Whatever decodes is within the limits, encodes to the very bytes it came from, and does a node that gets it no harm:
// from outside its configuration it changes nothing, from inside it undoes nothing that is committed.
// covers: cores/raft_codec.cpp cores/raft_wire.cpp cores/raft_messages.cpp
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cores/raft.h"
#include "cores/raft_codec.h"

namespace muster::cores {
namespace {

using base::require;

void require_entries(const std::vector<RaftEntry>& entries, RaftIndex behind) {
  require(entries.size() <= kRaftMaxBatchEntries && consecutive(behind, 0, entries));
  for (const RaftEntry& entry : entries) require(entry.command.size() <= kRaftMaxCommandBytes);
}

void require_limits(const RaftMessage& message) {
  require(message.term <= kRaftMaxTerm);
  if (const auto* append = std::get_if<RaftAppend>(&message.body)) require_entries(append->entries, append->prev_index);
  if (const auto* loan = std::get_if<RaftLoan>(&message.body)) require_entries(loan->entries, loan->prev_index);
  if (const auto* part = std::get_if<RaftSnapshotPart>(&message.body)) {
    require(well_formed(part->members) && part->total_bytes <= kRaftMaxSnapshotBytes);
    require(part->offset + part->data.size() <= part->total_bytes);
  }
}

// A follower of node 2 in term 3 with two committed entries and one that is not.
Raft follower(base::Instant now) {
  RaftImage image = founding_image({base::NodeId{1}, base::NodeId{2}, base::NodeId{3}});
  image.hard.term = 3;
  Raft raft(base::NodeId{1}, {}, 1, std::move(image), now);
  RaftAppend append{0, 0, 2, 0, now, 0, {}};
  for (RaftIndex index = 1; index <= 3; ++index) {
    append.entries.push_back({index, 3, RaftEntryKind::kCommand, std::to_string(index), {}});
  }
  raft.receive(base::NodeId{2}, {3, std::move(append)}, now);
  raft.take();
  return raft;
}

void require_harmless(const RaftMessage& message) {
  const base::Instant now(std::chrono::seconds(1));
  for (const std::uint64_t from : {2u, 3u, 9u}) {
    Raft raft = follower(now);
    raft.receive(base::NodeId{from}, message, now);
    const RaftEffects effects = raft.take();
    require(raft.commit() >= 2 && raft.term() >= 3 && raft.log().last() >= raft.commit());
    const bool spreads = std::holds_alternative<RaftTimeoutNow>(message.body);
    for (const RaftSend& send : effects.sends) require(spreads || send.to == base::NodeId{from});
    if (from == 9) require(effects.empty() && raft.log().last() == 3);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_raft_message(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  require_limits(*decoded);
  std::string bytes;
  encode(*decoded, bytes);
  require(bytes == input);
  require_harmless(*decoded);
  return 0;
}

}  // namespace muster::cores
