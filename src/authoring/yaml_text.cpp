#include "authoring/yaml_text.h"

#include <fmt/format.h>

namespace muster::authoring {
namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 if it is not one (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8_length(std::string_view text) {
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

}  // namespace

bool check_text(std::string_view text, const std::shared_ptr<const std::string>& file, Reporter& reporter) {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  bool indent = true;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char byte = text.front();
    if (length == 0) {
      reporter.report({file, line, column}, "this is not UTF-8 text; save the file as UTF-8");
      return false;
    }
    if ((static_cast<unsigned char>(byte) < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      reporter.report({file, line, column}, fmt::format("control character 0x{:02x} in the file; remove it",
                                                        static_cast<unsigned char>(byte)));
      return false;
    }
    if (byte == '\t' && indent && text.find_first_not_of(" \t\r") != text.find('\n') &&
        text.find_first_not_of(" \t") != text.find('#')) {
      reporter.report({file, line, column}, "a tab in the indentation; YAML takes only spaces");
      return false;
    }
    indent = byte == '\n' || (indent && (byte == ' ' || byte == '\t'));
    column = byte == '\n' ? 1 : column + 1;
    line += byte == '\n' ? 1 : 0;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace muster::authoring
