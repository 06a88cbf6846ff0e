#include "report/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/escapes.h"
#include "base/utf8.h"

namespace muster::report {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint next(std::string_view text) {
  const std::size_t size = base::utf8_length(text);
  if (size == 0) return {};
  return {base::code_point(text.substr(0, size)), size, true};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

template <std::size_t N>
bool within(std::uint32_t value, const std::array<Range, N>& ranges) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return value >= range.first && value <= range.last; });
}

std::size_t columns_of(std::uint32_t value) {
  constexpr std::array<Range, 5> kNone = {
      {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  constexpr std::array<Range, 8> kTwo = {{{0x1100, 0x115F},
                                          {0x2E80, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0x1F300, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};
  if (value < 0x300) return 1;
  if (within(value, kNone)) return 0;
  return within(value, kTwo) ? 2 : 1;
}

// The longest beginning of `text` that is at most `columns` wide.
std::string_view beginning(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const CodePoint point = next(text.substr(at));
    used += columns_of(point.value);
    if (used > columns) break;
    at += point.bytes;
  }
  return text.substr(0, at);
}

// The longest end of `text` that is at most `columns` wide.
std::string_view ending(std::string_view text, std::size_t columns) {
  std::size_t total = width(text);
  std::size_t at = 0;
  while (at < text.size() && total > columns) {
    const CodePoint point = next(text.substr(at));
    total -= columns_of(point.value);
    at += point.bytes;
  }
  return text.substr(at);
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  const CodePoint point = next(text);
  return {static_cast<char32_t>(point.value), point.bytes, columns_of(point.value), point.valid};
}

std::string printable(std::string_view text, bool unicode) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = next(text);
    if (point.value == '\t' || point.value == '\n' || point.value == '\r') {
      if (point.valid) made += ' ';
    } else if (!point.valid || base::is_control(point.value)) {
      made += '.';
    } else if (point.value >= 0x80 && !unicode) {
      made += '?';
    } else {
      made += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return made;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = next(text);
    columns += columns_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns, bool unicode) {
  if (width(text) <= columns) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "~";
  if (columns <= 1) return std::string(columns == 1 ? ellipsis : "");
  const std::size_t tail = (columns - 1) / 2;
  std::string made(beginning(text, columns - 1 - tail));
  made += ellipsis;
  made += ending(text, tail);
  return made;
}

std::string truncated(std::string_view text, std::size_t columns, bool unicode) {
  if (width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(beginning(text, columns - 1)).append(unicode ? "…" : "~");
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    if (!line.empty() && width(line) + 1 + width(word) <= columns) {
      line += ' ';
      line += word;
      continue;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    while (width(word) > columns) {
      std::string_view part = beginning(word, columns);
      if (part.empty()) part = word.substr(0, next(word).bytes);
      lines.emplace_back(part);
      word.remove_prefix(part.size());
    }
    line = word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string left(std::string_view text, std::size_t columns) {
  const std::size_t used = width(text);
  return std::string(text).append(used < columns ? columns - used : 0, ' ');
}

std::string right(std::string_view text, std::size_t columns) {
  const std::size_t used = width(text);
  return std::string(used < columns ? columns - used : 0, ' ').append(text);
}

}  // namespace muster::report
