#include "protocol/url.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/characters.h"
#include "base/letter_case.h"
#include "protocol/percent.h"

namespace muster::protocol {
namespace {

// For messages: short, and nothing in it that could play with a terminal.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) result += percent::is_printable(c) ? c : '?';
  result += text.size() > kMost ? "…\"" : "\"";
  return result;
}

// The scheme before "://" or before ':' (RFC 3986 section 3.1), or nothing.
std::string_view scheme_of(std::string_view text) {
  if (text.empty() || !base::is_letter(text.front())) return {};
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return text.substr(0, i);
    if (!base::is_letter_or_digit(c) && c != '+' && c != '-' && c != '.') return {};
  }
  return {};
}

bool good_ipv4(std::string_view host) {
  int parts = 0;
  while (true) {
    const std::size_t dot = host.find('.');
    const std::string_view part = host.substr(0, dot);
    if (part.empty() || part.size() > 3 || part.find_first_not_of("0123456789") != part.npos) return false;
    int value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    if (value > 255) return false;
    ++parts;
    if (dot == host.npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

// RFC 4291 section 2.2: eight groups of hexadecimal digits, "::" once for some of them, IPv4 as the last two.
bool good_ipv6(std::string_view host) {
  int groups = 0;
  bool gap = false;
  if (host.starts_with("::")) {
    gap = true;
    host.remove_prefix(2);
    if (host.empty()) return true;
  }
  while (true) {
    const std::size_t colon = host.find(':');
    const std::string_view group = host.substr(0, colon);
    if (colon == host.npos && group.find('.') != group.npos)
      return good_ipv4(group) && (gap ? groups < 6 : groups == 6);
    if (group.empty() || group.size() > 4 || group.find_first_not_of("0123456789abcdefABCDEF") != group.npos) {
      return false;
    }
    ++groups;
    if (colon == host.npos) return gap ? groups < 8 : groups == 8;
    host.remove_prefix(colon + 1);
    if (host.starts_with(':')) {
      if (gap) return false;
      gap = true;
      host.remove_prefix(1);
      if (host.empty()) return groups < 8;
    }
  }
}

// Letters, digits, '-', '_', '.' and bytes of UTF-8 names, which the resolver then refuses or knows.
bool good_name(std::string_view host) {
  for (const char c : host) {
    if (!base::is_letter_or_digit(c) && c != '-' && c != '_' && c != '.' && static_cast<signed char>(c) >= 0)
      return false;
  }
  return !host.empty() && host.size() <= 255 && host != ".";
}

base::Expected<void> read_authority(Url& url, std::string_view authority) {
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    url.userinfo = authority.substr(0, at);
    for (const char c : url.userinfo) {
      if (!percent::is_printable(c) || c == ' ' || c == '@') {
        return base::fail("user and password in the URL must be percent-encoded (write @ as %40)");
      }
    }
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == authority.npos) return base::fail("an IPv6 address needs a closing ']'");
    const std::string_view address = authority.substr(1, close - 1);
    if (!good_ipv6(address)) return base::fail(fmt::format("{} is not an IPv6 address", quoted(address)));
    url.host = base::lower(address);
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority.front() != ':') {
      return base::fail(fmt::format("expected a port or the path after ']', found {}", quoted(authority)));
    }
    port = authority.empty() ? authority : authority.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    if (host.empty()) return base::fail("the host is missing");
    if (!good_name(host)) {
      return base::fail(fmt::format("{} is not a host name (an IPv6 address needs [brackets])", quoted(host)));
    }
    url.host = base::lower(host);
    port = colon == authority.npos ? std::string_view{} : authority.substr(colon + 1);
  }
  url.port = url.default_port();
  if (port.empty()) return {};
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), value);
  if (error != std::errc{} || stop != port.data() + port.size() || value == 0 || value > 65535) {
    return base::fail(fmt::format("the port must be a number from 1 to 65535, found {}", quoted(port)));
  }
  url.port = static_cast<std::uint16_t>(value);
  return {};
}

// RFC 3986 section 5.2.4.
std::string remove_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    // `path` begins with '/' here: callers join it to a base first.
    const std::size_t next = path.find('/', 1);
    const std::string_view segment = path.substr(0, next);
    const bool last = next == path.npos;
    if (segment == "/.") {
      if (last) out += '/';
    } else if (segment == "/..") {
      const std::size_t slash = out.rfind('/');
      out.resize(slash == out.npos ? 0 : slash);
      if (last) out += '/';
    } else {
      out += segment;
    }
    path.remove_prefix(segment.size());
  }
  return out;
}

void append_query(std::string& target, std::optional<std::string_view> query) {
  if (!query) return;
  target += '?';
  percent::append_repaired(target, *query, percent::kQueryBytes);
}

