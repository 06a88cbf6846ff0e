// Kinds of characters: ASCII only and untouched by the locale, as every format and protocol here wants it.
#pragma once

namespace muster::base {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}

constexpr bool is_letter_or_digit(char c) {
  return is_letter(c) || is_digit(c);
}

}  // namespace muster::base
