#include "authoring/import_credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/characters.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "protocol/credentials.h"
#include "protocol/http1_scan.h"

namespace muster::authoring {
namespace {

// Requests that are each signed have credentials of their own; a variable for each would help nobody.
constexpr std::size_t kMostOfAKind = 20;
constexpr std::size_t kLongestName = 60;

bool secret_header(std::string_view name) {
  return protocol::carries_credentials(name) && !base::equal_ignoring_case(name, "idempotency-key");
}

// Length of "Bearer " at the beginning of an authorization: what it says is no secret.
std::size_t scheme_length(std::string_view header, std::string_view value) {
  if (!base::lower(header).contains("authorization")) return 0;
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == value.size()) return 0;
  const bool word =
      std::ranges::all_of(value.substr(0, blank), [](char c) { return protocol::scan::is_token_byte(c); });
  return word ? blank + 1 : 0;
}

// Whether there are letters or digits outside of variables.
bool says_something(std::string_view text) {
  bool variable = false;
  for (const char c : text) {
    if (c == kVariableBegin) variable = true;
    if (!variable && base::is_letter_or_digit(c)) return true;
    if (c == kVariableEnd) variable = false;
  }
  return false;
}

bool holds_cookies(std::string_view text) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && says_something(pair.substr(equals + 1))) return true;
  }
  return false;
}

// TOKEN, API_KEY, CSRF_TOKEN, AUTHORIZATION.
std::string name_for(std::string_view header, std::string_view scheme) {
  if (base::equal_ignoring_case(scheme, "bearer ")) return "TOKEN";
  std::string name;
  for (const char c : header.substr(0, kLongestName)) {
    name += base::is_letter_or_digit(c) ? base::upper(c) : '_';
  }
  if (name.starts_with("X_") && name.size() > 2) name.erase(0, 2);
  return base::identifier(name) ? name : "HEADER_" + name;
}

}  // namespace

bool holds_credentials(std::string_view header, std::string_view value) {
  if (!secret_header(header)) return false;
  if (base::equal_ignoring_case(header, "cookie")) return holds_cookies(value);
  return says_something(value.substr(scheme_length(header, value)));
}

void ImportCredentials::hide(YamlOut& headers, const YamlOut* before) {
  for (YamlOutEntry& header : headers.map) {
    if (!secret_header(header.key)) continue;
    const YamlOut* then = before == nullptr ? &header.value : before->find(header.key);
    hide_value(header.key, header.value, then);
    for (std::size_t i = 0; i < header.value.list.size(); ++i) {
      YamlOut& each = header.value.list[i];
      const bool same_shape = then != nullptr && i < then->list.size();
      hide_value(header.key, each, same_shape ? &then->list[i] : nullptr);
    }
  }
}

void ImportCredentials::hide_value(const std::string& header, YamlOut& value, const YamlOut* before) {
  if (value.kind != YamlOut::Kind::kText || before == nullptr || before->text != value.text) return;
  const std::size_t scheme = scheme_length(header, value.text);
  if (scheme == value.text.size()) return;
  const std::string kept = value.text.substr(0, scheme);
  value.text = kept + fmt::format("${{env.{}}}", variable_for(header, kept, value.text.substr(scheme)));
}

std::string ImportCredentials::variable_for(const std::string& header, std::string_view scheme,
                                            const std::string& value) {
  const std::string name = name_for(header, scheme);
  Known& known = known_[name];
  for (const auto& [each, variable] : known) {
    if (each == value) return variable;
  }
  if (known.size() >= kMostOfAKind) {
    if (too_many_.insert(name).second) {
      draft_.note("", fmt::format("the header {} held more than {} different credentials: from there on all are "
                                  "${{env.{}}}; where each request is signed, compute it in the file",
                                  header.substr(0, kLongestName), kMostOfAKind, known.front().second));
    }
    return known.front().second;
  }
  std::string variable = name;
  for (std::size_t number = known.size() + 1; !taken_.insert(variable).second; ++number) {
    variable = fmt::format("{}_{}", name, std::max<std::size_t>(number, 2));
  }
  known.emplace_back(value, variable);
  draft_.need_variable(variable, true);
  draft_.note("", fmt::format("the credentials in the header {} are not written down: start muster with {}=… in its "
                              "environment",
                              header.substr(0, kLongestName), variable));
  return variable;
}

}  // namespace muster::authoring
