// The first byte chooses coding and limit, the rest is a compressed body. It must decode the same whole with a new
// decoder and byte by byte with one that has just met a good and a broken body, and never to more than the limit.
// covers: protocol/content_coding.h protocol/content_coding.cpp
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "protocol/content_coding.h"

namespace muster::protocol {

using base::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body = base::text_of(data + 1, size - 1);
  // Byte 0, bit 0: gzip or deflate. Bit 1: a limit that small inputs can reach. Bits 2 and up: other names.
  constexpr std::string_view kNames[] = {"gzip", "deflate", "identity", "x-gzip", "br"};
  const std::size_t other = static_cast<std::size_t>(data[0] >> 2) % 4;
  const std::optional<ContentCoding> coding = content_coding(kNames[(data[0] & 1) + other]);
  if (!coding) return 0;
  ContentCodingLimits limits;
  limits.max_output_bytes = (data[0] & 2) != 0 ? 64 : 1 << 20;

  ContentDecoder decoder;
  std::string whole;
  const auto good = decoder.decode(*coding, body, whole, limits);
  require(whole.size() <= limits.max_output_bytes);
  require(good.has_value() || !good.error().message.empty());

  std::string broken;
  const ContentCoding wrong = *coding == ContentCoding::kGzip ? ContentCoding::kDeflate : ContentCoding::kGzip;
  static_cast<void>(decoder.decode(wrong, body, broken, limits));
  require(broken.size() <= limits.max_output_bytes);

  std::string parts;
  bool parts_good = decoder.start(*coding).has_value();
  for (std::size_t at = 0; at < body.size() && parts_good; ++at) {
    parts_good = decoder.write(body.substr(at, 1), parts, limits).has_value();
  }
  parts_good = parts_good && decoder.finish().has_value();
  require(parts.size() <= limits.max_output_bytes);
  require(parts_good == good.has_value());
  require(!parts_good || parts == whole);
  return 0;
}

}  // namespace muster::protocol
