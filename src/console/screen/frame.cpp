#include "console/screen/frame.h"

#include <algorithm>

#include "report/text_layout.h"

namespace muster::console {

void Frame::set(std::size_t x, std::size_t y, Cell cell) {
  if (x < size_.columns && y < size_.rows) cells_[y * size_.columns + x] = cell;
}

void Frame::fill(const Area& area, Cell cell) {
  for (std::size_t y = area.y; y < std::min(area.y + area.rows, size_.rows); ++y) {
    for (std::size_t x = area.x; x < std::min(area.x + area.columns, size_.columns); ++x) set(x, y, cell);
  }
}

std::size_t Frame::put(std::size_t x, std::size_t y, std::string_view text, Tone tone, std::size_t end) {
  end = std::min(end, size_.columns);
  while (!text.empty() && x < end) {
    const report::Glyph glyph = report::first_glyph(text);
    text.remove_prefix(glyph.bytes);
    if (glyph.columns == 0) continue;
    if (glyph.columns == 2 && x + 1 == end) {
      set(x++, y, {U' ', tone});
      break;
    }
    set(x, y, {glyph.valid && glyph.value >= U' ' ? glyph.value : U'.', tone});
    if (glyph.columns == 2) set(x + 1, y, {0, tone});
    x += glyph.columns;
  }
  return x;
}

std::string Frame::text() const {
  std::string made;
  for (std::size_t y = 0; y != size_.rows; ++y) {
    std::string row;
    for (std::size_t x = 0; x != size_.columns; ++x) {
      if (at(x, y).glyph != 0) append_utf8(row, at(x, y).glyph);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    made += row + '\n';
  }
  return made;
}

// RFC 3629, section 3.
void append_utf8(std::string& to, char32_t glyph) {
  const auto value = static_cast<std::uint32_t>(glyph);
  const auto byte = [&](std::uint32_t bits) { to += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (value < 0x80) {
    byte(value);
  } else if (value < 0x800) {
    byte(0xC0 | (value >> 6));
    byte(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    byte(0xE0 | (value >> 12));
    byte(0x80 | ((value >> 6) & 0x3F));
    byte(0x80 | (value & 0x3F));
  } else {
    byte(0xF0 | (value >> 18));
    byte(0x80 | ((value >> 12) & 0x3F));
    byte(0x80 | ((value >> 6) & 0x3F));
    byte(0x80 | (value & 0x3F));
  }
}

}  // namespace muster::console
