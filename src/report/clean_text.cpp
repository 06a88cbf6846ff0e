#include "report/clean_text.h"

#include <cstddef>

#include "base/utf8.h"

namespace muster::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_kept(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x20) return first == '\t' || first == '\n' || first == '\r';
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    clean += length > 0 && is_kept(character) ? character : kReplacement;
    text.remove_prefix(character.size());
  }
  return clean;
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\t':
        escaped += "&#9;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      case '\r':
        escaped += "&#13;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string csv_text(std::string_view text) {
  std::string clean = clean_text(text);
  if (!clean.empty() && std::string_view("=+-@\t\r").find(clean[0]) != std::string_view::npos) clean.insert(0, "'");
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace muster::report
