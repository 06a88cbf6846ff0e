#include "authoring/import_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/utf8.h"

namespace muster::authoring {
namespace {

struct TooDeep {};

// Brackets in what is no JSON say nothing about its depth: what is wrong first is told.
base::Expected<ImportJson> parse_to(std::string_view text, std::size_t most_depth) {
  try {
    return ImportJson::parse(text, [most_depth](int depth, ImportJson::parse_event_t event, ImportJson&) {
      const bool begins =
          event == ImportJson::parse_event_t::object_start || event == ImportJson::parse_event_t::array_start;
      if (begins && static_cast<std::size_t>(depth) >= most_depth) throw TooDeep();
      return true;
    });
  } catch (const TooDeep&) {
    return base::fail(fmt::format("it is nested more than {} levels deep", most_depth));
  }
}

bool plain_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F;
}

}  // namespace

base::Expected<ImportJson> parse_import_json(std::string_view text, std::size_t most_depth) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // The parser itself goes as deep as its input: what is read later by recursion must not.
  std::size_t depth = 0;
  bool quoted = false;
  bool deep = false;
  for (std::size_t i = 0; i < text.size() && !deep; ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deep = ++depth > most_depth;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  try {
    if (deep) return parse_to(text, most_depth);
    return ImportJson::parse(text);
  } catch (const std::exception& error) {
    std::string why = error.what();
    if (const std::size_t from = why.find("at line"); from != std::string::npos) why = why.substr(from);
    if (!base::is_utf8(why)) std::ranges::replace_if(why, std::not_fn(plain_ascii), '?');
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
