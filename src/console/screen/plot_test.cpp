#include "console/screen/plot.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace muster::console {
namespace {

using namespace std::chrono_literals;

std::string drawn(const std::vector<PlotPoint>& points, Size size, std::uint32_t seconds, bool unicode) {
  Frame frame(size);
  draw_plot(frame, {0, 0, size.columns, size.rows}, points, seconds, unicode);
  return frame.text();
}

TEST(Plot, DrawsTwoLinesOverTimeWithItsAxes) {
  std::vector<PlotPoint> points;
  for (std::uint32_t second = 0; second != 20; ++second) points.push_back({second, 1ms, second < 10 ? 10ms : 100ms});
  EXPECT_EQ(drawn(points, {28, 6}, 20, false),
            " 100ms |          **********\n"
            "       |         **\n"
            "10.0ms |**********\n"
            "       |\n"
            "1.00ms |....................\n"
            "       +00:00----------00:20\n");
}

TEST(Plot, DrawsBrailleDotsWhereThereIsUnicode) {
  std::vector<PlotPoint> points;
  for (std::uint32_t second = 0; second != 10; ++second) points.push_back({second, 1ms, 10ms});
  EXPECT_EQ(drawn(points, {28, 4}, 10, true),
            "10.0ms │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉\n"
            "       │\n"
            "1.00ms │⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀\n"
            "       └00:00──────────00:10\n");
}

TEST(Plot, LeavesAGapWhereNothingWasMeasured) {
  const std::string text = drawn({{0, 1ms, 1ms}, {1, 1ms, 1ms}, {8, 1ms, 1ms}, {9, 1ms, 1ms}}, {28, 4}, 10, false);
  EXPECT_NE(text.find("***" + std::string(14, ' ') + "***"), std::string::npos) << text;
}

TEST(Plot, HasARoundRangeThatKeepsCalmRunsCalm) {
  EXPECT_EQ(plot_range({{0, 3ms, 4ms}}).least, 500us);
  EXPECT_EQ(plot_range({{0, 3ms, 4ms}}).most, 5ms);
  EXPECT_EQ(plot_range({{0, 250us, 1400ms}}).least, 200us);
  EXPECT_EQ(plot_range({{0, 250us, 1400ms}}).most, 2s);
  EXPECT_EQ(plot_range({{0, 0ns, 0ns}}).most, 1us);
  EXPECT_LT(plot_range({{0, 0ns, 0ns}}).least, 1us);
}

TEST(Plot, HasAnAxisOfTimeThatGrowsWithTheRun) {
  EXPECT_EQ(plot_seconds(0, 0), 10u);
  EXPECT_EQ(plot_seconds(31, 0), 60u);
  EXPECT_EQ(plot_seconds(31, 45), 45u);
  EXPECT_EQ(plot_seconds(31, 3600), 60u);
  EXPECT_EQ(plot_seconds(50, 45), 60u);
  EXPECT_EQ(plot_seconds(200'000, 0), 3u * 24 * 3600);
}

TEST(Plot, StaysEmptyWhereItWouldSayNothing) {
  EXPECT_EQ(drawn({{0, 1ms, 1ms}}, {20, 4}, 10, true), "\n\n\n\n");
  EXPECT_EQ(drawn({{0, 1ms, 1ms}}, {80, 2}, 10, true), "\n\n");
}

RC_GTEST_PROP(Plot, StaysInItsAreaForAnyPointsAndSizes, ()) {
  std::vector<PlotPoint> points;
  const auto count = *rc::gen::inRange<std::uint32_t>(0, 200);
  std::uint32_t second = 0;
  for (std::uint32_t i = 0; i != count; ++i) {
    second += *rc::gen::inRange<std::uint32_t>(1, 40);
    const base::Duration low(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000));
    points.push_back({second, low, low * *rc::gen::inRange(1, 1000)});
  }
  const Size size{*rc::gen::inRange<std::size_t>(0, 120), *rc::gen::inRange<std::size_t>(0, 30)};
  const Area area{3, 2, size.columns, size.rows};
  Frame frame({size.columns + 6, size.rows + 4});
  draw_plot(frame, area, points, plot_seconds(second, 0), *rc::gen::arbitrary<bool>());
  for (std::size_t y = 0; y != frame.size().rows; ++y) {
    for (std::size_t x = 0; x != frame.size().columns; ++x) {
      const bool inside = x >= 3 && x < 3 + size.columns && y >= 2 && y < 2 + size.rows;
      RC_ASSERT(inside || frame.at(x, y) == Cell{});
    }
  }
}

}  // namespace
}  // namespace muster::console
