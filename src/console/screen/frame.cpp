#include "console/screen/frame.h"

#include <algorithm>

#include "base/utf8.h"
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
      if (at(x, y).glyph != 0) base::append_utf8(row, static_cast<std::uint32_t>(at(x, y).glyph));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    made += row + '\n';
  }
  return made;
}

}  // namespace muster::console
