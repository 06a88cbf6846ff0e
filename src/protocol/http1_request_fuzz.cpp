// Whatever a client sends, the request parser must say the same for every way of cutting it, and never hand out more
// than its limits allow; the limit of a body is exact. Http1FuzzInput tells how the input is read.
// covers: protocol/http1_request.h protocol/http1_request.cpp protocol/http1_parser.h protocol/http1_framing.h
// covers: protocol/http1_framing.cpp protocol/http1_scan.h protocol/http1_error.cpp
#include <tuple>

#include "protocol/http1_fuzzing.h"

namespace muster::protocol {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < Http1FuzzInput::kControl) return 0;
  Http1FuzzInput input(data, size);
  Http1RequestParser parser(input.limits);
  const auto told = [&] {
    return std::tuple(parser.expects_continue(), parser.http_1_0(), parser.chunked(), parser.complete(),
                      parser.started(), parser.error() == Http1Error::kNone ? parser.remaining() : 0);
  };
  require_same_for_every_split(parser, input, [&] { parser.reset(); }, told);
  return 0;
}

}  // namespace muster::protocol