base::Expected<void> check_text(std::string_view text, const UrlLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return base::fail(fmt::format("the URL has {} bytes, the limit is {}", text.size(), limits.max_bytes));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      return base::fail(fmt::format("the URL holds a control character (byte 0x{:02x} at position {})", byte, i + 1));
    }
  }
  return {};
}

std::string_view trim_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

struct Reference {
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
};

// `text` has no scheme any more.
Reference split(std::string_view text) {
  Reference parts;
  text = text.substr(0, text.find('#'));
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t stop = text.find_first_of("/?");
    parts.authority = text.substr(0, stop);
    text = stop == text.npos ? std::string_view{} : text.substr(stop);
  }
  const std::size_t mark = text.find('?');
  parts.path = text.substr(0, mark);
  if (mark != text.npos) parts.query = text.substr(mark + 1);
  return parts;
}

std::string encoded_path(std::string_view path) {
  std::string out;
  percent::append_repaired(out, path, percent::kPathBytes);
  return out;
}

base::Expected<Url> absolute(std::string_view scheme, const Reference& parts, std::string_view text) {
  Url url;
  url.scheme = base::lower(scheme);
  if (url.scheme != "http" && url.scheme != "https") {
    return base::fail(fmt::format("expected http or https in {}, found scheme {}", quoted(text), quoted(scheme)));
  }
  if (!parts.authority) return base::fail(fmt::format("expected {}://host after the scheme", url.scheme));
  if (auto good = read_authority(url, *parts.authority); !good) {
    // A password that is not encoded ends the authority before its '@'. No piece of it is told.
    if (parts.authority->contains(':') && !parts.authority->contains('@') && text.contains('@'))
      return base::fail("user and password in the URL must be percent-encoded (write / as %2F, ? as %3F, # as %23)");
    return std::unexpected(good.error());
  }
  url.target = remove_dot_segments(encoded_path(parts.path));
  if (url.target.empty()) url.target = "/";
  append_query(url.target, parts.query);
  return url;
}

}  // namespace

std::string_view Url::query() const {
  const std::size_t mark = target.find('?');
  return mark == target.npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

std::string Url::authority() const {
  std::string result = ipv6() ? '[' + host + ']' : host;
  if (port != default_port()) result += ':' + std::to_string(port);
  return result;
}

std::string Url::to_string() const {
  return scheme + "://" + authority() + target;
}

base::Expected<Url> parse_url(std::string_view text, const UrlLimits& limits) {
  text = trim_spaces(text);
  if (auto good = check_text(text, limits); !good) return std::unexpected(good.error());
  const std::string_view scheme = scheme_of(text);
  if (scheme.empty() || !text.substr(scheme.size()).starts_with("://")) {
    return base::fail(fmt::format("expected a URL such as https://example.com/path, found {}", quoted(text)));
  }
  return absolute(scheme, split(text.substr(scheme.size() + 1)), text);
}

base::Expected<Url> resolve(const Url& page, std::string_view reference, const UrlLimits& limits) {
  reference = trim_spaces(reference);
  if (auto good = check_text(reference, limits); !good) return std::unexpected(good.error());
  if (const std::string_view scheme = scheme_of(reference); !scheme.empty()) {
    return absolute(scheme, split(reference.substr(scheme.size() + 1)), reference);
  }
  const Reference parts = split(reference);
  if (parts.authority) return absolute(page.scheme, parts, reference);
  Url url = page;
  if (parts.path.empty()) {
    if (!parts.query) return url;
    url.target = page.path();
  } else if (parts.path.front() == '/') {
    url.target = remove_dot_segments(encoded_path(parts.path));
  } else {
    const std::string_view folder = page.path().substr(0, page.path().rfind('/') + 1);
    url.target = remove_dot_segments(std::string(folder) + encoded_path(parts.path));
  }
  append_query(url.target, parts.query);
  if (url.target.size() > limits.max_bytes) {
    return base::fail(fmt::format("the redirect's URL has more than {} bytes", limits.max_bytes));
  }
  return url;
}

void append_path_encoded(std::string& out, std::string_view value) {
  percent::append_encoded(out, value, percent::kPathValueBytes);
}

std::string encode_path(std::string_view value) {
  std::string out;
  append_path_encoded(out, value);
  return out;
}

void append_query_encoded(std::string& out, std::string_view value) {
  percent::append_encoded(out, value, percent::kUnreservedBytes);
}

std::string encode_query(std::string_view value) {
  std::string out;
  append_query_encoded(out, value);
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (percent::is_triplet(text.substr(i))) {
      out += static_cast<char>(percent::hex_value(text[i + 1]) * 16 + percent::hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace muster::protocol
