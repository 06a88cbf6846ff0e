// Whatever decodes as a layer's context encodes to the very bytes it came from, with its workflows in order, and can be
// narrowed to some of them.
// covers: cluster/context.cpp
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/context.h"

namespace muster::cluster {

using base::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_context(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!decode_context(input.substr(0, size - 1)));
  for (std::size_t i = 1; i < decoded->rows.size(); ++i) {
    require(decoded->rows[i - 1].workflow < decoded->rows[i].workflow);
  }
  LayerValues merged;
  for (const ContextRow& row : decoded->rows) merged.add(row.workflow, row.provided);
  require(merged.of({0, 1}).rows.size() <= 2);
  return 0;
}

}  // namespace muster::cluster
