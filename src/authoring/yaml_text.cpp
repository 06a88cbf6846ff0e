#include "authoring/yaml_text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace muster::authoring {
bool check_text(std::string_view text, const std::shared_ptr<const std::string>& file, Reporter& reporter) {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  bool indent = true;
  char before = '\n';
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
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
    if (text.starts_with("\u00A0") && (indent || before == ':' || before == '-')) {
      reporter.report({file, line, column},
                      fmt::format("a no-break space {}; YAML takes only plain spaces",
                                  indent ? "in the indentation" : fmt::format("after '{}'", before)));
      return false;
    }
    before = byte;
    indent = byte == '\n' || (indent && (byte == ' ' || byte == '\t'));
    column = byte == '\n' ? 1 : column + 1;
    line += byte == '\n' ? 1 : 0;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace muster::authoring
