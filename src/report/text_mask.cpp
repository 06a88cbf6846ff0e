#include <algorithm>
#include <cctype>

#include "base/letter_case.h"
#include "protocol/credentials.h"
#include "report/source_mask_parts.h"

namespace muster::report {
namespace {

bool key_character(char each) {
  return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_' || each == '-';
}

// As the script sees it, as far as masking has to know.
std::string unescaped(std::string_view content) {
  std::string made;
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (content[i] != '\\' || i + 1 == content.size()) {
      made += content[i];
    } else {
      const char escaped = content[++i];
      made += escaped == 'n' || escaped == 'r' ? '\n' : escaped;
    }
  }
  return made;
}

}  // namespace

// *** for each line of `content`.
std::string hidden(std::string_view content) {
  if (!content.contains('\n')) return std::string(kMask);
  std::string made;
  for (bool fresh = true; const char each : content) {
    if (each == '\n') {
      made += each;
    } else if (fresh) {
      made.append(kMask);
    }
    fresh = each == '\n';
  }
  return made;
}

std::string without_form_values(std::string_view text) {
  std::string made;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && key_character(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    made.append(word);
    at = end;
    if (at == text.size()) break;
    made += text[at];
    const bool key = text[at++] == '=' && (holds_credentials(word) || protocol::names_credentials(word));
    if (!key) continue;
    const std::size_t value_end = std::min(text.find_first_of("&; \t\r\n\"'#", at), text.size());
    const std::string_view value = text.substr(at, value_end - at);
    if (value.empty() || value.front() == '=' || comes_from_elsewhere(value)) continue;
    made.append(kMask);
    at = value_end;
  }
  return made;
}

std::string looked_into(std::string_view content, bool raw) {
  constexpr std::string_view kBearer = "bearer ";
  const bool bearer = content.size() > kBearer.size() && base::lower(content.substr(0, kBearer.size())) == kBearer;
  if (bearer && !comes_from_elsewhere(content)) return hidden(content);
  const bool plain = raw || !content.contains('\\');
  const std::string seen = plain ? std::string(content) : unescaped(content);
  std::string masked = masked_yaml(seen);
  if (masked == seen) return std::string(content);
  return plain ? masked : hidden(content);
}

}  // namespace muster::report
