#include "model/host_override.h"

#include <fmt/format.h>

#include <charconv>

#include "protocol/url.h"

namespace muster::model {

bool numeric_address(std::string_view text) {
  // A bracket would end the address early, and the rest of the URL would pass for anything.
  if (text.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) return false;
  if (text.find(':') != std::string_view::npos)
    return protocol::parse_url(fmt::format("http://[{}]", text)).has_value();
  // In brackets an IPv4 address stands at the end of an IPv6 one, where it is checked as such.
  return text.find('.') != std::string_view::npos &&
         protocol::parse_url(fmt::format("http://[::ffff:{}]", text)).has_value();
}

bool source_address(std::string_view text) {
  return numeric_address(text.substr(0, text.find('%')));
}

base::Expected<HostOverride> parse_host_override(const std::string& text) {
  HostOverride made{.name = {}, .look_up = text, .port = 0};
  const auto wrong = [&] {
    return base::fail(
        fmt::format("expected an address such as 10.0.0.7, 10.0.0.7:8443 or [::1]:8443, found '{}'", text));
  };
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) return wrong();
    made.look_up = text.substr(1, close - 1);
    port = std::string_view(text).substr(close + 1);
    if (!numeric_address(made.look_up)) return wrong();
  } else if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    if (numeric_address(text)) return made;  // IPv6 without brackets
    made.look_up = text.substr(0, colon);
    port = std::string_view(text).substr(colon);
  }
  if (made.look_up.empty() || made.look_up.find_first_of(" \t/[]") != std::string::npos) return wrong();
  if (port.empty()) return made;
  const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), made.port);
  if (port.front() != ':' || error != std::errc() || end != port.data() + port.size() || made.port == 0) return wrong();
  return made;
}

}  // namespace muster::model
