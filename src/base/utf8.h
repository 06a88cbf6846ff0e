// UTF-8 by RFC 3629: no surrogates, no overlong forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::base {

// U+FFFD, for what is no character.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the sequence at the start of `text`, which is not empty; 0 if it is not one.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const auto tail = [&](std::size_t at) { return (byte(at) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// Where the first byte stands that belongs to no sequence; npos if all do.
inline std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

inline bool is_utf8(std::string_view text) {
  return first_not_utf8(text) == std::string_view::npos;
}

// The beginning of `text`, at most `limit` bytes, without a part of a character at its end.
inline std::string_view utf8_beginning(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  constexpr std::size_t kLongest = 4;
  const auto tail = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u; };
  std::size_t end = limit;
  while (end > 0 && limit - end < kLongest - 1 && tail(end)) --end;
  return text.substr(0, end);
}

// The sequence of a character, whose number is at most 0x10FFFF and no surrogate.
template <class Out>
void append_utf8(Out& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      byte(0xE0 | (code >> 12));
    } else {
      byte(0xF0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3F));
    }
    byte(0x80 | ((code >> 6) & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

// The number of the character that `sequence` is: all of it, and found good by utf8_length.
inline std::uint32_t code_point(std::string_view sequence) {
  const std::uint32_t first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first;
  std::uint32_t value = first & (0xFFu >> (sequence.size() + 1));
  for (const char each : sequence.substr(1)) value = value << 6 | (static_cast<unsigned char>(each) & 0x3Fu);
  return value;
}

}  // namespace muster::base
