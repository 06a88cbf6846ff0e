// Writes application/x-www-form-urlencoded bodies the way browsers do (a space becomes '+').
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/percent.h"

namespace muster::protocol {

inline constexpr std::string_view kFormContentType = "application/x-www-form-urlencoded";

// One name or value.
inline void append_form_encoded(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == ' ') {
      out += '+';
    } else if (percent::kFormBytes[static_cast<unsigned char>(c)]) {
      out += c;
    } else {
      percent::append_byte(out, c);
    }
  }
}

inline std::string encode_form(std::span<const std::pair<std::string_view, std::string_view>> fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    append_form_encoded(out, name);
    out += '=';
    append_form_encoded(out, value);
  }
  return out;
}

}  // namespace muster::protocol
