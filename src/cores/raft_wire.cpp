#include "cores/raft_wire.h"

#include "cores/options.h"

namespace muster::cores {
namespace {

using metrics::Reader;
using metrics::Writer;

constexpr std::uint64_t kKinds = static_cast<std::uint64_t>(RaftEntryKind::kMembers) + 1;

// Kind, term, and a command or a configuration.
constexpr std::size_t kLeastEntryBytes = 2;

void write_nodes(Writer& writer, const std::vector<base::NodeId>& nodes) {
  writer.varint(nodes.size());
  for (const base::NodeId node : nodes) writer.varint(base::number(node));
}

std::vector<base::NodeId> read_nodes(Reader& reader) {
  std::vector<base::NodeId> nodes(reader.length(kRaftMaxMembers));
  for (base::NodeId& node : nodes) node = base::NodeId{reader.varint()};
  return nodes;
}

RaftEntry read_entry(Reader& reader, RaftIndex index) {
  RaftEntry entry;
  entry.index = index;
  entry.kind = static_cast<RaftEntryKind>(reader.varint_below(kKinds));
  entry.term = read_number(reader);
  if (entry.kind == RaftEntryKind::kCommand) entry.command = reader.text(kRaftMaxCommandBytes);
  if (entry.kind == RaftEntryKind::kMembers) entry.members = read_members(reader);
  return entry;
}

}  // namespace

std::uint64_t read_number(Reader& reader) {
  return reader.varint_below(kRaftMaxTerm + 1);
}

void write(Writer& writer, const RaftMembers& members) {
  write_nodes(writer, members.voters);
  write_nodes(writer, members.learners);
}

RaftMembers read_members(Reader& reader) {
  RaftMembers members;
  members.voters = read_nodes(reader);
  members.learners = read_nodes(reader);
  if (!well_formed(members)) reader.fail("a configuration is unordered, too large or names a member twice");
  return members;
}

void write(Writer& writer, const std::vector<RaftEntry>& entries) {
  writer.varint(entries.size());
  for (const RaftEntry& entry : entries) {
    writer.varint(static_cast<std::uint64_t>(entry.kind));
    writer.varint(entry.term);
    if (entry.kind == RaftEntryKind::kCommand) writer.text(entry.command);
    if (entry.kind == RaftEntryKind::kMembers) write(writer, entry.members);
  }
}

std::vector<RaftEntry> read_entries(Reader& reader, RaftIndex first, std::size_t limit) {
  const std::size_t count = reader.length(limit, kLeastEntryBytes);
  std::vector<RaftEntry> entries;
  // Not reserved: an entry takes far more memory than its bytes, and those that are announced may not come.
  for (std::size_t i = 0; i < count && reader.ok(); ++i) entries.push_back(read_entry(reader, first + i));
  if (!consecutive(first - 1, 0, entries)) reader.fail("entries do not follow one another");
  return entries;
}

}  // namespace muster::cores
