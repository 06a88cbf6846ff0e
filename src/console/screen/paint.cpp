#include "console/screen/paint.h"

#include <fmt/format.h>

#include <iterator>

#include "base/utf8.h"

namespace muster::console {
namespace {

// Select graphic rendition, ECMA-48 8.3.117; each begins from nothing.
std::string_view code(Tone tone, bool colour) {
  switch (tone) {
    case Tone::kPlain:
      return "\x1b[0m";
    case Tone::kBold:
      return "\x1b[0;1m";
    case Tone::kDim:
      return "\x1b[0;2m";
    case Tone::kGood:
      return colour ? "\x1b[0;32m" : "\x1b[0m";
    case Tone::kBad:
      return colour ? "\x1b[0;31m" : "\x1b[0;1m";
    case Tone::kWarn:
      return colour ? "\x1b[0;33m" : "\x1b[0;1m";
    case Tone::kBar:
    case Tone::kLow:
      return colour ? "\x1b[0;36m" : "\x1b[0m";
    case Tone::kHigh:
      return colour ? "\x1b[0;35m" : "\x1b[0;1m";
    case Tone::kReverse:
      return "\x1b[0;7m";
  }
  return "\x1b[0m";
}

struct Span {
  std::size_t first = 0;
  std::size_t end = 0;
};

// The cells of row `y` that have to be written, whole characters only.
Span changed(const Frame& before, const Frame& after, std::size_t y) {
  const std::size_t columns = after.size().columns;
  Span span{0, columns};
  while (span.first < columns && before.at(span.first, y) == after.at(span.first, y)) ++span.first;
  if (span.first == columns) return {columns, columns};
  while (before.at(span.end - 1, y) == after.at(span.end - 1, y)) --span.end;
  while (span.first > 0 && after.at(span.first, y).glyph == 0) --span.first;
  while (span.end < columns && after.at(span.end, y).glyph == 0) ++span.end;
  return span;
}

}  // namespace

std::string paint(const Frame& before, const Frame& after, bool colour) {
  std::string bytes;
  const bool anew = before.size() != after.size();
  if (anew) bytes += "\x1b[0m\x1b[2J";
  bool toned = false;
  Tone tone = Tone::kPlain;
  const Frame blank(anew ? after.size() : Size{});
  const Frame& shown = anew ? blank : before;
  for (std::size_t y = 0; y != after.size().rows; ++y) {
    const Span span = changed(shown, after, y);
    if (span.first == span.end) continue;
    fmt::format_to(std::back_inserter(bytes), "\x1b[{};{}H", y + 1, span.first + 1);
    for (std::size_t x = span.first; x != span.end; ++x) {
      const Cell& cell = after.at(x, y);
      if (cell.glyph == 0) continue;
      if (!toned || cell.tone != tone) bytes += code(cell.tone, colour);
      toned = true;
      tone = cell.tone;
      base::append_utf8(bytes, static_cast<std::uint32_t>(cell.glyph));
    }
  }
  if (toned && tone != Tone::kPlain) bytes += "\x1b[0m";
  return bytes;
}

}  // namespace muster::console
