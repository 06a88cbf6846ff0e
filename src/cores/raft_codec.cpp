#include "cores/raft_codec.h"

#include <fmt/format.h>

#include <utility>

#include "cores/options.h"
#include "cores/raft_wire.h"

namespace muster::cores {
namespace {

using metrics::Reader;
using metrics::Writer;

using Body = decltype(RaftMessage::body);

void write_instant(Writer& writer, base::Instant instant) {
  writer.zigzag(instant.time_since_epoch().count());
}

base::Instant read_instant(Reader& reader) {
  return base::Instant(base::Duration(reader.zigzag()));
}

void write_body(Writer& writer, const RaftVoteRequest& body) {
  writer.boolean(body.pre);
  writer.boolean(body.transfer);
  writer.varint(body.asked);
  writer.varint(body.last_index);
  writer.varint(body.last_term);
  writer.varint(body.commit);
  writer.varint(body.members_index);
}

void read_body(Reader& reader, RaftVoteRequest& body) {
  body.pre = reader.boolean();
  body.transfer = reader.boolean();
  body.asked = reader.varint_below(kRaftMaxTerm + 2);  // a pre-vote asks for the term after the sender's
  body.last_index = read_number(reader);
  body.last_term = read_number(reader);
  body.commit = read_number(reader);
  body.members_index = read_number(reader);
}

void write_body(Writer& writer, const RaftVoteReply& body) {
  writer.boolean(body.pre);
  writer.boolean(body.granted);
  writer.varint(body.asked);
}

void read_body(Reader& reader, RaftVoteReply& body) {
  body.pre = reader.boolean();
  body.granted = reader.boolean();
  body.asked = reader.varint_below(kRaftMaxTerm + 2);
}

void write_body(Writer& writer, const RaftAppend& body) {
  writer.varint(body.prev_index);
  writer.varint(body.prev_term);
  writer.varint(body.commit);
  writer.varint(body.members_index);
  write_instant(writer, body.stamp);
  writer.varint(body.round);
  write(writer, body.entries);
  write_instant(writer, body.echo);
}

void read_body(Reader& reader, RaftAppend& body) {
  body.prev_index = read_number(reader);
  body.prev_term = read_number(reader);
  body.commit = read_number(reader);
  body.members_index = read_number(reader);
  body.stamp = read_instant(reader);
  body.round = reader.varint();
  body.entries = read_entries(reader, body.prev_index + 1, kRaftMaxBatchEntries);
  body.echo = read_instant(reader);
}

void write_body(Writer& writer, const RaftAppendReply& body) {
  writer.boolean(body.accepted);
  writer.varint(body.index);
  writer.varint(body.hint_index);
  writer.varint(body.hint_term);
  write_instant(writer, body.stamp);
  writer.varint(body.round);
  write_instant(writer, body.told);
}

void read_body(Reader& reader, RaftAppendReply& body) {
  body.accepted = reader.boolean();
  body.index = read_number(reader);
  body.hint_index = read_number(reader);
  body.hint_term = read_number(reader);
  body.stamp = read_instant(reader);
  body.round = reader.varint();
  body.told = read_instant(reader);
}

void write_body(Writer& writer, const RaftSnapshotPart& body) {
  writer.varint(body.index);
  writer.varint(body.snapshot_term);
  write(writer, body.members);
  writer.varint(body.snapshot_members_index);
  writer.varint(body.members_index);
  writer.varint(body.total_bytes);
  writer.fixed64(body.total_hash);
  writer.varint(body.offset);
  write_instant(writer, body.stamp);
  writer.varint(body.round);
  writer.text(body.data);
}

void read_body(Reader& reader, RaftSnapshotPart& body) {
  body.index = read_number(reader);
  body.snapshot_term = read_number(reader);
  body.members = read_members(reader);
  body.snapshot_members_index = read_number(reader);
  body.members_index = read_number(reader);
  body.total_bytes = reader.varint_below(kRaftMaxSnapshotBytes + 1);
  body.total_hash = reader.fixed64();
  body.offset = reader.varint_below(body.total_bytes + 1);
  body.stamp = read_instant(reader);
  body.round = reader.varint();
  body.data = reader.text(kRaftMaxPartBytes);
  if (body.data.size() > body.total_bytes - body.offset) reader.fail("a part reaches beyond its snapshot");
}

void write_body(Writer& writer, const RaftSnapshotReply& body) {
  writer.varint(body.index);
  writer.boolean(body.done);
  writer.varint(body.next);
  write_instant(writer, body.stamp);
  writer.varint(body.round);
}

void read_body(Reader& reader, RaftSnapshotReply& body) {
  body.index = read_number(reader);
  body.done = reader.boolean();
  body.next = reader.varint_below(kRaftMaxSnapshotBytes + 1);
  body.stamp = read_instant(reader);
  body.round = reader.varint();
}

void write_body(Writer&, const RaftTimeoutNow&) {}

void read_body(Reader&, RaftTimeoutNow&) {}

void write_body(Writer& writer, const RaftLoan& body) {
  writer.varint(body.prev_index);
  writer.varint(body.prev_term);
  write(writer, body.entries);
}

void read_body(Reader& reader, RaftLoan& body) {
  body.prev_index = read_number(reader);
  body.prev_term = read_number(reader);
  body.entries = read_entries(reader, body.prev_index + 1, kRaftMaxBatchEntries);
}

// Reads the alternative that stands at place `kind` of the variant.
template <std::size_t... kPlaces>
void read_kind(Reader& reader, std::uint64_t kind, Body& body, std::index_sequence<kPlaces...>) {
  const auto read = [&]<std::size_t kPlace>() {
    if (kind == kPlace) read_body(reader, body.emplace<kPlace>());
  };
  (read.template operator()<kPlaces>(), ...);
}

}  // namespace

void encode(const RaftMessage& message, std::string& out) {
  Writer writer(out);
  writer.varint(message.body.index());
  writer.varint(message.term);
  std::visit([&](const auto& body) { write_body(writer, body); }, message.body);
}

base::Expected<RaftMessage> decode_raft_message(std::string_view bytes) {
  constexpr std::size_t kKinds = std::variant_size_v<Body>;
  if (bytes.size() > kRaftMaxMessageBytes) {
    return base::fail(
        fmt::format("A Raft message of {} bytes is longer than the limit of {}.", bytes.size(), kRaftMaxMessageBytes));
  }
  Reader reader(bytes);
  RaftMessage message;
  const std::uint64_t kind = reader.varint_below(kKinds);
  message.term = read_number(reader);
  read_kind(reader, kind, message.body, std::make_index_sequence<kKinds>());
  if (reader.ok() && !reader.at_end()) reader.fail("it goes on after its end");
  if (!reader.ok()) return std::unexpected(reader.error("Raft message"));
  return message;
}

}  // namespace muster::cores
