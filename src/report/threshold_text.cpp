#include "report/threshold_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "model/threshold_reach.h"
#include "model/window_words.h"
#include "report/figures.h"

namespace muster::report {

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
  if (time) return short_time(base::from_seconds(verdict.value), unicode);
  if (model::is_share(metric, aggregate) || text.ends_with('%'))
    return fmt::format("{}%", plain_number(verdict.value * 100));
  return plain_number(verdict.value);
}

}  // namespace muster::report
