// The latency plot: a low and a high percentile over time, drawn with braille dots (two by four to a cell) or, where
// there is no Unicode, with one sign to a cell; a logarithmic axis of time on the left, the run's time below. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "console/screen/frame.h"

namespace muster::console {

// One second of the run; seconds without requests are absent.
struct PlotPoint {
  std::uint32_t second = 0;  // since the run's start
  base::Duration low{};
  base::Duration high{};
};

// The values at the bottom and the top of the axis.
struct PlotRange {
  base::Duration least{};
  base::Duration most{};
};

// Round values (1, 2, 5, 10, …) around all points, at least ten times apart, so that a calm run looks calm.
PlotRange plot_range(const std::vector<PlotPoint>& points);

// Seconds that the axis of time goes to: a round length that the run has not passed yet, or `length` if that is less.
// `length` 0: not known.
std::uint32_t plot_seconds(std::uint32_t passed, std::uint32_t length);

// The least size with which a plot says anything; a smaller area stays empty.
constexpr std::size_t kLeastPlotColumns = 24;
constexpr std::size_t kLeastPlotRows = 4;

// `points` ascend. `seconds` is the extent of the axis of time; points beyond it are left out.
void draw_plot(Frame& frame, const Area& area, const std::vector<PlotPoint>& points, std::uint32_t seconds,
               bool unicode);

}  // namespace muster::console
