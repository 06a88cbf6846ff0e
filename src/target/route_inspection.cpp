#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "protocol/http1_scan.h"
#include "target/json_text.h"
#include "target/request_log.h"
#include "target/route_handlers.h"

namespace muster::target {
namespace {

void set_cookies(const Request& request, Plan& plan) {
  std::string names;
  std::string lines;
  std::string_view pairs = request.query();
  while (!pairs.empty()) {
    const std::string_view pair = pairs.substr(0, pairs.find('&'));
    pairs.remove_prefix(std::min(pairs.size(), pair.size() + 1));
    const std::string_view name = pair.substr(0, pair.find('='));
    const auto value = find_parameter(pair, name);
    if (!value || name.empty() || !safe_in_header(*value) || value->find(';') != std::string::npos) {
      return refuse(plan, "expected /cookies/set?name=value, values without control characters and ';'");
    }
    fmt::format_to(std::back_inserter(lines), "Set-Cookie: {}={}; Path=/\r\n", name, *value);
  }
  if (lines.empty()) return refuse(plan, "expected /cookies/set?name=value");
  write_reply(plan, 200, kPlainText, "cookies set\n");
  plan.text.insert(plan.insert_at, lines);
  plan.head_bytes += static_cast<std::uint32_t>(lines.size());
}

}  // namespace

void echo_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  std::string body = "{\"method\":";
  append_json(body, request.method());
  body += ",\"path\":";
  append_json(body, request.path());
  body += ",\"query\":";
  append_json(body, request.query());
  body += ",\"headers\":";
  append_header_list(body, request);
  body += ",\"body\":";
  append_json(body, request.body);
  body += '}';
  write_reply(plan, 200, kJson, body);
}

void headers_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  std::string body = "{\"headers\":";
  append_header_list(body, request);
  body += '}';
  write_reply(plan, 200, kJson, body);
}

void upload_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  std::string body =
      fmt::format(R"({{"size":{},"crc32":"{:08x}","content_type":)", request.body_bytes, request.body_crc);
  append_json(body, request.header("content-type").value_or(""));
  body += '}';
  write_reply(plan, 200, kJson, body);
}

void cookies_route(const Request& request, std::string_view rest, RouteState&, Plan& plan) {
  if (rest == "set") return set_cookies(request, plan);
  std::string body = "{\"cookies\":{";
  bool first = true;
  for (std::size_t i = 0; i < request.header_count(); ++i) {
    if (!protocol::scan::equals_ignoring_case(request.header_name(i), "cookie")) continue;
    std::string_view pairs = request.header_value(i);
    while (!pairs.empty()) {
      const std::string_view piece = pairs.substr(0, pairs.find(';'));
      pairs.remove_prefix(std::min(pairs.size(), piece.size() + 1));
      const std::string_view pair = protocol::scan::trim(piece);
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      if (!first) body += ',';
      first = false;
      append_json(body, pair.substr(0, equals));
      body += ':';
      append_json(body, pair.substr(equals + 1));
    }
  }
  body += "}}";
  write_reply(plan, 200, kJson, body);
}

}  // namespace muster::target
