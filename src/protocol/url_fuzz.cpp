// The first line is a URL, the rest a reference to resolve against it. What is accepted must print to a URL that
// parses to the same parts, and must be safe to put on a request line. What is encoded decodes to what it was.
// covers: protocol/url.h protocol/url.cpp protocol/percent.h protocol/form.h
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/fuzzing.h"
#include "protocol/form.h"
#include "protocol/url.h"

namespace muster::protocol {

namespace {

using base::require;

void check(const Url& url) {
  require(url.target.starts_with('/') && url.target.starts_with(url.path()) && url.target.ends_with(url.query()));
  for (const char c : url.target) require(c > 0x20 && c < 0x7f);
  for (const char c : url.authority()) require((c > 0x20 && c != 0x7f && c != '/') || (c & 0x80) != 0);
  UrlLimits roomy;
  roomy.max_bytes = 1 << 20;
  const auto again = parse_url(url.to_string(), roomy);
  require(again.has_value());
  require(again->same_origin(url) && again->target == url.target);
}

void check_encoding(std::string_view value) {
  require(percent_decode(encode_query(value)) == value);
  require(percent_decode(encode_path(value)) == value);
  const std::pair<std::string_view, std::string_view> fields[] = {{value, "1"}, {"b", value}};
  const std::string form = encode_form(fields);
  const std::size_t equals = form.find('=');
  std::string name = form.substr(0, equals);
  require(name.find_first_of(" &=#\r\n") == name.npos && form.substr(equals).starts_with("=1&b="));
  require(form.substr(equals + 5) == name);
  std::ranges::replace(name, '+', ' ');
  require(percent_decode(name) == value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const std::size_t line = input.find('\n');
  const auto url = parse_url(input.substr(0, line));
  if (!url) {
    require(!url.error().message.empty());
    return 0;
  }
  check(*url);
  if (line == input.npos) return 0;
  const std::string_view reference = input.substr(line + 1);
  check_encoding(reference);
  if (const auto target = resolve(*url, reference)) check(*target);
  return 0;
}

}  // namespace muster::protocol
