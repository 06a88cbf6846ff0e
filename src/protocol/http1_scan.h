// The byte scanners under the HTTP/1 parsers: sixteen bytes a step with SSE2, which every x86-64 has, and one byte a
// step elsewhere. Pure functions over [at, end); nothing outside that range is read.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/letter_case.h"

namespace muster::protocol::scan {

// tchar of RFC 9110 section 5.6.2.
inline constexpr std::array<bool, 256> kTokenBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = true;
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

constexpr bool is_token_byte(char c) {
  return kTokenBytes[static_cast<unsigned char>(c)];
}

constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_byte);
}

// Control bytes that no start line, header value or chunk extension may hold: all but HTAB.
constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The first byte that is not a tchar.
inline const char* skip_token(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i letter =
        _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)), _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
    const __m128i dash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
    // Letters and dashes cover nearly every name; whatever else is a tchar is left to the table below.
    const auto usual = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(letter, dash)));
    if (usual != 0xffff) {
      at += std::countr_zero(~usual);
      if (*at == ':') return at;
      break;
    }
    at += 16;
  }
#endif
  while (at != end && is_token_byte(*at)) ++at;
  return at;
}

// The first control byte (is_control), which in a good line is its CR.
inline const char* find_control(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del)));
    if (found != 0) return at + std::countr_zero(found);
    at += 16;
  }
#endif
  while (at != end && !is_control(*at)) ++at;
  return at;
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Whether `text` is `lower` (letters in lower case and '-' only) whatever the case of its letters.
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (base::lower(text[i]) != lower[i]) return false;
  }
  return true;
}

constexpr std::uint64_t word_at(const char* bytes) {
  if (std::is_constant_evaluated()) {
    std::uint64_t word = 0;
    for (int i = 7; i >= 0; --i) {
      word = word << 8 | static_cast<unsigned char>(bytes[std::endian::native == std::endian::little ? i : 7 - i]);
    }
    return word;
  }
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Whether `name`, already known to be a token of as many bytes as the lower-case literal, is that literal but for case.
// Among tchars only the two cases of one letter agree once bit 0x20 is set, so two overlapping words decide it.
template <std::size_t kSize>
  requires(kSize - 1 >= 8 && kSize - 1 <= 16)
constexpr bool is_field(const char* name, const char (&lower)[kSize]) {
  constexpr std::uint64_t kLowerBits = 0x2020202020202020u;
  constexpr std::size_t kTail = kSize - 1 - 8;
  return ((word_at(name) | kLowerBits) == (word_at(lower) | kLowerBits)) &&
         ((word_at(name + kTail) | kLowerBits) == (word_at(lower + kTail) | kLowerBits));
}

}  // namespace muster::protocol::scan
