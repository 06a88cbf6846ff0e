// Percent-encoding (RFC 3986 section 2.1) under url.h and form.h: sets of bytes that need none, and the encoder.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/characters.h"

namespace muster::protocol::percent {

using Bytes = std::array<bool, 256>;

consteval Bytes letters_digits_and(std::string_view others) {
  Bytes set{};
  for (unsigned c = '0'; c <= '9'; ++c) set[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) set[c] = set[c - 'a' + 'A'] = true;
  for (const char c : others) set[static_cast<unsigned char>(c)] = true;
  return set;
}

inline constexpr Bytes kUnreservedBytes = letters_digits_and("-._~");
inline constexpr Bytes kPathValueBytes = letters_digits_and("-._~/");
inline constexpr Bytes kFormBytes = letters_digits_and("-._*");

// What may stand bare in a path and in a query that a person wrote, beside percent triplets.
inline constexpr Bytes kPathBytes = letters_digits_and("-._~!$&'()*+,;=:@/");
inline constexpr Bytes kQueryBytes = letters_digits_and("-._~!$&'()*+,;=:@/?[]|");

constexpr bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

constexpr int hex_value(char c) {
  if (base::is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether `text` begins with '%' and two hexadecimal digits.
constexpr bool is_triplet(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && hex_value(text[1]) >= 0 && hex_value(text[2]) >= 0;
}

inline void append_byte(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

inline void append_encoded(std::string& out, std::string_view value, const Bytes& bare) {
  for (const char c : value) {
    if (bare[static_cast<unsigned char>(c)]) {
      out += c;
    } else {
      append_byte(out, c);
    }
  }
}

// As append_encoded, but leaves triplets alone: for text that is meant to be encoded already.
inline void append_repaired(std::string& out, std::string_view text, const Bytes& bare) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (bare[static_cast<unsigned char>(text[i])] || is_triplet(text.substr(i))) {
      out += text[i];
    } else {
      append_byte(out, text[i]);
    }
  }
}

}  // namespace muster::protocol::percent
