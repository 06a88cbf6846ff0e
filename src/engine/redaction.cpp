#include "engine/redaction.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "authoring/text_template.h"
#include "authoring/value_text.h"
#include "base/letter_case.h"
#include "base/utf8.h"
#include "model/value.h"
#include "protocol/credentials.h"
#include "protocol/form.h"
#include "protocol/url.h"

namespace muster::engine {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kBasic = "basic ";
constexpr std::size_t kLeastEncoded = 6;  // shorter pieces would hide innocent text
constexpr int kMostEscaped = 3;           // times that a secret is put into a JSON string
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool holds_any(std::string_view text, const std::vector<std::string>& spelled) {
  return std::ranges::any_of(spelled, [&](const std::string& each) { return text.contains(each); });
}

// What the base64 characters at the beginning of `text` say; `used` is their number.
std::string decoded(std::string_view text, std::size_t& used) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (used = 0; used < text.size(); ++used) {
    const std::size_t digit = kBase64.find(text[used]);
    if (digit == std::string_view::npos) break;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
  }
  while (used < text.size() && text[used] == '=') ++used;
  return out;
}

// A piece of base64, also in the alphabet for URLs and without padding, as base64url() writes it.
void add_both_alphabets(std::vector<std::string>& spelled, std::string piece) {
  spelled.push_back(piece);
  while (piece.ends_with('=')) piece.pop_back();
  std::ranges::replace(piece, '+', '-');
  std::ranges::replace(piece, '/', '_');
  spelled.push_back(std::move(piece));
}

void add_hex(std::vector<std::string>& spelled, std::string_view secret) {
  if (secret.size() * 2 < kLeastEncoded) return;
  for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    std::string& hex = spelled.emplace_back();
    for (const char each : secret) {
      const auto byte = static_cast<unsigned char>(each);
      hex += digits[byte >> 4U];
      hex += digits[byte & 15U];
    }
  }
}

// What base64 makes of a text that holds the secret does not depend on the rest of it, apart from where it begins and
// its edges: for each of the three places, the characters that the secret alone decides.
void add_base64(std::vector<std::string>& spelled, std::string_view secret) {
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string padded = std::string(before, '\0') + std::string(secret);
    std::string all;
    for (std::size_t bit = 0; bit + 6 <= padded.size() * 8; bit += 6) {
      std::uint32_t digit = 0;
      for (std::size_t i = bit; i < bit + 6; ++i) {
        const auto byte = static_cast<unsigned char>(padded[i / 8]);
        digit = digit << 1U | (byte >> (7U - i % 8) & 1U);
      }
      all += kBase64[digit];
    }
    const std::size_t first = (before * 8 + 5) / 6;
    if (all.size() < first + kLeastEncoded) continue;
    add_both_alphabets(spelled, all.substr(first));
    // Where the text ends with the secret, what is left of its bits and the padding tell of it too.
    if (const std::size_t left = padded.size() * 8 % 6; left != 0) {
      const auto last = static_cast<unsigned char>(padded.back());
      all += kBase64[(last & ((1U << left) - 1U)) << (6 - left)];
      all.append(left == 2 ? 2 : 1, '=');
      add_both_alphabets(spelled, all.substr(first));
    }
  }
}

// Whether the name of such a header stands close before `at`, as in `Authorization: ` and `"authorization": "`.
bool follows_authorization(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "authorization";
  constexpr std::size_t kMostBetween = 6;
  const std::size_t from = at - std::min(at, kName.size() + kMostBetween);
  return base::lower(text.substr(from, at - from)).contains(kName);
}

// Of basic authentication, those of which `hides` says so, given what they are and where "Basic" stands.
template <class Hides>
void mask_basic_if(std::string& text, const Hides& hides) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  auto at = text.begin();
  while ((at = std::search(at, text.end(), kBasic.begin(), kBasic.end(), same)) != text.end()) {
    const auto begin = static_cast<std::size_t>(at - text.begin()) + kBasic.size();
    std::size_t used = 0;
    const std::string said = decoded(std::string_view(text).substr(begin), used);
    if (hides(said, begin - kBasic.size())) text.replace(begin, used, kMask);
    at = text.begin() + static_cast<std::ptrdiff_t>(begin);
  }
}

// What an escape at the beginning of `text` stands for; nothing is used where there is none.
struct Escape {
  std::size_t used = 0;
  std::string bytes;
};

