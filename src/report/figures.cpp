#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace muster::report {
namespace {

// Three significant digits of a value in [0, 1000).
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// Whether three_digits would show 1000.
bool spills(double value) {
  return value >= 999.5;
}

std::string scaled(double value, double step, const std::array<std::string_view, 6>& units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && spills(value)) {
    value /= step;
    ++unit;
  }
  return three_digits(value).append(units[unit]);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string short_count(std::uint64_t number) {
  if (number < 1'000'000) return grouped(number);
  return scaled(static_cast<double>(number) / 1e6, 1e3, {"M", "G", "T", "P", "E", "Z"});
}

std::string short_rate(double per_second) {
  if (!(per_second > 0)) return "0";
  if (per_second < 0.01) return "<0.01";
  if (!spills(per_second)) return three_digits(per_second);
  if (per_second < 99'999.5) return grouped(static_cast<std::uint64_t>(std::llround(per_second)));
  return scaled(per_second / 1e3, 1e3, {"k", "M", "G", "T", "P", "E"});
}

std::string short_time(base::Duration duration, bool unicode) {
  const auto ns = static_cast<double>(duration.count());
  if (ns <= 0) return "0";
  if (ns < 1000) return fmt::format("{}ns", duration.count());
  if (!spills(ns / 1e3)) return three_digits(ns / 1e3).append(unicode ? "µs" : "us");
  if (!spills(ns / 1e6)) return three_digits(ns / 1e6).append("ms");
  if (ns < 59.95e9) return three_digits(ns / 1e9).append("s");
  const long long seconds = std::llround(ns / 1e9);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  const long long minutes = std::llround(ns / 60e9);
  if (minutes < 100 * 60) return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
  return fmt::format("{}h", minutes / 60);
}

std::string clock_time(base::Duration duration) {
  const std::int64_t seconds = std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(duration).count());
  if (seconds < 3600) return fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string percentage(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0 || part == 0) return "0%";
  if (part >= whole) return "100%";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) return "<0.01%";
  if (percent < 0.995) return fmt::format("{:.2f}%", percent);
  if (percent < 99.95) return fmt::format("{:.1f}%", percent);
  return ">99.9%";
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return scaled(static_cast<double>(bytes) / 1e3, 1e3, {" kB", " MB", " GB", " TB", " PB", " EB"});
}

std::string plain_number(double number) {
  if (!std::isfinite(number)) return "-";
  const double size = std::abs(number);
  if (size >= 1e9) return fmt::format("{:.3e}", number);
  if (size >= 1000 || size == std::floor(size)) {
    return (number < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::llround(size)));
  }
  return fmt::format("{:.4g}", number);
}

}  // namespace muster::report
