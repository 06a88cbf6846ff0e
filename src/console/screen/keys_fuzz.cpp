// covers: console/screen/keys.cpp
// Whatever a terminal sends: at most one key for each byte, the same ones however the bytes are cut, and after an idle
// moment a plain letter is a letter again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "console/screen/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using muster::console::Key;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  muster::console::KeyDecoder whole;
  const std::vector<Key> keys = whole.feed(bytes);
  if (keys.size() > size) std::abort();
  for (const Key& key : keys) {
    const bool printable = key.character >= ' ' && key.character < 0x7f;
    if ((key.kind == Key::Kind::kCharacter) != printable) std::abort();
  }
  muster::console::KeyDecoder pieces;
  std::vector<Key> again;
  for (std::size_t at = 0; at < size; at += 1 + data[at] % 3) {
    const std::size_t length = 1 + data[at] % 3;
    for (const Key& key : pieces.feed(bytes.substr(at, length))) again.push_back(key);
  }
  if (again != keys) std::abort();
  whole.idle();
  if (whole.feed("q") != std::vector<Key>{{Key::Kind::kCharacter, 'q'}}) std::abort();
  return 0;
}
