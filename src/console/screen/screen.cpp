#include "console/screen/screen.h"

#include <algorithm>
#include <utility>

#include "console/screen/blocks.h"
#include "console/screen/overview.h"
#include "console/screen/plot.h"
#include "report/figures.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

// From here on lists stand beside the figures and not below them.
constexpr std::size_t kTwoColumns = 120;

class Screen {
 public:
  Screen(const RunWatch& watch, const model::RunResult& snapshot, const ScreenState& state, Size size, bool unicode)
      : watch_(watch),
        snapshot_(snapshot),
        state_(state),
        figures_(watch.figures(state.view, snapshot)),
        frame_(size),
        unicode_(unicode) {}

  Frame draw() {
    const Size size = frame_.size();
    if (size.rows == 0 || size.columns == 0) return std::move(frame_);
    std::size_t top = 0;
    put_title(frame_, {0, top++, size.columns, 1}, watch_.plan(), snapshot_.elapsed, unicode_);
    const bool foot = size.rows >= 3;
    const std::size_t bottom = size.rows - (foot ? 1 : 0);
    if (watch_.plan().workflows.size() > 1 && size.rows >= 8) {
      put_tabs(frame_, {0, top++, size.columns, 1}, watch_, snapshot_, state_, unicode_);
    }
    if (top < bottom) put_progress(frame_, {kMargin, top++, inner(), 1}, figures_, state_, unicode_);
    if (size.rows >= 16) ++top;
    if (top < bottom) body({kMargin, top, inner(), bottom - top});
    if (foot)
      put_foot(frame_, {0, size.rows - 1, size.columns, 1}, watch_.plan().workflows.size() > 1, state_, unicode_);
    if (state_.help) put_help(frame_, unicode_);
    return std::move(frame_);
  }

 private:
  static constexpr std::size_t kMargin = 1;

  std::size_t inner() const { return frame_.size().columns > 2 * kMargin ? frame_.size().columns - 2 * kMargin : 0; }

  void body(Area area) {
    if (area.columns < kTwoColumns) {
      const std::size_t used = head(area);
      narrow({area.x, area.y + used, area.columns, area.rows - used});
      return;
    }
    constexpr std::size_t kGap = 3;
    const std::size_t left = area.columns * 3 / 5 - kGap;
    const Area first{area.x, area.y, left, area.rows};
    const Area second{area.x + left + kGap, area.y, area.columns - left - kGap, area.rows};
    const std::size_t used = head(first);
    const Area rest{first.x, first.y + used, first.columns, first.rows - used};
    const std::vector<Block> steps = {step_block(figures_, {left, unicode_})};
    const std::size_t wanted = steps[0].lines.empty() ? 0 : std::min(steps[0].lines.size() + 2, rest.rows / 2);
    plot({rest.x, rest.y, rest.columns, rest.rows - wanted});
    if (wanted > 1) draw_blocks(frame_, {rest.x, rest.y + rest.rows - wanted + 1, rest.columns, wanted - 1}, steps);
    draw_blocks(frame_, second, findings(second.columns));
  }

  // Figures and percentiles; returns the rows used.
  std::size_t head(const Area& area) {
    std::size_t used = put_facts(frame_, area, figures_, unicode_);
    const bool airy = area.rows >= 24;
    if (airy) ++used;
    const Area rest{area.x, area.y + used, area.columns, area.rows - used};
    const std::size_t times = put_times(frame_, rest, figures_, unicode_);
    used += times;
    if (airy) ++used;
    return used;
  }

  std::vector<Block> findings(std::size_t columns) const {
    const Sheet sheet{columns, unicode_};
    return {threshold_block(snapshot_.thresholds, sheet), error_block(figures_, sheet), check_block(figures_, sheet),
            said_block(state_.said, sheet), mark_block(state_.marks, sheet)};
  }

  // Lists below the plot: they have what they need, the plot the rest, as long as there is enough for both.
  void narrow(const Area& area) {
    std::vector<Block> blocks = findings(area.columns);
    std::size_t needed = 0;
    for (const Block& block : blocks) needed += block.lines.empty() ? 0 : block.lines.size() + 2;
    constexpr std::size_t kLeast = kLeastPlotRows + 2;
    constexpr std::size_t kEnough = 10;  // more than that goes to the steps first
    constexpr std::size_t kMost = 18;
    Block steps = step_block(figures_, {area.columns, unicode_});
    const std::size_t wanted = steps.lines.empty() ? 0 : steps.lines.size() + 2;
    std::size_t rows = area.rows > needed ? area.rows - needed : 0;
    if (rows > kEnough) rows -= std::min(wanted, rows - kEnough);
    if (rows < kLeast) rows = area.rows >= 2 * kLeast ? kLeast : 0;
    rows = std::min(rows, kMost);
    if (rows >= kLeast) plot({area.x, area.y, area.columns, rows - 1});
    const std::size_t from = rows >= kLeast ? rows : 0;
    // Steps only where nothing that was found has to make room for them.
    const std::size_t spare = area.rows - from > needed ? area.rows - from - needed : 0;
    if (spare > std::min<std::size_t>(steps.lines.size(), 2)) blocks.push_back(std::move(steps));
    draw_blocks(frame_, {area.x, area.y + from, area.columns, area.rows - from}, blocks);
  }

  void plot(const Area& area) {
    if (area.rows < kLeastPlotRows + 1 || area.columns < kLeastPlotColumns) return;
    const auto& points = watch_.points(state_.view);
    std::size_t x = frame_.put(area.x, area.y, "latency over time  ", Tone::kBold, area.x + area.columns);
    const auto entry = [&](std::string_view name, Tone tone, base::Duration value) {
      x = frame_.put(x, area.y, unicode_ ? "⠤⠤ " : (tone == Tone::kLow ? ". " : "* "), tone, area.x + area.columns);
      const std::string text = points.empty() ? std::string() : " " + report::short_time(value, unicode_);
      x = frame_.put(x, area.y, std::string(name) + text + "  ", Tone::kDim, area.x + area.columns);
    };
    entry("p50", Tone::kLow, points.empty() ? base::Duration{} : points.back().low);
    entry("p99", Tone::kHigh, points.empty() ? base::Duration{} : points.back().high);
    const auto passed = static_cast<std::uint32_t>(std::max(base::seconds(snapshot_.elapsed), 0.0)) + 1;
    draw_plot(frame_, {area.x, area.y + 1, area.columns, area.rows - 1}, points,
              plot_seconds(passed, figures_.plot_length), unicode_);
  }

  const RunWatch& watch_;
  const model::RunResult& snapshot_;
  const ScreenState& state_;
  ViewFigures figures_;
  Frame frame_;
  bool unicode_;
};

}  // namespace

Frame render(const RunWatch& watch, const model::RunResult& snapshot, const ScreenState& state, Size size,
             bool unicode) {
  return Screen(watch, snapshot, state, size, unicode).draw();
}

}  // namespace muster::console
