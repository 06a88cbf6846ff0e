// Whatever decodes must encode to the very bytes it came from.
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
  if (again != input) std::abort();
  return 0;
}
