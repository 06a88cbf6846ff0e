#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "protocol/http1_scan.h"
#include "protocol/url.h"
#include "target/json_text.h"
#include "target/route_handlers.h"

namespace muster::target {
namespace {

// The one password that is refused, so that data files with any other users and passwords work.
constexpr std::string_view kWrongPassword = "wrong";

struct Credentials {
  std::string user;
  std::string password;
};

std::optional<Credentials> read_json(const std::string& body) {
  const auto document = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return std::nullopt;
  const auto user = document.find("user");
  const auto password = document.find("password");
  if (user == document.end() || password == document.end()) return std::nullopt;
  if (!user->is_string() || !password->is_string()) return std::nullopt;
  return Credentials{user->get<std::string>(), password->get<std::string>()};
}

std::optional<Credentials> read_form(const std::string& body) {
  auto user = find_parameter(body, "user");
  auto password = find_parameter(body, "password");
  if (!user || !password) return std::nullopt;
  return Credentials{std::move(*user), std::move(*password)};
}

// A token carries its user and a check, so that no core needs to remember who logged in.
std::string token_of(std::string_view user) {
  std::uint64_t check = 0x6d7573746572u;
  for (const char c : user) check = base::mix(check ^ static_cast<unsigned char>(c));
  return fmt::format("{:016x}.{}", check, protocol::encode_query(user));
}

std::optional<std::string> user_of(std::string_view token) {
  const std::size_t dot = token.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string user = protocol::percent_decode(token.substr(dot + 1));
  if (user.empty() || token_of(user) != token) return std::nullopt;
  return user;
}

std::optional<std::string_view> bearer_token(const Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const auto value = request.header("authorization");
  if (!value || value->size() <= kScheme.size()) return std::nullopt;
  if (!protocol::scan::equals_ignoring_case(value->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return protocol::scan::trim(value->substr(kScheme.size()));
}

std::optional<std::string_view> session_cookie(const Request& request) {
  constexpr std::string_view kName = "session=";
  std::string_view pairs = request.header("cookie").value_or("");
  while (!pairs.empty()) {
    const std::string_view piece = pairs.substr(0, pairs.find(';'));
    pairs.remove_prefix(std::min(pairs.size(), piece.size() + 1));
    const std::string_view pair = protocol::scan::trim(piece);
    if (pair.starts_with(kName)) return pair.substr(kName.size());
  }
  return std::nullopt;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, text.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(text[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

void login_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  const bool is_json = request.header("content-type").value_or("").starts_with(kJson);
  const auto given = is_json ? read_json(request.body) : read_form(request.body);
  if (!given || given->user.empty() || given->password.empty() || given->password == kWrongPassword) {
    return write_reply(plan, 401, kJson, R"({"error":"expected a POST of JSON or a form with user and password"})",
                       {{"WWW-Authenticate", "Bearer realm=\"muster target\""}});
  }
  const std::string token = token_of(given->user);
  std::string body = "{\"token\":";
  append_json(body, token);
  body += ",\"user\":";
  append_json(body, given->user);
  body += '}';
  const std::string cookie = fmt::format("session={}; Path=/; HttpOnly", token);
  write_reply(plan, 200, kJson, body, {{"Set-Cookie", cookie}});
}

void me_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  auto token = bearer_token(request);
  if (!token) token = session_cookie(request);
  const auto user = token ? user_of(*token) : std::nullopt;
  if (!user) {
    return write_reply(plan, 401, kJson, R"({"error":"log in first: POST /login"})",
                       {{"WWW-Authenticate", "Bearer realm=\"muster target\""}});
  }
  std::string body = "{\"user\":";
  append_json(body, *user);
  body += '}';
  write_reply(plan, 200, kJson, body);
}

void basic_auth_route(const Request& request, std::string_view rest, RouteState&, Plan& plan) {
  constexpr std::string_view kScheme = "basic ";
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return refuse(plan, "expected /basic-auth/{user}/{password}");
  const std::string wanted =
      base64(protocol::percent_decode(rest.substr(0, slash)) + ":" + protocol::percent_decode(rest.substr(slash + 1)));
  const std::string_view value = request.header("authorization").value_or("");
  const bool basic = protocol::scan::equals_ignoring_case(value.substr(0, kScheme.size()), kScheme);
  if (!basic || protocol::scan::trim(value.substr(kScheme.size())) != wanted) {
    return write_reply(plan, 401, kPlainText, "expected the user and password of the path\n",
                       {{"WWW-Authenticate", "Basic realm=\"muster target\", charset=\"UTF-8\""}});
  }
  write_reply(plan, 200, kPlainText, "welcome\n");
}

}  // namespace muster::target
