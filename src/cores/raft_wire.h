// The pieces that messages and journal records of Raft have in common, as bytes. Readers trust nothing: their failure
// sticks to the reader, as metrics/wire.h says.
#pragma once

#include <vector>

#include "cores/raft_messages.h"
#include "metrics/wire.h"

namespace muster::cores {

// A term or an index: at most kRaftMaxTerm.
std::uint64_t read_number(metrics::Reader& reader);

void write(metrics::Writer& writer, const RaftMembers& members);
RaftMembers read_members(metrics::Reader& reader);

// Entries that follow one another; the index of the first is told beside them.
void write(metrics::Writer& writer, const std::vector<RaftEntry>& entries);
std::vector<RaftEntry> read_entries(metrics::Reader& reader, RaftIndex first, std::size_t limit);

}  // namespace muster::cores
