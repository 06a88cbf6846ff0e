// Bytes of a database or a file that are no packed result must be refused, and what is read must pack again. Since
// random bytes hardly ever are a zlib stream, half of the inputs are compressed here first.
// covers: store/packed_run.cpp model/run_codec.cpp
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metrics/wire.h"
#include "store/packed_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string input(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 1U) != 0) {
    std::string packed = "\x93muster-run\n";
    muster::metrics::Writer writer(packed);
    writer.byte(1);
    writer.varint(input.size());
    const std::size_t header = packed.size();
    uLongf room = compressBound(input.size());
    packed.resize(header + room);
    compress2(reinterpret_cast<Bytef*>(packed.data() + header), &room, data + 1, input.size(), 1);
    packed.resize(header + room);
    input = std::move(packed);
  }
  const auto run = muster::store::unpack(input, "this");
  if (!run) return 0;
  const auto again = muster::store::pack(*run);
  if (!again || !muster::store::unpack(*again, "this")) std::abort();
  return 0;
}
