#include "authoring/import_json.h"

#include <fmt/format.h>

namespace muster::authoring {

base::Expected<ImportJson> parse_import_json(std::string_view text, std::size_t most_depth) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // The parser itself goes as deep as its input: what is read later by recursion must not.
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most_depth) return base::fail(fmt::format("it is nested more than {} levels deep", most_depth));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  try {
    return ImportJson::parse(text);
  } catch (const std::exception& error) {
    std::string why = error.what();
    if (const std::size_t from = why.find("at line"); from != std::string::npos) why = why.substr(from);
    return base::fail(fmt::format("it is not JSON: {}", why.substr(0, 200)));
  }
}

const ImportJson& member(const ImportJson& value, std::string_view key) {
  static const ImportJson kNothing;
  if (!value.is_object()) return kNothing;
  const auto found = value.find(std::string(key));
  return found == value.end() ? kNothing : *found;
}

std::string text_member(const ImportJson& value, std::string_view key, std::string_view fallback) {
  const ImportJson& found = member(value, key);
  return found.is_string() ? found.get_ref<const std::string&>() : std::string(fallback);
}

double number_member(const ImportJson& value, std::string_view key, double fallback) {
  const ImportJson& found = member(value, key);
  return found.is_number() ? found.get<double>() : fallback;
}

}  // namespace muster::authoring
