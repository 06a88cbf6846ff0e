// Bytes of a database or a file that packing did not make are refused; what is read, packed again, is the same. Since
// random bytes hardly ever are a zlib stream, the first byte may ask to compress the rest here, and to get the version,
// the size or the end of it wrong.
// covers: store/packed_run.cpp model/run_codec.cpp
#include <zlib.h>

#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "metrics/wire.h"
#include "model/run_codec.h"
#include "store/packed_run.h"

namespace muster::store {
namespace {

using base::require;

struct Packing {
  std::uint8_t version = 1;
  std::size_t more = 0;  // bytes that the header promises, and that are not there
  std::string_view tail = {};

  bool right() const { return version == 1 && more == 0 && tail.empty(); }
};

// The upper bits of the byte that says to compress.
Packing packing_of(unsigned choice) {
  switch ((choice >> 1) & 3U) {
    case 1:
      return {.version = static_cast<std::uint8_t>(choice >> 3)};
    case 2:
      return {.more = std::size_t{1} + (choice >> 3)};
    case 3:
      return {.tail = (choice & 8U) != 0 ? std::string_view("\0", 1) : std::string_view("more")};
    default:
      return {};
  }
}

std::string packed_here(std::string_view bytes, const Packing& packing) {
  std::string packed = "\x93muster-run\n";
  metrics::Writer writer(packed);
  writer.byte(packing.version);
  writer.varint(bytes.size() + packing.more);
  const std::size_t header = packed.size();
  uLongf room = compressBound(bytes.size());
  packed.resize(header + room);
  compress2(reinterpret_cast<Bytef*>(packed.data() + header), &room, reinterpret_cast<const Bytef*>(bytes.data()),
            bytes.size(), 1);
  packed.resize(header + room);
  packed += packing.tail;
  return packed;
}

std::string encoded(const model::RunResult& run) {
  std::string bytes;
  model::encode(run, bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest = base::text_of(data + 1, size - 1);
  const bool compress = (data[0] & 1U) != 0;
  const Packing packing = packing_of(data[0]);
  const std::string packed = compress ? packed_here(rest, packing) : std::string(rest);
  const auto run = unpack(packed, "this");
  if (!run) {
    require(run.error().message.starts_with("this cannot be read: "));
    return 0;
  }
  require(!compress || packing.right());
  require(looks_packed(packed));
  require(!unpack(std::string_view(packed).substr(0, packed.size() - 1), "this"));
  const auto again = pack(*run);
  require(again.has_value());
  const auto unpacked = unpack(*again, "this");
  require(unpacked && encoded(*unpacked) == encoded(*run) && pack(*unpacked) == *again);
  return 0;
}

}  // namespace muster::store
