// Whatever decodes must encode to the very bytes it came from, or if it is of an older version to bytes that do.
// covers: model/run_codec.cpp model/result_codec.cpp
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/run_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto decoded = muster::model::decode_run_result(input);
  if (!decoded) return 0;
  std::string again;
  muster::model::encode(*decoded, again);
  if (again == input) return 0;
  // Workflows of an older version are written anew.
  const auto renewed = muster::model::decode_run_result(again);
  if (!renewed) std::abort();
  std::string third;
  muster::model::encode(*renewed, third);
  if (third != again) std::abort();
  return 0;
}
