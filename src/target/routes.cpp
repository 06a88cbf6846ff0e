#include "target/routes.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>

#include "base/units.h"
#include "target/route_handlers.h"

namespace muster::target {
namespace {

std::string items_document() {
  std::string text = R"({"service":"muster target","version":1,"total":12,"items":[)";
  constexpr std::array kNames{"apple", "banana", "cherry", "damson",  "elder", "fig",
                              "grape", "hazel",  "imbe",   "juniper", "kiwi",  "lemon"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    fmt::format_to(std::back_inserter(text),
                   R"({}{{"id":{},"name":"{}","price":{}.{:02},"in_stock":{},"tags":["fruit","t{}"]}})",
                   i == 0 ? "" : ",", i + 1, kNames[i], i + 1, i * 7 % 100, i % 3 != 0, i % 4);
  }
  return text + R"(],"next":null})";
}

// windowBits of zlib's deflateInit2: 15 for the zlib format, +16 for gzip.
std::string compress(std::string_view text, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void page_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kPage = make_fixed(
      200, "text/html; charset=utf-8",
      "<!doctype html><title>muster target</title><h1>muster target</h1><p>It works. Paths: docs/target.md.</p>\n");
  plan.fixed = &kPage;
}

void json_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kDocument = make_fixed(200, kJson, items_document());
  plan.fixed = &kDocument;
}

void gzip_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kReply =
      make_fixed(200, kJson, compress(items_document(), 15 + 16), {{"Content-Encoding", "gzip"}});
  plan.fixed = &kReply;
}

void deflate_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kReply =
      make_fixed(200, kJson, compress(items_document(), 15), {{"Content-Encoding", "deflate"}});
  plan.fixed = &kReply;
}

void no_content_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kReply = make_fixed(204, "", "");
  plan.fixed = &kReply;
}

void not_modified_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kReply = make_fixed(304, "", "", {{"ETag", "\"muster\""}});
  plan.fixed = &kReply;
}

void interim_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  // RFC 9110 section 15.2: interim responses must not go to HTTP/1.0 clients.
  if (!request.http_1_0) {
    plan.interim =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
  }
  write_reply(plan, 200, kPlainText, "after 100 and 103\n");
}

void status_route(const Request&, std::string_view rest, RouteState&, Plan& plan) {
  const auto status = parse_whole(rest);
  if (!status || *status < 200 || *status > 599) {
    return refuse(plan, "expected /status/{code} with a final status from 200 to 599; interim ones are at /100");
  }
  const auto code = static_cast<unsigned>(*status);
  write_reply(plan, code, kPlainText, fmt::format("{} {}\n", code, reason_phrase(code)));
}

void bytes_route(const Request&, std::string_view rest, RouteState& state, Plan& plan) {
  const auto size = base::parse_size(rest);
  if (!size || *size > state.limits.max_reply_bytes) {
    return refuse(plan, fmt::format("expected /bytes/{{n}}, like /bytes/10000 or /bytes/64KiB, at most {}",
                                    base::format_size(state.limits.max_reply_bytes)));
  }
  plan.filler = *size;
  write_filler_head(plan, 200, "application/octet-stream", *size);
}

void chunked_route(const Request& request, std::string_view rest, RouteState& state, Plan& plan) {
  constexpr std::uint64_t kDefaultChunk = 1024;
  const auto size = base::parse_size(rest);
  const auto chunk_text = find_parameter(request.query(), "size");
  const auto chunk = chunk_text ? base::parse_size(*chunk_text) : base::Expected<std::uint64_t>(kDefaultChunk);
  if (!size || *size > state.limits.max_reply_bytes || !chunk || *chunk == 0) {
    return refuse(plan, "expected /chunked/{n}?size={bytes of a chunk}, like /chunked/10000?size=100");
  }
  plan.filler = *size;
  if (request.http_1_0) {
    // HTTP/1.0 knows no chunks; a body that ends with the connection says the same.
    write_reply(plan, 200, "application/octet-stream", "");
    const std::size_t length = plan.text.find("Content-Length");
    plan.text.replace(length, std::string::npos, "\r\n");
    plan.head_bytes = static_cast<std::uint32_t>(plan.text.size());
    plan.ending = Ending::kClose;
    return;
  }
  plan.chunk = *chunk;
  write_filler_head(plan, 200, "application/octet-stream", *size);
}

void redirect_route(const Request&, std::string_view rest, RouteState&, Plan& plan) {
  constexpr std::uint64_t kMost = 1000;
  const auto count = parse_whole(rest);
  if (!count || *count > kMost) return refuse(plan, "expected /redirect/{n} with n from 0 to 1000");
  if (*count == 0) return write_reply(plan, 200, kPlainText, "the end of the redirects\n");
  write_reply(plan, 302, kPlainText, "", {{"Location", fmt::format("/redirect/{}", *count - 1)}});
}

void redirect_to_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  const auto url = find_parameter(request.query(), "url");
  const auto code_text = find_parameter(request.query(), "status").value_or("302");
  const auto code = parse_whole(code_text);
  if (!url || url->empty() || !safe_in_header(*url) || !code || *code < 300 || *code > 399) {
    return refuse(plan, "expected /redirect-to?url={URL}, with &status=301…308 if it is not to be 302");
  }
  write_reply(plan, static_cast<unsigned>(*code), kPlainText, "", {{"Location", *url}});
}

