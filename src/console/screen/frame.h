// What a terminal is to show: a grid of cells with a glyph and a tone each. Plain values without IO; text is put in
// already safe to print (report::printable) and is clipped at the edges, so that no size and no text can go wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace muster::console {

enum class Tone : std::uint8_t { kPlain, kBold, kDim, kGood, kBad, kWarn, kBar, kLow, kHigh, kReverse };

struct Cell {
  char32_t glyph = U' ';  // 0: the right half of a wide character
  Tone tone = Tone::kPlain;

  bool operator==(const Cell&) const = default;
};

struct Size {
  std::size_t columns = 0;
  std::size_t rows = 0;

  bool operator==(const Size&) const = default;
};

// A part of a frame.
struct Area {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

class Frame {
 public:
  static constexpr std::size_t kEdge = std::numeric_limits<std::size_t>::max();

  Frame() = default;
  explicit Frame(Size size) : size_(size), cells_(size.columns * size.rows) {}

  Size size() const { return size_; }
  const Cell& at(std::size_t x, std::size_t y) const { return cells_[y * size_.columns + x]; }
  // Outside of the frame: nothing happens.
  void set(std::size_t x, std::size_t y, Cell cell);
  void fill(const Area& area, Cell cell);

  // Puts `text` from (x, y) on, up to the column `end`; returns the column behind it. What takes no column of its own
  // is left out; a wide character that would be cut becomes a space.
  std::size_t put(std::size_t x, std::size_t y, std::string_view text, Tone tone = Tone::kPlain,
                  std::size_t end = kEdge);

  // The rows as UTF-8 without tones and trailing spaces, each with a line end.
  std::string text() const;

 private:
  Size size_;
  std::vector<Cell> cells_;
};

}  // namespace muster::console
