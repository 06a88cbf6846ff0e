#include "console/screen/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "report/figures.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using base::Duration;

constexpr std::size_t kLabel = 7;  // columns of the axis' labels: "1m02s" and a gap
constexpr std::size_t kDotsAcross = 2;
constexpr std::size_t kDotsDown = 4;
constexpr int kNoDots = 0x2800;  // the braille cell without dots; each dot is a bit above it

// 1, 2 or 5 times a power of ten, in nanoseconds; at or below, or at or above `value`.
double round_value(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1.0))));
  constexpr double kSlack = 1e-9;
  double chosen = power;
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    const double at = power * step;
    if (up && at >= value * (1 - kSlack)) return at;
    if (!up && at <= value * (1 + kSlack)) chosen = at;
  }
  return chosen;
}

// Dots of two lines, from the top left. The high line wins a cell's tone, since it is the one that people look for.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), low_(columns * rows), high_(columns * rows) {}

  std::size_t dots_across() const { return columns_ * kDotsAcross; }
  std::size_t dots_down() const { return rows_ * kDotsDown; }

  // Points from (x0, y0) to (x1, y1), every column once and in between as many rows as it takes.
  void line(std::size_t x0, double y0, std::size_t x1, double y1, bool high) {
    double last = y0;
    for (std::size_t x = x0; x <= x1; ++x) {
      const double part = x1 > x0 ? static_cast<double>(x - x0) / static_cast<double>(x1 - x0) : 1.0;
      const double y = y0 + (y1 - y0) * part;
      const auto from = static_cast<std::size_t>(std::lround(std::min(last, y)));
      const auto to = static_cast<std::size_t>(std::lround(std::max(last, y)));
      for (std::size_t dot = from; dot <= to; ++dot) set(x, dot, high);
      last = y;
    }
  }

  void put(Frame& frame, std::size_t left, std::size_t top, bool unicode) const {
    for (std::size_t y = 0; y != rows_; ++y) {
      for (std::size_t x = 0; x != columns_; ++x) {
        const std::uint8_t low = low_[y * columns_ + x];
        const std::uint8_t high = high_[y * columns_ + x];
        if ((low | high) == 0) continue;
        const auto dots = static_cast<char32_t>(kNoDots + (low | high));
        const char32_t sign = high != 0 ? U'*' : U'.';
        frame.set(left + x, top + y, {unicode ? dots : sign, high != 0 ? Tone::kHigh : Tone::kLow});
      }
    }
  }

 private:
  // Unicode's numbering of the dots of a braille cell: columns of three, then the fourth row.
  void set(std::size_t x, std::size_t y, bool high) {
    constexpr std::array<std::array<std::uint8_t, kDotsAcross>, kDotsDown> kBits = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    if (x >= dots_across() || y >= dots_down()) return;
    auto& cells = high ? high_ : low_;
    cells[y / kDotsDown * columns_ + x / kDotsAcross] |= kBits[y % kDotsDown][x % kDotsAcross];
  }

  std::size_t columns_;
  std::size_t rows_;
  std::vector<std::uint8_t> low_;
  std::vector<std::uint8_t> high_;
};

// Where a value lies on the logarithmic axis: 0 at the top dot, dots - 1 at the bottom one.
double height(Duration value, const PlotRange& range, std::size_t dots) {
  const double least = std::log(static_cast<double>(range.least.count()));
  const double most = std::log(static_cast<double>(range.most.count()));
  const double at = std::log(static_cast<double>(std::max<Duration::rep>(value.count(), 1)));
  const double share = std::clamp((at - least) / (most - least), 0.0, 1.0);
  return (1 - share) * static_cast<double>(dots - 1);
}

struct Column {
  std::size_t x = 0;
  std::uint32_t first = 0;  // seconds that fall into it
  std::uint32_t last = 0;
  Duration low{};
  Duration high{};
};

// Seconds that share a column of dots are told as the worst of them.
std::vector<Column> columns_of(const std::vector<PlotPoint>& points, std::uint32_t seconds, std::size_t dots) {
  std::vector<Column> columns;
  for (const PlotPoint& point : points) {
    if (point.second >= seconds) break;
    const std::size_t x =
        seconds > 1 ? static_cast<std::size_t>(std::uint64_t{point.second} * (dots - 1) / (seconds - 1)) : 0;
    if (columns.empty() || columns.back().x != x) {
      columns.push_back({x, point.second, point.second, point.low, point.high});
    } else {
      Column& column = columns.back();
      column.last = point.second;
      column.low = std::max(column.low, point.low);
      column.high = std::max(column.high, point.high);
    }
  }
  return columns;
}

