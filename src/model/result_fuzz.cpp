// Whatever decodes must encode to the very bytes it came from, and merging it must neither crash nor lose its name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/result_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto decoded = muster::model::decode_workflow_result(input);
  if (!decoded) return 0;
  std::string again;
  muster::model::encode(*decoded, again);
  if (again != input) std::abort();
  muster::model::WorkflowResult whole;
  muster::model::merge(whole, *decoded);
  muster::model::merge(whole, *decoded);
  if (whole.name != decoded->name) std::abort();
  std::string merged;
  muster::model::encode(whole, merged);
  return 0;
}
