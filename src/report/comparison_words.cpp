#include "report/comparison_words.h"

#include <fmt/format.h>

#include <cmath>

#include "report/figures.h"

namespace muster::report {
namespace {

std::string digits(double value) {
  const double size = std::abs(value);
  if (size < 0.005) return "0";
  if (size < 0.995) return fmt::format("{:.2f}", size);
  if (size < 9.95) return fmt::format("{:.1f}", size);
  if (size < 999.5) return fmt::format("{:.0f}", size);
  return size < 9'999.5 ? grouped(static_cast<std::uint64_t>(std::llround(size))) : std::string(">9,999");
}

std::string_view sign(double value) {
  if (std::abs(value) < 0.005) return "";
  return value < 0 ? "-" : "+";
}

}  // namespace

std::string signed_percent(double fraction) {
  const double percent = std::isfinite(fraction) ? 100 * fraction : 0;
  return fmt::format("{}{}%", sign(percent), digits(percent));
}

std::string change_text(const Delta& delta, double change) {
  if (delta.relative) return signed_percent(change);
  const double points = std::isfinite(change) ? 100 * change : 0;
  return fmt::format("{}{} points", sign(points), digits(points));
}

std::string change_sentence(const Delta& delta) {
  const std::string amount = change_text(delta, delta.change);
  const bool flat = amount.front() != '+' && amount.front() != '-';
  std::string text = metric_text(delta);
  if (flat) {
    text += " stayed as it was";
  } else {
    text += fmt::format(" {} by {}", delta.change < 0 ? "fell" : "rose", std::string_view(amount).substr(1));
  }
  if (delta.judged) {
    text += fmt::format(" (95%: {} to {})", change_text(delta, delta.low), change_text(delta, delta.high));
  }
  return text;
}

std::string value_text(const Delta& delta, double value, bool unicode) {
  switch (delta.unit) {
    case DeltaUnit::kSeconds:
      return short_time(base::from_seconds(value), unicode);
    case DeltaUnit::kPerSecond:
      return short_rate(value) + "/s";
    case DeltaUnit::kShare:
      break;
  }
  constexpr double kWhole = 1e6;
  const double parts = std::ceil(value * kWhole);  // a small failure is not rounded to none
  return percentage(static_cast<std::uint64_t>(parts < 0 ? 0 : parts), static_cast<std::uint64_t>(kWhole));
}

std::string metric_text(const Delta& delta) {
  const std::string metric = delta.metric == "failed" ? "the share of failed requests" : delta.metric;
  return delta.step.empty() ? metric : fmt::format("step '{}': {}", delta.step, metric);
}

}  // namespace muster::report
