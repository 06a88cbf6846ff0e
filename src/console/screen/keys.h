// From the bytes that a keyboard sends to keys: letters, digits, and the escape sequences of arrows and the like
// (ECMA-48 control sequences, SS3). Anything else is passed over, however long or broken. Pure; one thread. A lone
// escape byte is known to be the Escape key only when nothing follows for a while: then call idle().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::console {

struct Key {
  enum class Kind : std::uint8_t { kCharacter, kLeft, kRight, kUp, kDown, kTab, kBackTab, kEnter, kEscape, kInterrupt };
  Kind kind = Kind::kCharacter;
  char character = 0;  // kCharacter: printable ASCII

  bool operator==(const Key&) const = default;
};

class KeyDecoder {
 public:
  // The keys that `bytes` complete.
  std::vector<Key> feed(std::string_view bytes);
  // No byte came for a while. True and the Escape key if one was pressed.
  bool idle();
  // Whether a sequence is under way, and idle() should be called if nothing follows.
  bool pending() const { return state_ != State::kPlain; }

 private:
  enum class State : std::uint8_t { kPlain, kEscape, kControl, kSingle, kText };

  void take(unsigned char byte, std::vector<Key>& keys);
  void plain(unsigned char byte, std::vector<Key>& keys);
  void finish(unsigned char byte, std::vector<Key>& keys);

  State state_ = State::kPlain;
  std::size_t length_ = 0;  // of the sequence so far
};

}  // namespace muster::console
