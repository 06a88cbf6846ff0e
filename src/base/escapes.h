// Escapes that strings in JSON and between double quotes in YAML share, and those of texts for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace muster::base {

// The letter that stands for `c` behind a backslash, or 0 if only its number can.
constexpr char escape_letter(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

// Whether a character may do something to a terminal, or to the text around it, rather than be seen: C0, C1 (U+0080 to
// U+009F), and what changes direction or hides text (bidi controls, zero-width characters, separators, tags).
constexpr bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

// Text from outside for one line of a terminal: line ends, control characters and bytes that are no UTF-8 are escaped.
// Tabs stay.
inline std::string one_line(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    const std::uint32_t code = length == 0 ? 0 : code_point(character);
    if (length != 0 && (code == '\t' || !is_control(code))) {
      line += character;
    } else if (const char letter = escape_letter(character.front()); letter != 0) {
      line += {'\\', letter};
    } else {
      for (const char each : character) {
        const unsigned byte = static_cast<unsigned char>(each);
        line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 0xF]};
      }
    }
  }
  return line;
}

// The same for a message of several lines: its line ends stay.
inline std::string clean_lines(std::string_view text) {
  std::string clean;
  for (;;) {
    const std::size_t end = text.find('\n');
    clean += one_line(text.substr(0, end));
    if (end == std::string_view::npos) return clean;
    clean += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace muster::base
