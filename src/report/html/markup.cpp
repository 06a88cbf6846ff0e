#include "report/html/markup.h"

#include "report/text_layout.h"

namespace muster::report::html {

std::string escaped(std::string_view text) {
  const std::string clean = printable(text, true);
  std::string made;
  made.reserve(clean.size() + clean.size() / 16);
  for (const char each : clean) {
    switch (each) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '"':
        made += "&quot;";
        break;
      case '\'':
        made += "&#39;";
        break;
      default:
        made += each;
    }
  }
  return made;
}

std::string escaped_lines(std::string_view text) {
  std::string made;
  made.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    made += escaped(line);
    if (end == std::string_view::npos) break;
    made += '\n';
    text.remove_prefix(end + 1);
  }
  return made;
}

}  // namespace muster::report::html
