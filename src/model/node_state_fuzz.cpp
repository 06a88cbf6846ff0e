// Whatever decodes encodes to the very bytes it came from, and these fit into an ack; nothing less and nothing more
// than a whole state decodes.
// covers: model/node_state_codec.cpp
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "model/node_state_codec.h"

namespace muster::model {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using base::require;
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_node_state(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  require(size <= kMaxNodeStateBytes && encode(*decoded) == input);
  require(!decode_node_state(input.substr(0, size - 1)) && !decode_node_state(std::string(input) + '\0'));
  return 0;
}

}  // namespace muster::model
