#include "console/screen/keys.h"

#include "console/screen/options.h"

namespace muster::console {
namespace {

constexpr unsigned char kEscapeByte = 0x1B;

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  std::vector<Key> keys;
  for (const char byte : bytes) take(static_cast<unsigned char>(byte), keys);
  return keys;
}

bool KeyDecoder::idle() {
  const bool escape = state_ == State::kEscape;
  state_ = State::kPlain;
  length_ = 0;
  return escape;
}

void KeyDecoder::take(unsigned char byte, std::vector<Key>& keys) {
  if (byte == kEscapeByte) {
    // Escape twice is the Escape key, then a new beginning; inside a sequence it breaks that off.
    if (state_ == State::kEscape) keys.push_back({Key::Kind::kEscape, 0});
    state_ = State::kEscape;
    length_ = 1;
    return;
  }
  if (state_ != State::kPlain && ++length_ > kMaxKeySequence) {
    state_ = State::kPlain;
    return;
  }
  switch (state_) {
    case State::kPlain:
      plain(byte, keys);
      return;
    case State::kEscape:
      if (byte == '[') {
        state_ = State::kControl;
      } else if (byte == 'O') {
        state_ = State::kSingle;
      } else if (byte == ']' || byte == 'P' || byte == '_' || byte == '^') {
        state_ = State::kText;
      } else {
        state_ = State::kPlain;  // a key together with Alt: means nothing here
      }
      return;
    case State::kControl:
      // ECMA-48 5.4: parameters and intermediates, then one final byte.
      if (byte >= 0x20 && byte <= 0x3F) return;
      finish(byte, keys);
      return;
    case State::kSingle:
      finish(byte, keys);
      return;
    case State::kText:
      // An answer of the terminal to something else; ends with BEL, or with ST, which begins with an escape.
      if (byte == 0x07) state_ = State::kPlain;
      return;
  }
}

void KeyDecoder::plain(unsigned char byte, std::vector<Key>& keys) {
  if (byte == '\t') {
    keys.push_back({Key::Kind::kTab, 0});
  } else if (byte == '\r' || byte == '\n') {
    keys.push_back({Key::Kind::kEnter, 0});
  } else if (byte == 0x03) {
    keys.push_back({Key::Kind::kInterrupt, 0});
  } else if (byte >= 0x20 && byte < 0x7F) {
    keys.push_back({Key::Kind::kCharacter, static_cast<char>(byte)});
  }
}

void KeyDecoder::finish(unsigned char byte, std::vector<Key>& keys) {
  state_ = State::kPlain;
  switch (byte) {
    case 'A':
      keys.push_back({Key::Kind::kUp, 0});
      return;
    case 'B':
      keys.push_back({Key::Kind::kDown, 0});
      return;
    case 'C':
      keys.push_back({Key::Kind::kRight, 0});
      return;
    case 'D':
      keys.push_back({Key::Kind::kLeft, 0});
      return;
    case 'Z':
      keys.push_back({Key::Kind::kBackTab, 0});
      return;
    default:
      return;
  }
}

}  // namespace muster::console
