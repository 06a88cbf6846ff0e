#include "engine/redaction.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "authoring/text_template.h"
#include "base/letter_case.h"
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

void redact_credentials(std::string& text, const std::vector<std::string>& spelled) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  auto at = text.begin();
  while ((at = std::search(at, text.end(), kBasic.begin(), kBasic.end(), same)) != text.end()) {
    const auto begin = static_cast<std::size_t>(at - text.begin()) + kBasic.size();
    std::size_t used = 0;
    if (holds_any(decoded(std::string_view(text).substr(begin), used), spelled)) text.replace(begin, used, kMask);
    at = text.begin() + static_cast<std::ptrdiff_t>(begin);
  }
}

}  // namespace

std::vector<std::string> spellings(const std::vector<std::pair<std::string, std::string>>& secrets) {
  std::vector<std::string> spelled;
  for (const auto& [name, secret] : secrets) {
    if (secret.empty()) continue;
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
  if (line == std::string::npos) return;
  ++line;
  while (line < exchange.size()) {
    std::size_t end = std::min(exchange.find('\n', line), exchange.size());
    const std::size_t text_end = end > line && exchange[end - 1] == '\r' ? end - 1 : end;
    if (text_end == line) return;  // the blank line before the body
    const std::size_t colon = exchange.find(':', line);
    if (colon < text_end && protocol::carries_credentials(std::string_view(exchange).substr(line, colon - line))) {
      std::size_t value = std::min(exchange.find_first_not_of(' ', colon + 1), text_end);
      // The scheme ("Bearer") is no secret, and useful to see.
      const std::size_t space = exchange.find(' ', value);
      if (space < text_end && base::lower(exchange.substr(line, colon - line)).contains("authorization"))
        value = space + 1;
      if (value < text_end) exchange.replace(value, text_end - value, kMask);
      end = exchange.find('\n', line);
      if (end == std::string::npos) return;
    }
    line = end + 1;
  }
}

void redact(std::string& text, const std::vector<std::string>& spelled) {
  if (spelled.empty()) return;
  redact_credentials(text, spelled);
  for (const std::string& secret : spelled) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kMask.size())) {
      text.replace(at, secret.size(), kMask);
    }
  }
}

}  // namespace muster::engine
