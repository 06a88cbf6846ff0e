// The first bytes choose options and piece sizes, the rest is what a client sends. Whatever it is, the request parser
// must say the same for every way of cutting it, and never hand out more than its limits allow.
#include "protocol/http1_recording.h"

namespace muster::protocol {

namespace {

void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kControl = 5;
  if (size < kControl) return 0;
  Http1Limits limits;
  if ((data[0] & 1) != 0) {
    limits.max_line_bytes = 40;
    limits.max_headers = 3;
    limits.max_header_bytes = 120;
    limits.max_body_bytes = 20;
    limits.max_chunk_extension_bytes = 8;
    limits.max_trailers = 1;
  }
  limits.allow_bare_lf = (data[0] & 2) != 0;
  const bool close = (data[0] & 8) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + kControl, size - kControl);

  Http1RequestParser parser(limits);
  const Http1Recording whole = record(parser, bytes, close, all_at_once);
  const bool waits = parser.expects_continue();
  parser.reset();
  require(record(parser, bytes, close, one_byte) == whole);
  require(parser.expects_continue() == waits);
  parser.reset();
  std::size_t turn = 0;
  require(record(parser, bytes, close, [&](std::size_t) { return data[1 + turn++ % 4]; }) == whole);

  require(whole.body.size() <= limits.max_body_bytes);
  require((whole.state == ParseState::kError) == (whole.error != Http1Error::kNone));
  return 0;
}

}  // namespace muster::protocol
