// The first line is a URL, the rest a reference to resolve against it. What is accepted must print to a URL that
// parses to the same parts, and must be safe to put on a request line.
#include <string_view>

#include "protocol/url.h"

namespace muster::protocol {

namespace {

void require(bool condition) {
  if (!condition) __builtin_trap();
}

void check(const Url& url) {
  require(url.target.starts_with('/'));
  for (const char c : url.target) require(c > 0x20 && c < 0x7f);
  for (const char c : url.authority()) require((c > 0x20 && c != 0x7f && c != '/') || (c & 0x80) != 0);
  UrlLimits roomy;
  roomy.max_bytes = 1 << 20;
  const auto again = parse_url(url.to_string(), roomy);
  require(again.has_value());
  require(again->same_origin(url) && again->target == url.target);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  const auto url = parse_url(input.substr(0, line));
  if (!url) {
    require(!url.error().message.empty());
    return 0;
  }
  check(*url);
  if (line == input.npos) return 0;
  const std::string_view reference = input.substr(line + 1);
  require(percent_decode(encode_query(reference)) == reference);
  require(percent_decode(encode_path(reference)) == reference);
  if (const auto target = resolve(*url, reference)) check(*target);
  return 0;
}

}  // namespace muster::protocol
