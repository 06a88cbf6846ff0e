// Any text as a threshold: what is read is complete and finite.
// covers: authoring/threshold_parser.h authoring/threshold_parser.cpp
#include <cmath>
#include <string_view>

#include "authoring/threshold_parser.h"
#include "base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using muster::base::require;
  const std::string_view text = muster::base::text_of(data, size);
  const auto threshold = muster::authoring::parse_threshold(text);
  if (!threshold) {
    require(!threshold.error().message.empty() && threshold.error().offset <= size);
    return 0;
  }
  require(!threshold->metric.empty() && !threshold->aggregate.empty() && std::isfinite(threshold->bound));
  return 0;
}
