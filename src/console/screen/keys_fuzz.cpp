// Whatever a terminal sends: at most one key for each byte, the same ones however the bytes are cut, and after an idle
// moment a plain letter is a letter again. Without one, a sequence that never ends takes no more than its limit.
// covers: console/screen/keys.cpp
#include <string>
#include <string_view>
#include <vector>

#include "base/fuzzing.h"
#include "console/screen/keys.h"
#include "console/screen/options.h"

namespace muster::console {
namespace {

using base::require;

const Key kLetter{Key::Kind::kCharacter, 'q'};

std::vector<Key> fed_in_pieces(std::string_view bytes) {
  KeyDecoder decoder;
  std::vector<Key> keys;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1 + static_cast<unsigned char>(bytes.front()) % 3);
    for (const Key& key : decoder.feed(piece)) keys.push_back(key);
    bytes.remove_prefix(piece.size());
    // Where no sequence is under way, a pause means nothing.
    if (!decoder.pending()) require(!decoder.idle());
  }
  return keys;
}

void require_letter_again(KeyDecoder decoder) {
  KeyDecoder paused = decoder;
  const bool pending = paused.pending();
  const bool escape = paused.idle();
  require((pending || !escape) && !paused.pending() && !paused.idle());
  require(paused.feed("q") == std::vector<Key>{kLetter});
  const std::vector<Key> keys = decoder.feed(std::string(kMaxKeySequence + 1, 'q'));
  require(!keys.empty() && keys.back() == kLetter && !decoder.pending());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = base::text_of(data, size);
  KeyDecoder decoder;
  const std::vector<Key> keys = decoder.feed(bytes);
  require(keys.size() <= size);
  for (const Key& key : keys) {
    const bool printable = key.character >= ' ' && key.character < 0x7f;
    require((key.kind == Key::Kind::kCharacter) == printable);
  }
  require(fed_in_pieces(bytes) == keys);
  require_letter_again(decoder);
  return 0;
}

}  // namespace muster::console
