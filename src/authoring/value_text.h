// Values as text and text as values: the writers that templates, functions and JSON share, for std::string and
// ArenaText alike, and the one rule for when text counts as a number.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "model/value.h"

namespace muster::authoring {

// Room for any number that NumberText writes.
struct NumberText {
  explicit NumberText(std::int64_t value) {
    finish(std::to_chars(buffer.data(), buffer.data() + buffer.size(), value));
  }
  // The shortest text that reads back as the same number; whole numbers below 1e15 without point and exponent.
  explicit NumberText(double value) {
    char* const end = buffer.data() + buffer.size();
    if (std::abs(value) < 1e15 && value == std::trunc(value)) {
      finish(std::to_chars(buffer.data(), end, static_cast<std::int64_t>(value)));
    } else {
      // Digits without a point would read back as an integer that is too large for one.
      const bool large = std::abs(value) >= 1e15;
      finish(large ? std::to_chars(buffer.data(), end, value, std::chars_format::scientific)
                   : std::to_chars(buffer.data(), end, value));
    }
  }
  std::string_view text() const { return {buffer.data(), size}; }

  std::array<char, 32> buffer;
  std::size_t size = 0;

 private:
  void finish(std::to_chars_result result) { size = static_cast<std::size_t>(result.ptr - buffer.data()); }
};

// The number that `text` is, whole and in decimal: '-', digits, a fraction, an exponent. Integers stay integers where
// they fit. Missing otherwise.
model::Value number_of(std::string_view text);

// The number a value stands for: itself, or its text read by the rule above. Missing otherwise.
inline model::Value to_number(const model::Value& value) {
  if (value.numeric()) return value;
  return value.type() == model::ValueType::kText ? number_of(value.text()) : model::Value();
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

// The inside of a JSON string (RFC 8259 section 7). Bytes that are not ASCII stand as they are.
template <class Out>
void append_json_escaped(Out& out, std::string_view text) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text.substr(from, at - from));
    from = at + 1;
    out.push_back('\\');
    switch (byte) {
      case '"':
        out.push_back('"');
        break;
      case '\\':
        out.push_back('\\');
        break;
      case '\n':
        out.push_back('n');
        break;
      case '\r':
        out.push_back('r');
        break;
      case '\t':
        out.push_back('t');
        break;
      case '\b':
        out.push_back('b');
        break;
      case '\f':
        out.push_back('f');
        break;
      default:
        out.append(std::string_view("u00"));
        out.push_back(kHexDigits[byte >> 4]);
        out.push_back(kHexDigits[byte & 15]);
    }
  }
  out.append(text.substr(from));
}

// RFC 3986: everything but the unreserved characters, and '/' where `keep_slash`, becomes %XX.
template <class Out>
void append_percent_encoded(Out& out, std::string_view text, bool keep_slash) {
  constexpr std::string_view kUpperHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    const bool plain = letter || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
                       byte == '~' || (keep_slash && byte == '/');
    if (plain) {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kUpperHex[byte >> 4]);
      out.push_back(kUpperHex[byte & 15]);
    }
  }
}

// The value as plain text; a missing one appends nothing.
template <class Out>
void append_plain(Out& out, const model::Value& value) {
  switch (value.type()) {
    case model::ValueType::kMissing:
      break;
    case model::ValueType::kNull:
      out.append(std::string_view("null"));
      break;
    case model::ValueType::kBool:
      out.append(std::string_view(value.boolean() ? "true" : "false"));
      break;
    case model::ValueType::kInteger:
      out.append(NumberText(value.integer()).text());
      break;
    case model::ValueType::kNumber:
      out.append(NumberText(value.number()).text());
      break;
    case model::ValueType::kText:
    case model::ValueType::kJson:
      out.append(value.text());
      break;
  }
}

template <class Out>
void append_as_json(Out& out, const model::Value& value) {
  if (value.type() == model::ValueType::kText) {
    out.push_back('"');
    append_json_escaped(out, value.text());
    out.push_back('"');
  } else if (value.missing()) {
    out.append(std::string_view("null"));
  } else {
    append_plain(out, value);
  }
}

}  // namespace muster::authoring
