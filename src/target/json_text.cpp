#include "target/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/escapes.h"
#include "base/utf8.h"

namespace muster::target {
namespace {

void append_escaped(std::string& out, char c) {
  if (const char letter = base::escape_letter(c); letter != 0) {
    out += '\\';
    out += letter;
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    std::size_t length = 1;
    if (byte >= 0x80) {
      length = base::utf8_length(text);
      if (length == 0) {
        append_escaped(out, c);
        length = 1;
      } else {
        out += text.substr(0, length);
      }
    } else if (byte < 0x20 || byte == 0x7f || c == '"' || c == '\\') {
      append_escaped(out, c);
    } else {
      out += c;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace muster::target
