// Escapes that strings in JSON and between double quotes in YAML share.
#pragma once

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

}  // namespace muster::base
