// Whatever a server sends, the response parser must say the same for every way of cutting it, and never hand out more
// than its limits allow; the limit of a body is exact. Http1FuzzInput tells how the input is read.
// covers: protocol/http1_response.h protocol/http1_response.cpp protocol/http1_parser.h protocol/http1_framing.h
// covers: protocol/http1_framing.cpp protocol/http1_scan.h protocol/http1_error.cpp
#include <tuple>

#include "protocol/http1_fuzzing.h"

namespace muster::protocol {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < Http1FuzzInput::kControl) return 0;
  Http1FuzzInput input(data, size);
  Http1ResponseParser parser(input.limits);
  const auto told = [&] {
    return std::tuple(parser.status(), parser.upgrade(), parser.chunked(), parser.complete(), parser.started(),
                      parser.error() == Http1Error::kNone ? parser.remaining() : 0, parser.error_text());
  };
  const Http1Recording whole = require_same_for_every_split(parser, input, [&] { parser.reset(input.head); }, told);
  base::require(!input.close || whole.state != ParseState::kNeedMore);
  return 0;
}

}  // namespace muster::protocol
