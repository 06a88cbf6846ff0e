#include "authoring/import_correlate.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "authoring/import_draft.h"
#include "authoring/import_json.h"
#include "authoring/scope.h"
#include "base/characters.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "protocol/http1_scan.h"

namespace muster::authoring {
namespace {

constexpr std::size_t kShortest = 8;
constexpr std::size_t kLongestToken = 2'000;
constexpr std::size_t kLongestExpression = 4'000;  // the loader reads 8 KiB

bool token_byte(char c) {
  return base::is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '~';
}

// Long enough, the same in a URL, a header and a body, and with digits in it: words and versions are no tokens.
bool drawn(std::string_view value) {
  if (value.size() < kShortest || value.size() > kLongestToken || !std::ranges::all_of(value, token_byte)) return false;
  const auto digits = std::ranges::count_if(value, [](char c) { return base::is_digit(c); });
  const auto dots = std::ranges::count(value, '.');
  const bool letters = std::ranges::any_of(value, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
  const bool version = static_cast<std::size_t>(digits + dots) == value.size();
  return digits >= 2 && !version && (letters || value.size() >= 12);
}

// A name after a dot where that can be read back, else in brackets.
void append_key(std::string& path, const std::string& key) {
  if (base::identifier(key)) {
    path += "." + key;
    return;
  }
  path += "[\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') path += '\\';
    path += c;
  }
  path += "\"]";
}

}  // namespace

const Correlator::Source* Correlator::find(const std::string& value) const {
  const auto found = sources_.find(value);
  return found == sources_.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::size_t, std::string>> Correlator::candidates(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string>> found;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!token_byte(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && token_byte(text[end])) ++end;
    if (const std::string_view value = text.substr(at, end - at); drawn(value)) found.emplace_back(at, value);
    at = end;
  }
  return found;
}

void Correlator::remember(std::size_t step, const std::string& value, std::string expression, std::string name) {
  if (sources_.size() >= limits_.correlated_values || expression.size() > kLongestExpression) return;
  sources_.try_emplace(value, Source{step, std::move(expression), std::move(name)});
}

void Correlator::learn(std::size_t step, std::string_view type, std::string_view body,
                       const std::vector<std::pair<std::string, std::string>>& headers) {
  for (const auto& [name, value] : headers) {
    const std::string key = base::lower(name);
    if (key.find("token") == std::string::npos && key.find("csrf") == std::string::npos &&
        key.find("xsrf") == std::string::npos && key.find("session") == std::string::npos) {
      continue;
    }
    // What is no name of a header was never one of an answer.
    if (!std::ranges::all_of(key, protocol::scan::is_token_byte)) continue;
    if (drawn(value)) remember(step, value, to_text(Path{"header", key}), key);
  }
  if (read_ + body.size() > limits_.correlated_bytes) return;
  read_ += body.size();
  if (type.find("json") != std::string_view::npos) {
    learn_json(step, body);
  } else if (type.find("html") != std::string_view::npos) {
    learn_page(step, body);
  }
}

void Correlator::learn_json(std::size_t step, std::string_view body) {
  const auto document = parse_import_json(body, limits_.depth);
  if (!document) return;
  // The parser has bounded the depth.
  const auto walk = [&](const auto& self, const ImportJson& value, const std::string& path,
                        const std::string& name) -> void {
    if (value.is_string() && drawn(value.get_ref<const std::string&>())) {
      remember(step, value.get_ref<const std::string&>(), path, name);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) self(self, value[i], fmt::format("{}[{}]", path, i), name);
    } else if (value.is_object()) {
      for (const auto& [key, inside] : value.items()) {
        std::string deeper = path;
        append_key(deeper, key);
        self(self, inside, deeper, key);
      }
    }
  };
  walk(walk, *document, "json", "value");
}

// Fields and meta elements whose value follows their name, as frameworks write tokens against forgery.
void Correlator::learn_page(std::size_t step, std::string_view body) {
  static const RE2 kElement(
      R"re(<(?:input|meta)\s[^>]*?name="([A-Za-z0-9_.:-]{1,64})"[^>]*?\s(value|content)="([^"]{8,1000})")re",
      RE2::Quiet);
  re2::StringPiece rest(body.data(), body.size());
  std::string name;
  std::string attribute;
  std::string value;
  while (RE2::FindAndConsume(&rest, kElement, &name, &attribute, &value)) {
    if (!drawn(value)) continue;
    std::string pattern;
    for (const char c : name) pattern += c == '.' ? std::string("[.]") : std::string(1, c);
    remember(step, value, fmt::format("regex(body, 'name=\"{}\"[^>]*\\\\s{}=\"([^\"]*)\"')", pattern, attribute), name);
  }
}

}  // namespace muster::authoring
