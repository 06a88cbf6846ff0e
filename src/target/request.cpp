#include "target/request.h"

#include <algorithm>

#include "protocol/http1_scan.h"
#include "protocol/url.h"

namespace muster::target {
namespace {

// "http://host/path" names the same resource here as "/path" (RFC 9112 section 3.2.2).
std::string_view without_authority(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

std::string decode(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '+', ' ');
  return protocol::percent_decode(plain);
}

}  // namespace

void Request::begin(std::string_view method, std::string_view target) {
  clear();
  method_ = keep(method);
  target = without_authority(target);
  const std::size_t question = target.find('?');
  path_ = keep(target.substr(0, question));
  query_ = keep(question == std::string_view::npos ? std::string_view() : target.substr(question + 1));
}

void Request::add_header(std::string_view name, std::string_view value) {
  const Span kept_name = keep(name);
  headers_.push_back({kept_name, keep(value)});
}

void Request::clear() {
  // A giant request must not leave its buffers behind on the shelf.
  constexpr std::size_t kKeptCapacity = 16 * 1024;
  if (body.capacity() > kKeptCapacity) std::string().swap(body);
  body.clear();
  if (logged_body.capacity() > kKeptCapacity) std::string().swap(logged_body);
  logged_body.clear();
  body_bytes = 0;
  body_crc = 0;
  http_1_0 = false;
  keep_alive = true;
  text_.clear();
  headers_.clear();
  method_ = path_ = query_ = {};
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const Header& header : headers_) {
    if (protocol::scan::equals_ignoring_case(view(header.name), name)) return view(header.value);
  }
  return std::nullopt;
}

Request::Span Request::keep(std::string_view text) {
  const Span span{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text.size())};
  text_ += text;
  return span;
}

std::optional<std::string> find_parameter(std::string_view pairs, std::string_view name) {
  while (!pairs.empty()) {
    const std::size_t end = pairs.find('&');
    const std::string_view pair = pairs.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (decode(pair.substr(0, equals)) == name) {
      return equals == std::string_view::npos ? std::string() : decode(pair.substr(equals + 1));
    }
    pairs = end == std::string_view::npos ? std::string_view() : pairs.substr(end + 1);
  }
  return std::nullopt;
}

}  // namespace muster::target
