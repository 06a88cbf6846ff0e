#include "authoring/json_scan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "authoring/json_grammar.h"
#include "authoring/value_text.h"
#include "base/characters.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

using model::Value;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void skip_space(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

// Length of the string that starts with the quote at `from`, both quotes included; 0 where it is not closed.
std::size_t string_length(std::string_view text, std::size_t from) {
  for (std::size_t at = from + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1 - from;
    }
  }
  return 0;
}

std::size_t container_length(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t length = string_length(text, at);
      if (length == 0) return 0;
      at += length - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return 0;
}

// Length of the value at the start of `text`; 0 where there is none.
std::size_t value_length(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() == '"') return string_length(text, 0);
  if (text.front() == '{' || text.front() == '[') return container_length(text);
  std::size_t at = 0;
  while (at < text.size() && !is_space(text[at]) && text[at] != ',' && text[at] != ']' && text[at] != '}') ++at;
  return at;
}

std::optional<std::uint32_t> four_hex(std::string_view text, std::size_t at) {
  std::uint32_t code = 0;
  if (at > text.size() || text.size() - at < 4) return std::nullopt;
  const char* const end = text.data() + at + 4;
  const auto [stop, failure] = std::from_chars(text.data() + at, end, code, 16);
  return failure == std::errc() && stop == end ? std::optional(code) : std::nullopt;
}

// Reads \uXXXX at `at` (of the 'u'), with the second half of a surrogate pair where there is one. Half a pair, which
// the grammar allows, becomes U+FFFD. False: broken.
template <class Out>
bool append_unicode(Out& out, std::string_view text, std::size_t& at) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  auto code = four_hex(text, at + 1);
  if (!code) return false;
  at += 4;
  if (*code >= 0xD800 && *code < 0xDC00) {
    const bool pair = text.substr(at + 1).starts_with("\\u");
    const auto low = pair ? four_hex(text, at + 3) : std::nullopt;
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
      at += 6;
    } else {
      code = kReplacement;
    }
  } else if (*code >= 0xDC00 && *code <= 0xDFFF) {
    code = kReplacement;
  }
  base::append_utf8(out, *code);
  return true;
}

// False: broken.
template <class Out>
bool append_unescaped(Out& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out.push_back(text[at]);
      continue;
    }
    if (++at == text.size()) return false;
    switch (text[at]) {
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case '"':
      case '\\':
      case '/':
        out.push_back(text[at]);
        break;
      case 'u':
        if (!append_unicode(out, text, at)) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

Value unescaped(std::string_view text, base::Arena& arena) {
  if (text.find('\\') == std::string_view::npos) return Value::of(text);
  ArenaText out(arena, text.size());
  return append_unescaped(out, text) && !out.overflowed() ? Value::of(out.finish()) : Value();
}

// Whether the number, which no double holds, is too large rather than too small.
bool too_large(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, mark);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  std::string_view power = mark == std::string_view::npos ? "0" : number.substr(mark + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc())
    return !power.starts_with('-');
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  return exponent > static_cast<std::int64_t>(first) - point;
}

Value json_number(std::string_view raw) {
  const Value small = number_of(raw);
  if (!small.missing() || raw.empty() || json_number_length(raw) != raw.size()) return small;
  if (const auto number = base::parse_number(raw)) return Value::of(*number);
  const double most = too_large(raw) ? std::numeric_limits<double>::max() : 0.0;
  return Value::of(raw.starts_with('-') ? -most : most);
}

// Whether simdjson has a type for the number, as it has for nearly all.
bool ordinary(std::string_view raw) {
  if (raw.find_first_of(".eE") != std::string_view::npos) return base::parse_number(raw) || !too_large(raw);
  const auto fits = [raw](auto whole) {
    return std::from_chars(raw.data(), raw.data() + raw.size(), whole).ec == std::errc();
  };
  return fits(std::int64_t{}) || (!raw.starts_with('-') && fits(std::uint64_t{}));
}

bool key_equals(std::string_view raw, std::string_view name, base::Arena& arena) {
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside == name;
  const Value key = unescaped(inside, arena);
  return !key.missing() && key.text() == name;
}

