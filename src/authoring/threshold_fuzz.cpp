// Any text as a threshold: what is read is complete, finite and of use, and spaces around it change nothing. An input
// that begins with a control character chooses known words by its first three bytes, so that the limit behind them is
// met often; the rest is that limit. Any other input is the whole text.
// covers: authoring/threshold_parser.h authoring/threshold_parser.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "authoring/threshold_parser.h"
#include "base/fuzzing.h"

namespace {

using muster::base::require;

// All metrics but the user's own: none of their values can be negative.
constexpr std::array<std::string_view, 9> kOurs = {"latency",    "service",           "lateness", "failed", "requests",
                                                   "iterations", "failed_iterations", "dropped",  "checks"};

std::string text_from(std::string_view input) {
  constexpr std::array<std::string_view, 6> kAggregates = {"rate", "count", "mean", "p99.9", "value", "failed"};
  constexpr std::array<std::string_view, 6> kSymbols = {"<", "<=", ">", ">=", "==", "!="};
  constexpr std::size_t kChoices = 3;
  if (input.size() < kChoices || static_cast<unsigned char>(input[0]) >= ' ') return std::string(input);
  const auto choice = [&](std::size_t at) { return static_cast<unsigned char>(input[at]); };
  const std::size_t metric = choice(0) % (kOurs.size() + 1);
  std::string text(metric < kOurs.size() ? kOurs[metric] : "own");
  text.append(" ").append(kAggregates[choice(1) % kAggregates.size()]);
  text.append(" ").append(kSymbols[choice(2) % kSymbols.size()]);
  return text.append(" ").append(input.substr(kChoices));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = text_from(muster::base::text_of(data, size));
  const auto threshold = muster::authoring::parse_threshold(text);
  if (!threshold) {
    require(!threshold.error().message.empty() && threshold.error().offset <= text.size());
    return 0;
  }
  require(!threshold->metric.empty() && !threshold->aggregate.empty() && std::isfinite(threshold->bound));
  require(!std::signbit(threshold->bound) || std::ranges::find(kOurs, threshold->metric) == kOurs.end());
  const auto spaced = muster::authoring::parse_threshold(" " + text + " ");
  if (!spaced) {
    require(spaced.error().message.contains("too long"));
    return 0;
  }
  require(spaced->metric == threshold->metric && spaced->aggregate == threshold->aggregate);
  require(spaced->comparison == threshold->comparison && spaced->bound == threshold->bound);
  return 0;
}
