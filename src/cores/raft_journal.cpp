#include "cores/raft_journal.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/hash.h"
#include "cores/options.h"
#include "cores/raft_wire.h"

namespace muster::cores {
namespace {

using metrics::Reader;
using metrics::Writer;

using WriteBody = decltype(RaftWrite::body);

constexpr std::uint64_t kMagic = 0x314c4e5254534d4d;  // "MMSTRNL1", as eight bytes
constexpr std::size_t kHeaderBytes = 48;

struct Header {
  std::uint64_t length = 0;  // of the payload
  std::uint64_t number = 0;
  std::uint64_t durable = 0;  // records up to this number were durable when this one was written
  std::uint64_t payload_hash = 0;
};

// Nothing if no header stands here, or it was damaged.
std::optional<Header> read_header(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  Reader reader(bytes.substr(0, kHeaderBytes));
  if (reader.fixed64() != kMagic) return std::nullopt;
  Header header;
  header.length = reader.fixed64();
  header.number = reader.fixed64();
  header.durable = reader.fixed64();
  header.payload_hash = reader.fixed64();
  const bool sound = base::hash_of(bytes.substr(0, kHeaderBytes - 8)) == reader.fixed64();
  return sound ? std::optional(header) : std::nullopt;
}

void write_body(Writer& writer, const RaftHardState& body) {
  writer.varint(body.term);
  writer.varint(base::number(body.vote));
}

RaftHardState read_hard(Reader& reader) {
  RaftHardState hard;
  hard.term = read_number(reader);
  hard.vote = base::NodeId{reader.varint()};
  return hard;
}

void write_body(Writer& writer, const RaftTruncate& body) {
  writer.varint(body.from);
}

void write_body(Writer& writer, const RaftAppendWrite& body) {
  writer.varint(body.entries.empty() ? 1 : body.entries.front().index);
  write(writer, body.entries);
}

void write_body(Writer& writer, const RaftCheckpoint& body) {
  const RaftSnapshot& snapshot = body.image.snapshot;
  write_body(writer, body.image.hard);
  writer.varint(snapshot.index);
  writer.varint(snapshot.term);
  write(writer, snapshot.members);
  writer.varint(snapshot.members_index);
  writer.text(snapshot.bytes());
  write(writer, body.image.entries);
}

RaftImage read_image(Reader& reader) {
  RaftImage image;
  image.hard = read_hard(reader);
  image.snapshot.index = read_number(reader);
  image.snapshot.term = read_number(reader);
  image.snapshot.members = read_members(reader);
  image.snapshot.members_index = read_number(reader);
  const std::string_view state = reader.text(kRaftMaxSnapshotBytes);
  if (!state.empty()) image.snapshot.state = std::make_shared<const std::string>(state);
  image.entries = read_entries(reader, image.snapshot.index + 1, reader.remaining());
  return image;
}

// What has been read so far. Each record must fit to those before it.
class Recovery {
 public:
  void apply(Reader& reader) {
    switch (reader.varint_below(std::variant_size_v<WriteBody>)) {
      case 0:
        return hard(read_hard(reader), reader);
      case 1:
        return truncate(read_number(reader), reader);
      case 2:
        return append(reader);
      default: {
        RaftImage image = read_image(reader);
        hard(image.hard, reader);
        if (reader.ok()) image_ = std::move(image);
      }
    }
  }

  RaftImage take() { return std::move(image_); }

 private:
  RaftIndex last() const { return image_.snapshot.index + image_.entries.size(); }

  void hard(const RaftHardState& next, Reader& reader) {
    const RaftHardState& now = image_.hard;
    const bool other_vote = next.term == now.term && now.vote != base::kNoNode && next.vote != now.vote;
    if (next.term < now.term || other_vote) reader.fail("a term or vote goes back on an earlier one");
    if (reader.ok()) image_.hard = next;
  }

  void truncate(RaftIndex from, Reader& reader) {
    if (from <= image_.snapshot.index || from > last()) reader.fail("entries are removed that are not there");
    if (reader.ok()) image_.entries.resize(static_cast<std::size_t>(from - image_.snapshot.index - 1));
  }

  void append(Reader& reader) {
    const RaftIndex first = read_number(reader);
    if (first != last() + 1) reader.fail("entries do not follow those before them");
    const RaftTerm before = image_.entries.empty() ? image_.snapshot.term : image_.entries.back().term;
    std::vector<RaftEntry> entries = read_entries(reader, first, reader.remaining());
    if (!entries.empty() && entries.front().term < before) reader.fail("entries do not follow those before them");
    for (RaftEntry& entry : entries) image_.entries.push_back(std::move(entry));
  }

  RaftImage image_;
};

// Whether anything behind an unreadable record says that the record had been durable.
bool was_durable(std::string_view behind, std::uint64_t number) {
  const char first = static_cast<char>(kMagic & 0xff);
  for (std::size_t at = behind.find(first); at != std::string_view::npos; at = behind.find(first, at + 1)) {
    const auto header = read_header(behind.substr(at));
    if (header && header->durable >= number) return true;
  }
  return false;
}

}  // namespace

std::string RaftJournal::record(const RaftWrite& write) const {
  std::string payload;
  Writer writer(payload);
  writer.varint(write.body.index());
  std::visit([&](const auto& body) { write_body(writer, body); }, write.body);
  return raft_journal_record(first_ + write.ticket - 1, durable_, payload);
}

std::string raft_journal_record(std::uint64_t number, std::uint64_t durable, std::string_view payload) {
  std::string bytes;
  Writer writer(bytes);
  writer.fixed64(kMagic);
  writer.fixed64(payload.size());
  writer.fixed64(number);
  writer.fixed64(durable);
  writer.fixed64(base::hash_of(payload));
  writer.fixed64(base::hash_of(bytes));
  return bytes.append(payload);
}

base::Expected<RecoveredJournal> recover_raft_journal(std::string_view bytes) {
  RecoveredJournal result;
  Recovery recovery;
  bool begun = false;
  while (result.valid_bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(result.valid_bytes);
    const auto header = read_header(rest);
    const bool whole = header && header->length <= kRaftMaxRecordBytes && header->length <= rest.size() - kHeaderBytes;
    const std::string_view payload =
        whole ? rest.substr(kHeaderBytes, static_cast<std::size_t>(header->length)) : std::string_view();
    if (!whole || base::hash_of(payload) != header->payload_hash) {
      if (!was_durable(rest.substr(1), result.next)) break;
      return base::fail(
          fmt::format("The Raft journal is damaged at byte {} of {}: record {} was written in full and cannot be read "
                      "any more. The "
                      "node must not start from it; remove it from the group and add it under another name.",
                      result.valid_bytes, bytes.size(), result.next));
    }
    Reader reader(payload);
    if (begun && header->number != result.next) reader.fail("a record is missing or doubled");
    recovery.apply(reader);
    if (reader.ok() && !reader.at_end()) reader.fail("it goes on after its end");
    if (!reader.ok()) return std::unexpected(reader.error(fmt::format("Raft journal's record {}", header->number)));
    begun = true;
    result.next = header->number + 1;
    result.valid_bytes += kHeaderBytes + payload.size();
  }
  result.image = recovery.take();
  return result;
}

}  // namespace muster::cores
