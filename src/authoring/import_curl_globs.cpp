#include "authoring/import_curl_globs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/characters.h"

namespace muster::authoring {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// [1-10], [001-100], [0-100:10], [a-z].
std::optional<std::vector<std::string>> range(std::string_view inside, std::size_t most) {
  unsigned long step = 1;
  if (const std::size_t colon = inside.find(':'); colon != std::string_view::npos) {
    if (!read_number(inside.substr(colon + 1), step) || step == 0) return std::nullopt;
    inside = inside.substr(0, colon);
  }
  const std::size_t dash = inside.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = inside.substr(0, dash);
  const std::string_view last = inside.substr(dash + 1);
  std::vector<std::string> all;
  unsigned long from = 0;
  unsigned long to = 0;
  if (read_number(first, from) && read_number(last, to)) {
    if (from > to || (to - from) / step >= most) return std::nullopt;
    const std::size_t width = first.size() > 1 && first.front() == '0' ? first.size() : 0;
    for (unsigned long i = from; i <= to; i += step) {
      all.push_back(fmt::format("{:0{}}", i, width));
      if (to - i < step) break;
    }
    return all;
  }
  const auto letter = [](std::string_view text) { return text.size() == 1 && base::is_letter(text[0]); };
  if (!letter(first) || !letter(last) || first[0] > last[0] || step > 26) return std::nullopt;
  for (int c = first[0]; c <= last[0]; c += static_cast<int>(step)) all.emplace_back(1, static_cast<char>(c));
  return all;
}

std::vector<std::string> choices(std::string_view inside) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t comma = inside.find(',');
    all.emplace_back(inside.substr(0, comma));
    if (comma == std::string_view::npos) return all;
    inside.remove_prefix(comma + 1);
  }
}

bool address(std::string_view inside) {
  return inside.find(':') != std::string_view::npos && inside.find('-') == std::string_view::npos &&
         inside.find_first_not_of("0123456789abcdefABCDEF:.%") == std::string_view::npos;
}

}  // namespace

std::optional<std::vector<std::string>> expand_globs(std::string_view url, std::size_t most) {
  std::vector<std::string> made{""};
  const auto literal = [&made](std::string_view text) {
    for (std::string& each : made) each += text;
  };
  while (!url.empty()) {
    const char c = url.front();
    if (c == '\\' && url.size() > 1 && std::string_view("{}[]").find(url[1]) != std::string_view::npos) {
      literal(url.substr(1, 1));
      url.remove_prefix(2);
      continue;
    }
    const std::size_t end = c == '{' ? url.find('}') : c == '[' ? url.find(']') : std::string_view::npos;
    if (c != '{' && c != '[') {
      literal(url.substr(0, 1));
      url.remove_prefix(1);
      continue;
    }
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = url.substr(1, end - 1);
    if (c == '[' && (address(inside) || inside.empty())) {
      literal(url.substr(0, end + 1));
      url.remove_prefix(end + 1);
      continue;
    }
    const auto values = c == '{' ? std::optional(choices(inside)) : range(inside, most);
    if (!values || made.size() * values->size() > most) return std::nullopt;
    // The first pattern changes slowest, as in curl.
    std::vector<std::string> next;
    for (const std::string& before : made) {
      for (const std::string& value : *values) next.push_back(before + value);
    }
    made = std::move(next);
    url.remove_prefix(end + 1);
  }
  return made;
}

}  // namespace muster::authoring
