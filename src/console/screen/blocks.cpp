#include "console/screen/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/figures.h"
#include "report/text_layout.h"
#include "report/threshold_text.h"

namespace muster::console {
namespace {

struct Signs {
  std::string_view good;
  std::string_view bad;
  std::string_view warn;
  std::string_view open;  // not known yet
};

const Signs& signs(bool unicode) {
  static constexpr Signs kUnicode = {"✓", "✗", "⚠", "…"};
  static constexpr Signs kAscii = {"ok", "XX", "!!", ".."};
  return unicode ? kUnicode : kAscii;
}

// "✓ text            end": a text that is too long loses its middle, the end is kept.
Line row(const Sheet& sheet, Piece sign, std::string_view text, Piece end, Tone tone = Tone::kPlain) {
  const std::size_t used = report::width(sign.text) + 1 + 2 + report::width(end.text);
  const std::size_t room = sheet.columns > used ? sheet.columns - used : 0;
  const std::string safe = report::shortened(report::printable(text, sheet.unicode), room, sheet.unicode);
  sign.text += ' ';
  return {std::move(sign), {report::left(safe, room) + "  ", tone}, std::move(end)};
}

std::string safe(std::string_view text, const Sheet& sheet) {
  return report::printable(text, sheet.unicode);
}

void append_wrapped(Block& block, const Piece& sign, std::string_view text, const Sheet& sheet, std::size_t most) {
  const std::size_t indent = report::width(sign.text) + 1;
  if (sheet.columns <= indent) return;
  std::vector<std::string> parts = report::wrapped(safe(text, sheet), sheet.columns - indent);
  const bool cut = parts.size() > most;
  if (cut) parts.resize(most);
  if (cut) parts.back() = report::truncated(parts.back() + " ...", sheet.columns - indent, sheet.unicode);
  for (std::size_t i = 0; i != parts.size(); ++i) {
    Piece lead = i == 0 ? Piece{sign.text + ' ', sign.tone} : Piece{std::string(indent, ' '), Tone::kPlain};
    block.lines.push_back(Line{std::move(lead), Piece{std::move(parts[i]), Tone::kPlain}});
  }
}

std::string time_text(base::Duration duration, bool unicode) {
  return report::right(report::short_time(duration, unicode), 8);
}

}  // namespace

Block threshold_block(const std::vector<model::ThresholdVerdict>& thresholds, const Sheet& sheet) {
  const Signs& sign = signs(sheet.unicode);
  Block block{"thresholds", {}, 1};
  // Where they do not all fit, those that fail are the ones to see.
  for (const bool failing : {true, false}) {
    for (const model::ThresholdVerdict& verdict : thresholds) {
      const bool fails = verdict.judged && !verdict.passed;
      if (fails != failing) continue;
      const std::string text = report::threshold_text(verdict);
      if (!verdict.judged) {
        block.lines.push_back(row(sheet, {std::string(sign.open), Tone::kDim}, text, {"not yet", Tone::kDim}));
        continue;
      }
      const std::string value = report::right(report::measured_text(verdict, sheet.unicode), 7);
      block.lines.push_back(fails
                                ? row(sheet, {std::string(sign.bad), Tone::kBad}, text, {value, Tone::kBad}, Tone::kBad)
                                : row(sheet, {std::string(sign.good), Tone::kGood}, text, {value, Tone::kPlain}));
    }
  }
  return block;
}

Block error_block(const ViewFigures& figures, const Sheet& sheet) {
  Block block{"errors", {}, 1};
  for (const ErrorFigure& error : figures.errors) {
    Line line = {{report::left(model::to_text(error.error), 10), Tone::kBad},
                 {report::right(report::short_count(error.count), 8) + "  ", Tone::kPlain}};
    const std::size_t used = 20;
    if (!error.detail.empty() && sheet.columns > used + 8) {
      const std::size_t room = sheet.columns - used;
      const std::string step = report::shortened(safe(error.step, sheet), room / 3, sheet.unicode);
      line.push_back({report::truncated(step + ": " + safe(error.detail, sheet), room, sheet.unicode), Tone::kDim});
    }
    block.lines.push_back(std::move(line));
  }
  return block;
}

Block check_block(const ViewFigures& figures, const Sheet& sheet) {
  const Signs& sign = signs(sheet.unicode);
  Block block{"checks", {}, 1};
  for (const CheckFigure& check : figures.checks) {
    const std::uint64_t all = check.ok + check.failed;
    const bool good = check.failed == 0;
    const std::string counted = good ? report::short_count(all) : report::short_count(check.failed) + " failed";
    const std::string share = report::right(report::percentage(check.ok, all), 6);
    const std::string end = sheet.columns >= 60 ? report::right(counted, 14) + "  " + share : share;
    if (all == 0) {
      block.lines.push_back(row(sheet, {std::string(sign.open), Tone::kDim}, check.name, {"not yet", Tone::kDim}));
      continue;
    }
    block.lines.push_back(row(sheet, {std::string(good ? sign.good : sign.bad), good ? Tone::kGood : Tone::kBad},
                              check.name, {end, good ? Tone::kPlain : Tone::kBad}));
  }
  return block;
}

Block step_block(const ViewFigures& figures, const Sheet& sheet) {
  constexpr std::size_t kFixed = 9 + 8 + 8 + 3 * 8;
  Block block{"steps", {}, 2};
  if (figures.steps.empty() || sheet.columns < kFixed + 12) return block;
  std::size_t name = 8;
  for (const StepFigure& step : figures.steps) name = std::max(name, report::width(safe(step.name, sheet)));
  name = std::min(name, sheet.columns - kFixed);
  block.heading = report::left("step", name) + report::right("requests", 9) + report::right("req/s", 8) +
                  report::right("failed", 8) + report::right("p50", 8) + report::right("p95", 8) +
                  report::right("p99", 8);
  for (const StepFigure& step : figures.steps) {
    const std::string shown = report::shortened(safe(step.name, sheet), name, sheet.unicode);
    block.lines.push_back(Line{
        {report::left(shown, name) + report::right(report::short_count(step.requests), 9) +
             report::right(report::short_rate(step.rate), 8),
         Tone::kPlain},
        {report::right(report::percentage(step.failed, step.requests), 8), step.failed > 0 ? Tone::kBad : Tone::kPlain},
        {time_text(step.p50, sheet.unicode) + time_text(step.p95, sheet.unicode) + time_text(step.p99, sheet.unicode),
         Tone::kPlain}});
  }
  return block;
}

Block mark_block(const std::vector<model::Mark>& marks, const Sheet& sheet) {
  constexpr std::size_t kMostLines = 4;  // of one mark: the summary has it in full
  Block block{"read these numbers with care", {}, 1};
  const Piece sign{std::string(signs(sheet.unicode).warn), Tone::kWarn};
  for (const model::Mark& mark : marks) append_wrapped(block, sign, mark.text, sheet, kMostLines);
  return block;
}

Block said_block(const std::vector<std::string>& said, const Sheet& sheet) {
  Block block{"log", {}, 1};
  for (const std::string& line : said) {
    block.lines.push_back(
        Line{Piece{report::truncated(safe(line, sheet), sheet.columns, sheet.unicode), Tone::kPlain}});
  }
  return block;
}

std::vector<std::size_t> share_rows(const std::vector<Block>& blocks, std::size_t rows) {
  std::vector<std::size_t> given(blocks.size());
  std::size_t left = rows;
  for (std::size_t i = 0; i != blocks.size(); ++i) {
    if (blocks[i].lines.empty()) continue;
    const std::size_t least = 1 + std::min(blocks[i].lines.size(), std::max<std::size_t>(blocks[i].least, 1));
    if (least > left) continue;
    given[i] = least;
    left -= least;
  }
  for (std::size_t i = 0; i != blocks.size(); ++i) {
    if (given[i] == 0) continue;
    const std::size_t more = std::min(left, 1 + blocks[i].lines.size() - given[i]);
    given[i] += more;
    left -= more;
  }
  return given;
}

std::size_t draw_blocks(Frame& frame, const Area& area, const std::vector<Block>& blocks) {
  const std::vector<std::size_t> given = share_rows(blocks, area.rows);
  std::size_t used = 0;
  std::size_t shown = 0;
  for (const std::size_t rows : given) {
    used += rows;
    shown += rows > 0 ? 1 : 0;
  }
  const bool airy = shown > 1 && used + shown - 1 <= area.rows;
  const std::size_t end = area.x + area.columns;
  std::size_t y = area.y;
  for (std::size_t i = 0; i != blocks.size(); ++i) {
    if (given[i] == 0) continue;
    if (airy && y > area.y) ++y;
    const std::size_t lines = given[i] - 1;
    const bool cut = lines < blocks[i].lines.size();
    const std::size_t behind = frame.put(area.x, y, blocks[i].heading, Tone::kBold, end);
    if (cut && lines == 1) frame.put(behind, y, fmt::format(" (1 of {})", blocks[i].lines.size()), Tone::kDim, end);
    ++y;
    for (std::size_t line = 0; line != lines; ++line, ++y) {
      if (cut && lines > 1 && line + 1 == lines) {
        frame.put(area.x, y, fmt::format("and {} more", blocks[i].lines.size() - line), Tone::kDim, end);
      } else {
        put_line(frame, area.x, y, blocks[i].lines[line], end);
      }
    }
  }
  return y - area.y;
}

std::size_t put_line(Frame& frame, std::size_t x, std::size_t y, const Line& line, std::size_t end) {
  for (const Piece& piece : line) x = frame.put(x, y, piece.text, piece.tone, end);
  return x;
}

}  // namespace muster::console
