// Any text as a threshold: what is read is complete and finite.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "authoring/threshold_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto threshold = muster::authoring::parse_threshold(text);
  if (!threshold) {
    if (threshold.error().message.empty() || threshold.error().offset > size) std::abort();
    return 0;
  }
  if (threshold->metric.empty() || threshold->aggregate.empty() || !std::isfinite(threshold->bound)) std::abort();
  return 0;
}