std::optional<std::uint32_t> number(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

Escape code_point(std::size_t used, std::optional<std::uint32_t> value) {
  if (!value || *value > 0x10ffff) return {};
  Escape made{.used = used, .bytes = {}};
  base::append_utf8(made.bytes, *value);
  return made;
}

// "%2f".
Escape percent_escape(std::string_view text) {
  const auto byte = text.size() < 3 ? std::nullopt : number(text.substr(1, 2), 16);
  return byte ? Escape{3, std::string(1, static_cast<char>(*byte))} : Escape{};
}

// "\u0026", also as a pair of surrogates, "\x26", "\/", "\n".
Escape backslash_escape(std::string_view text) {
  if (text.size() < 2) return {};
  if (text[1] == 'x') return text.size() < 4 ? Escape{} : code_point(4, number(text.substr(2, 2), 16));
  if (text[1] == 'u') {
    const auto first = text.size() < 6 ? std::nullopt : number(text.substr(2, 4), 16);
    if (!first || (*first & 0xfc00U) != 0xd800U) return code_point(6, first);
    const auto second = text.size() < 12 || text.substr(6, 2) != "\\u" ? std::nullopt : number(text.substr(8, 4), 16);
    if (!second || (*second & 0xfc00U) != 0xdc00U) return {};
    return code_point(12, 0x10000U + ((*first & 0x3ffU) << 10U) + (*second & 0x3ffU));
  }
  constexpr std::string_view kLetters = "bfnrt";
  const std::size_t letter = kLetters.find(text[1]);
  return {2, std::string(1, letter == std::string_view::npos ? text[1] : "\b\f\n\r\t"[letter])};
}

// "&amp;", "&#38;", "&#x26;".
Escape entity(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  constexpr std::array<std::pair<std::string_view, char>, 5> kNames{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  const std::size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) return {};
  const std::string_view name = text.substr(1, end - 1);
  for (const auto& [known, character] : kNames) {
    if (name == known) return {end + 1, std::string(1, character)};
  }
  if (!name.starts_with('#')) return {};
  const bool hexadecimal = name.size() > 1 && (name[1] | 0x20) == 'x';
  return code_point(end + 1, hexadecimal ? number(name.substr(2), 16) : number(name.substr(1), 10));
}

Escape escape(std::string_view text) {
  switch (text.front()) {
    case '%':
      return percent_escape(text);
    case '\\':
      return backslash_escape(text);
    case '&':
      return entity(text);
    case '+':
      return {1, " "};
    default:
      return {};
  }
}

// Length of what stands between two chunks of a body (RFC 9112, section 7.1) at the beginning of `text`; 0: nothing.
std::size_t edge_of_chunks(std::string_view text) {
  if (!text.starts_with("\r\n")) return 0;
  const std::size_t end = text.find("\r\n", 2);
  if (end == std::string_view::npos) return 0;
  const std::string_view line = text.substr(2, end - 2);
  return number(line.substr(0, line.find_first_of("; \t")), 16) ? end + 2 : 0;
}

// What escape() says, also of one that edges of chunks cut.
Escape escape_across_edges(std::string_view text) {
  if (std::string_view("%\\&+").find(text.front()) == std::string_view::npos) return {};
  constexpr std::size_t kLongest = 12;
  std::string flat;
  std::array<std::size_t, kLongest> ends{};  // in `text`, of each character
  for (std::size_t at = 0; at < text.size() && flat.size() < kLongest;) {
    const std::size_t edge = flat.empty() ? 0 : edge_of_chunks(text.substr(at));
    at += edge;
    if (edge != 0) continue;
    flat += text[at++];
    ends[flat.size() - 1] = at;
  }
  Escape found = escape(flat);
  if (found.used != 0) found.used = ends[found.used - 1];
  return found;
}

// How much of `text`, from its beginning, spells `secret`; 0 if it does not.
std::size_t spelled_length(std::string_view text, std::string_view secret) {
  constexpr std::size_t kMostDetours = 100;  // a text of nothing but escapes can be read in too many ways
  std::vector<std::pair<std::size_t, std::size_t>> detours;
  std::size_t at = 0;
  std::size_t matched = 0;
  for (std::size_t taken = 0; matched < secret.size();) {
    const std::string_view rest = text.substr(at);
    const Escape escaped = rest.empty() ? Escape{} : escape_across_edges(rest);
    const bool other = escaped.used != 0 && secret.substr(matched).starts_with(escaped.bytes);
    if (!rest.empty() && rest.front() == secret[matched]) {
      if (other) detours.emplace_back(at + escaped.used, matched + escaped.bytes.size());
      ++at;
      ++matched;
    } else if (other) {
      at += escaped.used;
      matched += escaped.bytes.size();
    } else if (const std::size_t edge = matched == 0 ? 0 : edge_of_chunks(rest); edge != 0) {
      at += edge;
    } else {
      if (detours.empty() || ++taken > kMostDetours) return 0;
      std::tie(at, matched) = detours.back();
      detours.pop_back();
    }
  }
  return at;
}

void redact_spelled(std::string& text, std::string_view secret) {
  const char begins[] = {secret.front(), '%', '\\', '&', '+'};
  const std::string_view beginnings(begins, std::size(begins));
  for (std::size_t at = text.find_first_of(beginnings); at != std::string::npos;
       at = text.find_first_of(beginnings, at)) {
    const std::size_t length = spelled_length(std::string_view(text).substr(at), secret);
    if (length != 0) text.replace(at, length, kMask);
    at += length != 0 ? kMask.size() : 1;
  }
}

// The line `name: value` from `begin` to `end`.
void mask_field(std::string& exchange, std::size_t begin, std::size_t end) {
  const std::size_t colon = exchange.find(':', begin);
  if (colon >= end) return;
  std::size_t value = std::min(exchange.find_first_not_of(' ', colon + 1), end);
  const std::string name = base::lower(std::string_view(exchange).substr(begin, colon - begin));
  if (!protocol::carries_credentials(name)) {
    const std::string_view shown = std::string_view(exchange).substr(value, end - value);
    // Few values have anything to look for.
    if (shown.find_first_of("?#@") == std::string_view::npos) return;
    exchange.replace(value, end - value, protocol::without_credentials_of_addresses(shown));
    return;
  }
  // The scheme ("Bearer") is no secret, and useful to see.
  const std::size_t space = exchange.find(' ', value);
  if (space < end && name.contains("authorization")) value = space + 1;
  if (value < end) exchange.replace(value, end - value, kMask);
}

void add_spellings(std::vector<std::string>& spelled, const std::string& secret) {
  spelled.push_back(secret);
  spelled.push_back(protocol::encode_path(secret));
  spelled.push_back(protocol::encode_query(secret));
  protocol::append_form_encoded(spelled.emplace_back(), secret);
  // Also JSON within JSON, as a server that echoes its input gives it, and that as a value is shown.
  std::string escaped = secret;
  for (int level = 0; level < kMostEscaped; ++level) {
    std::string quoted;
    authoring::append_json(quoted, model::Value::of(std::string_view(escaped)));
    escaped = quoted.substr(1, quoted.size() - 2);
    spelled.push_back(escaped);
  }
  add_base64(spelled, secret);
  add_hex(spelled, secret);
}

}  // namespace