void draw_axes(Frame& frame, const Area& area, const PlotRange& range, std::uint32_t seconds, bool unicode) {
  const std::size_t rows = area.rows - 1;
  const auto value_at = [&](std::size_t row) {
    const double share = 1 - static_cast<double>(row) / static_cast<double>(rows - 1);
    const double least = std::log(static_cast<double>(range.least.count()));
    const double most = std::log(static_cast<double>(range.most.count()));
    return Duration(std::llround(std::exp(least + (most - least) * share)));
  };
  const char32_t bar = unicode ? U'│' : U'|';
  for (std::size_t row = 0; row != rows; ++row) frame.set(area.x + kLabel, area.y + row, {bar, Tone::kDim});
  const std::size_t gap = rows >= 9 ? 4 : 2;
  for (std::size_t row = 0; row < rows; row += gap) {
    const bool last = row + gap >= rows;
    const std::size_t at = last ? rows - 1 : row;
    const std::string label = report::right(report::short_time(value_at(at), unicode), kLabel - 1);
    frame.put(area.x, area.y + at, label, Tone::kDim);
  }
  const std::size_t bottom = area.y + rows;
  frame.set(area.x + kLabel, bottom, {unicode ? U'└' : U'+', Tone::kDim});
  const std::size_t from = area.x + kLabel + 1;
  const std::size_t end = area.x + area.columns;
  frame.fill({from, bottom, end - from, 1}, {unicode ? U'─' : U'-', Tone::kDim});
  const auto time = [&](std::uint32_t second) { return report::clock_time(std::chrono::seconds(second)); };
  frame.put(from, bottom, time(0), Tone::kDim, end);
  const std::string middle = time(seconds / 2);
  const std::string right = time(seconds);
  if (end - from >= 40) frame.put(from + (end - from) / 2 - middle.size() / 2, bottom, middle, Tone::kDim, end);
  if (end - from >= 2 * right.size()) frame.put(end - right.size(), bottom, right, Tone::kDim, end);
}

}  // namespace

PlotRange plot_range(const std::vector<PlotPoint>& points) {
  if (points.empty()) return {std::chrono::milliseconds(1), std::chrono::seconds(1)};
  Duration least = Duration::max();
  Duration most{};
  for (const PlotPoint& point : points) {
    least = std::min(least, point.low);
    most = std::max(most, point.high);
  }
  constexpr double kLeastRatio = 10;
  const double top = round_value(static_cast<double>(std::max<Duration::rep>(most.count(), 1000)), true);
  const double bottom = round_value(static_cast<double>(std::max<Duration::rep>(least.count(), 1)), false);
  return {Duration(std::llround(std::min(bottom, top / kLeastRatio))), Duration(std::llround(top))};
}

std::uint32_t plot_seconds(std::uint32_t passed, std::uint32_t length) {
  constexpr std::array<std::uint32_t, 12> kRound = {10,   30,   60,       120,      300,       600,
                                                    1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600};
  std::uint32_t seconds = 0;
  for (const std::uint32_t each : kRound) {
    if (passed <= each) {
      seconds = each;
      break;
    }
  }
  constexpr std::uint32_t kDay = 24 * 3600;
  if (seconds == 0) seconds = (passed / kDay + 1) * kDay;
  return length != 0 && length >= passed ? std::min(seconds, length) : seconds;
}

void draw_plot(Frame& frame, const Area& area, const std::vector<PlotPoint>& points, std::uint32_t seconds,
               bool unicode) {
  if (area.columns < kLeastPlotColumns || area.rows < kLeastPlotRows || seconds == 0) return;
  const PlotRange range = plot_range(points);
  draw_axes(frame, area, range, seconds, unicode);
  Canvas canvas(area.columns - kLabel - 1, area.rows - 1);
  std::optional<Column> before;
  for (const Column& column : columns_of(points, seconds, canvas.dots_across())) {
    // A gap in the run is a gap in the line.
    const bool joined = before && before->last + 1 >= column.first;
    const Column& from = joined ? *before : column;
    for (const bool high : {false, true}) {
      canvas.line(from.x, height(high ? from.high : from.low, range, canvas.dots_down()), column.x,
                  height(high ? column.high : column.low, range, canvas.dots_down()), high);
    }
    before = column;
  }
  canvas.put(frame, area.x + kLabel + 1, area.y, unicode);
}

}  // namespace muster::console
