// What the fuzz targets of the two HTTP/1 parsers share: an input that chooses options and cuts before it gives the
// bytes of the peer, and the property that matters: whatever the cuts, the parser says the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/fuzzing.h"
#include "protocol/http1_recording.h"

namespace muster::protocol {

struct Http1FuzzInput {
  static constexpr std::size_t kControl = 5;  // bytes before those of the peer
  // Longer inputs are not tried with every cut: that takes time quadratic in their length.
  static constexpr std::size_t kMostCuts = 160;

  // `size` is at least kControl. Byte 0, from the lowest bit: small limits, bare LF allowed, the answer to a HEAD
  // request, the peer closes at the end, every cut is tried. Bytes 1 to 4: sizes of pieces, in turn.
  Http1FuzzInput(const std::uint8_t* data, std::size_t size)
      : head((data[0] & 4) != 0),
        close((data[0] & 8) != 0),
        every_cut((data[0] & 16) != 0),
        pieces(data + 1),
        bytes(base::text_of(data + kControl, size - kControl)) {
    if ((data[0] & 1) != 0) {
      limits.max_line_bytes = 40;
      limits.max_headers = 3;
      limits.max_header_bytes = 120;
      limits.max_body_bytes = 20;
      limits.max_chunk_extension_bytes = 8;
      limits.max_trailers = 1;
      limits.max_interim = 1;
    }
    limits.allow_bare_lf = (data[0] & 2) != 0;
  }

  Http1Limits limits;
  bool head;
  bool close;
  bool every_cut;
  const std::uint8_t* pieces;
  std::string_view bytes;
};

// Runs the input whole, byte by byte, in the pieces that it asks for and, if it wants that, cut in two at every place.
// `reset()` makes the parser ready and `told()` adds what a recording does not hold. The parser looks at the limits of
// `input`. Gives the recording of the whole.
template <class Parser, class Reset, class Told>
Http1Recording require_same_for_every_split(Parser& parser, Http1FuzzInput& input, Reset reset, Told told) {
  const auto run = [&](auto next_piece) {
    reset();
    return record(parser, input.bytes, input.close, next_piece);
  };
  const Http1Recording whole = run(all_at_once);
  const auto more = told();
  const auto same = [&](auto next_piece) { base::require(run(next_piece) == whole && told() == more); };
  same(one_byte);
  std::size_t turn = 0;
  same([&](std::size_t) { return input.pieces[turn++ % 4]; });
  if (input.every_cut && input.bytes.size() <= Http1FuzzInput::kMostCuts) {
    for (std::size_t cut = 1; cut < input.bytes.size(); ++cut) {
      same([&](std::size_t left) { return left == input.bytes.size() ? cut : left; });
    }
  }
  base::require(whole.body.size() <= input.limits.max_body_bytes);
  base::require((whole.state == ParseState::kError) == (whole.error != Http1Error::kNone));
  base::require(!describe(whole.error).empty());
  if (whole.body.empty()) return whole;
  // The limit of a body is exact: as many bytes as there were are enough, one less is not.
  input.limits.max_body_bytes = whole.body.size();
  if (whole.state == ParseState::kComplete) same(all_at_once);
  --input.limits.max_body_bytes;
  const Http1Recording less = run(all_at_once);
  base::require(less.error == Http1Error::kBodyTooLarge && less.body.size() <= input.limits.max_body_bytes);
  return whole;
}

}  // namespace muster::protocol
