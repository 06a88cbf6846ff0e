// The first byte says how many of the next ones choose fields to read; the rest is what they are read from. What was
// read, written again, must give the bytes that were consumed; after a failure everything reads as zero or empty.
// covers: metrics/wire.h metrics/wire.cpp
#include <bit>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "metrics/wire.h"

namespace muster::metrics {
namespace {

using base::require;

// Reads one field of the kind that `choice` says and writes it again.
void read_one(std::uint8_t choice, Reader& reader, Writer& writer) {
  // The bounds are small, so that inputs meet them.
  const std::uint64_t bound = 1 + std::uint64_t{choice} / 16 * 10;
  switch (choice % 9) {
    case 0:
      return writer.byte(reader.byte());
    case 1:
      return writer.boolean(reader.boolean());
    case 2:
      return writer.varint(reader.varint());
    case 3: {
      const std::uint64_t value = reader.varint_below(bound);
      require(value < bound);
      return writer.varint(value);
    }
    case 4:
      return writer.wide_varint(reader.wide_varint());
    case 5:
      return writer.zigzag(reader.zigzag());
    case 6:
      return writer.real(reader.real());
    case 7: {
      const std::string_view text = reader.text(static_cast<std::size_t>(bound));
      require(text.size() <= bound);
      return writer.text(text);
    }
    default: {
      const std::size_t count = reader.length(static_cast<std::size_t>(bound), 2);
      require(count <= bound && count * 2 <= reader.remaining());
      return writer.varint(count);
    }
  }
}

void require_nothing_more(Reader& reader) {
  const std::size_t left = reader.remaining();
  require(reader.byte() == 0 && !reader.boolean() && reader.varint() == 0 && reader.varint_below(9) == 0);
  require(reader.wide_varint() == 0 && reader.zigzag() == 0 && reader.fixed64() == 0 && reader.text(9).empty());
  require(reader.length(9) == 0 && std::bit_cast<std::uint64_t>(reader.real()) == 0);
  require(reader.remaining() == left);
  const std::string first = reader.error("list").message;
  reader.fail("another reason");
  require(reader.error("list").message == first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input = base::text_of(data + 1, size - 1);
  const std::string_view script = input.substr(0, data[0]);
  const std::string_view bytes = input.substr(script.size());
  Reader reader(bytes);
  std::string written;
  Writer writer(written);
  for (const char choice : script) {
    const std::size_t before = written.size();
    read_one(static_cast<std::uint8_t>(choice), reader, writer);
    if (!reader.ok()) {
      written.resize(before);
      break;
    }
    require(bytes.substr(0, bytes.size() - reader.remaining()) == written);
  }
  require(bytes.starts_with(written));
  if (!reader.ok()) require_nothing_more(reader);
  return 0;
}

}  // namespace muster::metrics
