// The lists of the live screen – thresholds, errors, checks, steps, marks, what was said – as lines of a given width,
// and how a few rows are shared among them. Texts from outside are made safe to print here. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "console/screen/frame.h"
#include "console/screen/run_watch.h"
#include "model/result.h"

namespace muster::console {

struct Piece {
  std::string text;
  Tone tone = Tone::kPlain;
};
using Line = std::vector<Piece>;

struct Block {
  std::string heading;
  std::vector<Line> lines;
  std::size_t least = 1;  // lines without which it is not worth its heading
};

// How much room there is, and with what signs.
struct Sheet {
  std::size_t columns = 80;
  bool unicode = true;
};

// Each is empty of lines when there is nothing to tell.
Block threshold_block(const std::vector<model::ThresholdVerdict>& thresholds, const Sheet& sheet);
Block error_block(const ViewFigures& figures, const Sheet& sheet);
Block check_block(const ViewFigures& figures, const Sheet& sheet);
Block step_block(const ViewFigures& figures, const Sheet& sheet);
Block mark_block(const std::vector<model::Mark>& marks, const Sheet& sheet);
Block said_block(const std::vector<std::string>& said, const Sheet& sheet);

// Rows for each block, heading included, in the order of their weight: first the least of each, then what is left.
// 0: it is not shown.
std::vector<std::size_t> share_rows(const std::vector<Block>& blocks, std::size_t rows);

// Draws the blocks one below the other, with empty rows between them where there is room. Lines that do not fit are
// counted. Returns the rows that were used.
std::size_t draw_blocks(Frame& frame, const Area& area, const std::vector<Block>& blocks);

// Puts the pieces of a line side by side; returns the column behind them.
std::size_t put_line(Frame& frame, std::size_t x, std::size_t y, const Line& line, std::size_t end);

}  // namespace muster::console