void counter_route(const Request&, std::string_view, RouteState& state, Plan& plan) {
  const std::uint64_t value = state.counter.fetch_add(1, std::memory_order_relaxed) + 1;
  write_reply(plan, 200, kJson, fmt::format(R"({{"counter":{}}})", value));
}

void unknown_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  write_reply(plan, 404, kPlainText,
              fmt::format("nothing at {}; try /, /json, /bytes/1000, /status/503, /delay/20, /echo\n", request.path()));
}

// Sorted by name.
constexpr Route kRoutes[] = {
    {"", page_route},
    {"100", interim_route},
    {"204", no_content_route},
    {"304", not_modified_route},
    {"basic-auth", basic_auth_route},
    {"bytes", bytes_route},
    {"chunked", chunked_route},
    {"close", close_route},
    {"cookies", cookies_route},
    {"counter", counter_route},
    {"deflate", deflate_route},
    {"delay", delay_route},
    {"drip", drip_route},
    {"echo", echo_route, BodyUse::kKeep},
    {"flaky", flaky_route},
    {"garbage", garbage_route},
    {"gzip", gzip_route},
    {"half-close", half_close_route},
    {"headers", headers_route},
    {"json", json_route},
    {"login", login_route, BodyUse::kKeep},
    {"me", me_route},
    {"oversized-body", oversized_body_route},
    {"oversized-header", oversized_header_route},
    {"redirect", redirect_route},
    {"redirect-to", redirect_to_route},
    {"reset", reset_route},
    {"reset-mid", reset_mid_route},
    {"stall", stall_route},
    {"stall-all", stall_all_route},
    {"status", status_route},
    {"truncated", truncated_route},
    {"upload", upload_route, BodyUse::kDigest},
};
static_assert(std::is_sorted(std::begin(kRoutes), std::end(kRoutes),
                             [](const Route& a, const Route& b) { return a.name < b.name; }));

constexpr Route kUnknown{"", unknown_route};

std::string_view first_segment(std::string_view path) {
  path.remove_prefix(std::min<std::size_t>(1, path.size()));
  return path.substr(0, path.find('/'));
}

}  // namespace

const Route& find_route(std::string_view path) {
  if (!path.starts_with('/')) return kUnknown;
  const std::string_view name = first_segment(path);
  if (name.empty() && path.size() > 1) return kUnknown;
  const auto* const found = std::lower_bound(std::begin(kRoutes), std::end(kRoutes), name,
                                             [](const Route& a, std::string_view b) { return a.name < b; });
  return found != std::end(kRoutes) && found->name == name ? *found : kUnknown;
}

void plan_reply(const Route& route, const Request& request, RouteState& state, Plan& plan) {
  const std::size_t taken = 1 + first_segment(request.path()).size() + 1;
  const std::string_view rest = request.path().size() > taken ? request.path().substr(taken) : std::string_view();
  plan.pattern = filler_pattern();
  route.handler(request, rest, state, plan);
  if (!request.keep_alive && plan.ending == Ending::kKeep) plan.ending = Ending::kClose;
  if (request.method() == "HEAD" && plan.head() != 0) {
    // RFC 9110 section 9.3.2: the same head, no body.
    if (plan.fixed != nullptr) {
      plan.text.assign(plan.fixed->bytes, 0, plan.fixed->head_bytes);
      plan.insert_at = plan.fixed->insert_at;
      plan.head_bytes = plan.fixed->head_bytes;
      plan.fixed = nullptr;
    }
    plan.text.resize(plan.head_bytes);
    plan.filler = 0;
    plan.chunk = 0;
    plan.drip = {};
  }
}

void plan_refusal(protocol::Http1Error error, bool in_start_line, Plan& plan) {
  using protocol::Http1Error;
  unsigned status = 400;
  switch (error) {
    case Http1Error::kLineTooLong:
      status = in_start_line ? 414 : 431;
      break;
    case Http1Error::kTooManyHeaders:
    case Http1Error::kHeadersTooLarge:
    case Http1Error::kTooManyTrailers:
      status = 431;
      break;
    case Http1Error::kBodyTooLarge:
      status = 413;
      break;
    case Http1Error::kUnsupportedTransferCoding:
      status = 501;
      break;
    case Http1Error::kBadVersion:
      status = 505;
      break;
    default:
      break;
  }
  plan_refusal(status, protocol::describe(error), plan);
}

void plan_refusal(unsigned status, std::string_view why, Plan& plan) {
  plan.clear();
  write_reply(plan, status, kPlainText, fmt::format("{}\n", why));
  plan.ending = Ending::kClose;
}

void refuse(Plan& plan, std::string_view why) {
  plan.clear();
  write_reply(plan, 400, kPlainText, fmt::format("{}\n", why));
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<base::Duration> parse_delay(std::string_view text, const Limits& limits) {
  base::Duration delay{};
  if (const auto milliseconds = base::parse_number(text)) {
    delay = base::from_seconds(*milliseconds / 1e3);
  } else if (const auto parsed = base::parse_duration(text)) {
    delay = *parsed;
  } else {
    return std::nullopt;
  }
  if (delay < base::Duration::zero() || delay > limits.max_delay) return std::nullopt;
  return delay;
}

}  // namespace muster::target
