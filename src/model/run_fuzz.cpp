// Whatever decodes encodes to the very bytes it came from, unless it holds a workflow of an older version, which is
// written anew. Nothing less and nothing more than a whole result decodes.
// covers: model/run_codec.cpp model/result_codec.cpp
#include <algorithm>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "model/result_codec.h"
#include "model/run_codec.h"

namespace muster::model {
namespace {

using base::require;

std::string bytes_of(const RunResult& run) {
  std::string bytes;
  encode(run, bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_run_result(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  require(!to_text(decoded->verdict).empty() && decoded->exit_code >= 0 && decoded->exit_code <= 255);
  for (const WorkflowResult& workflow : decoded->workflows) require(workflow.provided.empty());
  require(!decode_run_result(input.substr(0, size - 1)) && !decode_run_result(input.substr(0, size / 2)));
  require(!decode_run_result(std::string(input) + '\0'));
  const std::string again = bytes_of(*decoded);
  if (again == input) return 0;
  // The first byte that differs is the version of the first workflow that is older.
  const auto [was, is] = std::ranges::mismatch(input, again);
  require(was != input.end() && is != again.end() && *was >= 1 && *was < kResultVersion && *is == kResultVersion);
  const auto renewed = decode_run_result(again);
  require(renewed.has_value() && bytes_of(*renewed) == again);
  return 0;
}

}  // namespace muster::model