std::vector<std::string> spellings(const std::vector<std::pair<std::string, std::string>>& secrets) {
  std::vector<std::string> spelled;
  for (const auto& [name, secret] : secrets) {
    if (secret.empty()) continue;
    // What upper() and lower() make of it is one in turn.
    for (const std::string& cased : {secret, base::upper(secret), base::lower(secret)}) add_spellings(spelled, cased);
  }
  std::ranges::sort(spelled, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  const auto repeated = std::ranges::unique(spelled);
  spelled.erase(repeated.begin(), repeated.end());
  return spelled;
}

void mask_credentials(std::string& exchange) {
  protocol::mask_query(exchange);
  std::size_t line = exchange.find('\n');  // behind the request's or the status line
  while (line != std::string::npos && ++line < exchange.size()) {
    const std::size_t end = std::min(exchange.find('\n', line), exchange.size());
    const std::size_t text_end = end > line && exchange[end - 1] == '\r' ? end - 1 : end;
    if (text_end == line) return;  // the blank line before the body
    mask_field(exchange, line, text_end);
    line = exchange.find('\n', line);
  }
}

void mask_basic_credentials(std::string& text) {
  mask_basic_if(text, [&](const std::string& said, std::size_t at) {
    return said.contains(':') && follows_authorization(text, at);
  });
}

void redact(std::string& text, const std::vector<std::string>& spelled) {
  if (spelled.empty()) return;
  mask_basic_if(text, [&](const std::string& said, std::size_t /*at*/) { return holds_any(said, spelled); });
  for (const std::string& secret : spelled) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kMask.size())) {
      text.replace(at, secret.size(), kMask);
    }
  }
  // Only where there is something that may be read otherwise than it stands.
  if (text.find_first_of("%\\&+\r") == std::string::npos) return;
  for (const std::string& secret : spelled) redact_spelled(text, secret);
}

}  // namespace muster::engine
