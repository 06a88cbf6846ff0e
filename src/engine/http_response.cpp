#include "engine/http_response.h"

#include "base/letter_case.h"
#include "model/http_kind.h"

namespace muster::engine {
namespace {

using model::HttpResult;
using model::Value;

const std::string* name_of(const authoring::Path& rest) {
  return rest.empty() ? nullptr : std::get_if<std::string>(&rest[0]);
}

}  // namespace

void HttpResponse::set(int status, std::string_view headers, std::string_view body, std::uint64_t wire_size,
                       base::Duration latency, const protocol::CookieJar* cookies) {
  status_ = status;
  headers_ = headers;
  body_ = body;
  wire_size_ = wire_size;
  latency_ = latency;
  cookies_ = cookies;
  coding_ = protocol::ContentCoding::kIdentity;
  decoded_ = broken_ = parsed_ = is_json_ = false;
}

std::string_view HttpResponse::decoded_body() {
  if (coding_ == protocol::ContentCoding::kIdentity) return body_;
  if (!decoded_) {
    decoded_text_.clear();
    protocol::ContentCodingLimits limits;
    limits.max_output_bytes = max_bytes_;
    const auto decoded = decoder_.decode(coding_, body_, decoded_text_, limits);
    broken_ = !decoded;
    if (broken_) {
      decoded_text_.clear();
      trouble_ = decoded.error().message;
    }
    decoded_ = true;
  }
  return decoded_text_;
}

Value HttpResponse::result(std::size_t result, const authoring::Path& rest, base::Arena& arena) {
  switch (static_cast<HttpResult>(result)) {
    case HttpResult::kStatus:
      return Value::of(static_cast<std::int64_t>(status_));
    case HttpResult::kHeader:
      return header(rest, arena);
    case HttpResult::kCookie: {
      const std::string* name = name_of(rest);
      const auto value = name != nullptr && cookies_ != nullptr ? cookies_->find(*name) : std::nullopt;
      return value ? Value::of(arena.copy(*value)) : Value();
    }
    case HttpResult::kBody: {
      const std::string_view body = decoded_body();
      return broken_ ? Value() : Value::of(arena.copy(body));
    }
    case HttpResult::kJson:
      if (!parsed_) {
        is_json_ = document_.parse(decoded_body());
        parsed_ = true;
      }
      return is_json_ ? document_.find(rest, arena) : Value();
    case HttpResult::kSize:
      return Value::of(static_cast<std::int64_t>(wire_size_));
    case HttpResult::kLatency:
      return Value::of(base::seconds(latency_));
  }
  return {};
}

std::string HttpResponse::trouble(std::size_t result) {
  const bool json = static_cast<HttpResult>(result) == HttpResult::kJson;
  if (!json && static_cast<HttpResult>(result) != HttpResult::kBody) return {};
  if (broken_) return trouble_;
  return json && parsed_ && !is_json_ ? "the body is not JSON: " + document_.fault() : "";
}

Value HttpResponse::header(const authoring::Path& rest, base::Arena& arena) const {
  const std::string* wanted = name_of(rest);
  std::string_view left = headers_;
  while (wanted != nullptr && !left.empty()) {
    const std::size_t end = left.find('\n');
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && base::equal_ignoring_case(line.substr(0, colon), *wanted)) {
      return Value::of(arena.copy(line.substr(colon + 2)));
    }
  }
  return {};
}

}  // namespace muster::engine
