#include "target/reply_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "protocol/http1_scan.h"

namespace muster::target {
namespace {

struct Reason {
  unsigned status;
  std::string_view phrase;
};

// RFC 9110 section 15, RFC 6585, RFC 7725.
constexpr Reason kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

void begin_head(Plan& plan, unsigned status, std::string_view type) {
  plan.fixed = nullptr;
  plan.text.clear();
  fmt::format_to(std::back_inserter(plan.text), "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  plan.insert_at = static_cast<std::uint32_t>(plan.text.size());
  if (!type.empty()) fmt::format_to(std::back_inserter(plan.text), "Content-Type: {}\r\n", type);
}

void end_head(Plan& plan) {
  plan.text += "\r\n";
  plan.head_bytes = static_cast<std::uint32_t>(plan.text.size());
}

}  // namespace

void Plan::clear() {
  constexpr std::size_t kKeptCapacity = 16 * 1024;
  std::string kept;
  if (text.capacity() <= kKeptCapacity) kept.swap(text);
  kept.clear();
  *this = Plan{};
  text.swap(kept);
}

std::string_view reason_phrase(unsigned status) {
  const auto* const found = std::lower_bound(std::begin(kReasons), std::end(kReasons), status,
                                             [](const Reason& reason, unsigned code) { return reason.status < code; });
  return found != std::end(kReasons) && found->status == status ? found->phrase : "Unknown";
}

bool safe_in_header(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return protocol::scan::is_control(c); });
}

void write_reply(Plan& plan, unsigned status, std::string_view type, std::string_view body,
                 std::initializer_list<Field> extra) {
  const bool bodiless = status == 204 || status == 304;
  begin_head(plan, status, bodiless ? std::string_view() : type);
  for (const Field& field : extra) {
    fmt::format_to(std::back_inserter(plan.text), "{}: {}\r\n", field.name, field.value);
  }
  if (!bodiless) fmt::format_to(std::back_inserter(plan.text), "Content-Length: {}\r\n", body.size());
  end_head(plan);
  if (!bodiless) plan.text += body;
}

void write_filler_head(Plan& plan, unsigned status, std::string_view type, std::uint64_t declared_length) {
  begin_head(plan, status, type);
  if (plan.chunk != 0) {
    plan.text += "Transfer-Encoding: chunked\r\n";
  } else {
    fmt::format_to(std::back_inserter(plan.text), "Content-Length: {}\r\n", declared_length);
  }
  end_head(plan);
}

FixedReply make_fixed(unsigned status, std::string_view type, std::string_view body,
                      std::initializer_list<Field> extra) {
  Plan plan;
  write_reply(plan, status, type, body, extra);
  return {std::move(plan.text), plan.insert_at, plan.head_bytes};
}

std::string_view filler_pattern() {
  static const std::string kPattern = [] {
    constexpr std::string_view kLine = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk\n";
    std::string text;
    while (text.size() < std::size_t{16} * 1024) text += kLine;
    return text;
  }();
  return kPattern;
}

}  // namespace muster::target
