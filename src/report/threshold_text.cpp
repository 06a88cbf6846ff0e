#include "report/threshold_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "model/threshold_reach.h"
#include "model/window_words.h"
#include "report/figures.h"

namespace muster::report {

namespace {

// The number in a threshold's text, in the unit of the measured one; nothing where it was cut off.
std::optional<double> bound_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_last_of("<>=") + 1, text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  if (const auto number = base::parse_number(text)) return *number;
  if (const auto share = base::parse_percent(text)) return *share;
  if (const auto time = base::parse_duration(text)) return base::seconds(*time);
  if (const auto rate = base::parse_rate(text)) return *rate;
  return std::nullopt;
}

// How a figure is shown: `usual` rounds; where more digits are wanted, it is a number of `unit`, one of which is `one`.
struct Form {
  std::function<std::string(double)> usual;
  double one = 1;
  std::string_view unit;
};

// With as many digits as tell the value from a bound that it does not equal.
std::string apart_from_bound(double value, std::optional<double> bound, const Form& form) {
  constexpr double kSame = 1e-12;  // relative: less comes from rounding
  constexpr int kMostDecimals = 7;
  std::string usual = form.usual(value);
  if (!bound || usual != form.usual(*bound) || std::abs(value - *bound) <= kSame * std::abs(*bound)) return usual;
  for (int decimals = 1; decimals <= kMostDecimals; ++decimals) {
    std::string more = fmt::format("{:.{}f}", value / form.one, decimals);
    if (more != fmt::format("{:.{}f}", *bound / form.one, decimals)) return more.append(form.unit);
  }
  return usual.insert(0, value < *bound ? "<" : ">");
}

Form time_form(double value, bool unicode) {
  Form form{.usual = [unicode](double each) { return short_time(base::from_seconds(each), unicode); }, .unit = "s"};
  if (value < 0.9995) form = {.usual = form.usual, .one = 1e-3, .unit = "ms"};
  if (value < 0.9995e-3) form = {.usual = form.usual, .one = 1e-6, .unit = unicode ? "µs" : "us"};
  return form;
}

}  // namespace

std::string threshold_text(const model::ThresholdVerdict& verdict) {
  std::string text = verdict.text + model::window_words(verdict.window);
  if (!verdict.where.empty()) text += fmt::format(" ({})", verdict.where);
  return text;
}

// A verdict carries its number in the unit of the bound, which the text tells: times, shares, or plain numbers.
std::string measured_text(const model::ThresholdVerdict& verdict, bool unicode) {
  const std::string_view text = verdict.text;
  const std::size_t first_end = std::min(text.find(' '), text.size());
  const std::string_view metric = text.substr(0, first_end);
  const std::string_view rest = text.substr(std::min(first_end + 1, text.size()));
  const std::string_view aggregate = rest.substr(0, rest.find(' '));
  const bool time = (metric == "latency" || metric == "service" || metric == "lateness") && aggregate != "count";
  const std::optional<double> bound = bound_of(text);
  if (time) return apart_from_bound(verdict.value, bound, time_form(verdict.value, unicode));
  if (model::is_share(metric, aggregate) || text.ends_with('%')) {
    const auto percent = [](double share) { return plain_number(share * 100) + "%"; };
    return apart_from_bound(verdict.value, bound, {.usual = percent, .one = 0.01, .unit = "%"});
  }
  const bool rate = text.contains('/') || (aggregate == "rate" && (metric == "requests" || metric == "iterations"));
  const std::string_view unit = rate ? "/s" : "";
  const auto number = [unit](double each) { return plain_number(each).append(unit); };
  return apart_from_bound(verdict.value, bound, {.usual = number, .one = 1, .unit = unit});
}

}  // namespace muster::report