std::optional<std::string_view> step_into(std::string_view json, const PathPart& part, base::Arena& arena) {
  JsonElements elements(json);
  std::string_view element;
  if (const auto* name = std::get_if<std::string>(&part)) {
    while (elements.object() && elements.next(element)) {
      if (key_equals(element, *name, arena)) return elements.value();
    }
    return std::nullopt;
  }
  if (elements.object()) return std::nullopt;
  std::int64_t index = std::get<std::int64_t>(part);
  if (index < 0) {
    for (JsonElements counted(json); counted.next(element);) ++index;
    if (index < 0) return std::nullopt;
  }
  while (elements.next(element)) {
    if (index-- == 0) return element;
  }
  return std::nullopt;
}

}  // namespace

JsonElements::JsonElements(std::string_view json) : rest_(json) {
  skip_space(rest_);
  if (rest_.empty() || (rest_.front() != '[' && rest_.front() != '{')) return;
  close_ = rest_.front() == '[' ? ']' : '}';
  rest_.remove_prefix(1);
}

bool JsonElements::next(std::string_view& element) {
  const auto take = [this](std::string_view& into) {
    skip_space(rest_);
    const std::size_t length = value_length(rest_);
    into = rest_.substr(0, length);
    rest_.remove_prefix(length);
    skip_space(rest_);
    return length > 0;
  };
  const auto stop = [this] {
    rest_ = {};
    return false;
  };
  skip_space(rest_);
  if (close_ == 0 || rest_.empty() || rest_.front() == close_) return stop();
  if (!first_) {
    if (rest_.front() != ',') return stop();
    rest_.remove_prefix(1);
  }
  first_ = false;
  if (!take(element)) return stop();
  if (close_ == ']') return true;
  if (element.front() != '"' || rest_.empty() || rest_.front() != ':') return stop();
  rest_.remove_prefix(1);
  return take(value_) || stop();
}

Value json_value(std::string_view raw, base::Arena& arena) {
  skip_space(raw);
  while (!raw.empty() && is_space(raw.back())) raw.remove_suffix(1);
  if (raw.empty()) return {};
  if (raw.front() == '"') {
    return string_length(raw, 0) == raw.size() ? unescaped(raw.substr(1, raw.size() - 2), arena) : Value();
  }
  if (raw.front() == '{' || raw.front() == '[') return Value::json(raw);
  if (raw == "true") return Value::of(true);
  if (raw == "false") return Value::of(false);
  if (raw == "null") return Value::null();
  return json_number(raw);
}

void append_compact(ArenaText& out, std::string_view json) {
  while (!json.empty()) {
    const char first = json.front();
    std::size_t length = 1;
    if (first == '"') {
      length = std::max<std::size_t>(1, string_length(json, 0));
      std::string text;
      append_unescaped(text, json.substr(1, length < 2 ? 0 : length - 2));
      append_as_json(out, Value::of(std::string_view(text)));
    } else if (first == '-' || base::is_digit(first)) {
      length = std::max<std::size_t>(1, json_number_length(json));
      const std::string_view number = json.substr(0, length);
      if (ordinary(number)) {
        append_plain(out, json_number(number));
      } else {
        out.append(number);
      }
    } else if (!is_space(first)) {
      out.push_back(first);
    }
    json.remove_prefix(length);
  }
}

Value find_in_json(std::string_view json, const Path& path, base::Arena& arena) {
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  for (const PathPart& part : path) {
    const auto inside = step_into(json, part, arena);
    if (!inside) return {};
    json = *inside;
  }
  return json_value(json, arena);
}

bool same_json(std::string_view left, std::string_view right) {
  bool quoted = false;
  while (true) {
    if (!quoted) {
      skip_space(left);
      skip_space(right);
    }
    if (left.empty() || right.empty()) return left.empty() && right.empty();
    if (left.front() != right.front()) return false;
    if (quoted && left.front() == '\\') {
      if (left.size() < 2 || right.size() < 2 || left[1] != right[1]) return false;
      left.remove_prefix(1);
      right.remove_prefix(1);
    } else if (left.front() == '"') {
      quoted = !quoted;
    }
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
}

}  // namespace muster::authoring
