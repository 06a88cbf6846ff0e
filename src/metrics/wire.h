// Bytes on the wire: a writer that appends to a string and a reader that trusts nothing. The reader's failure sticks:
// after the first bad field every read returns zero or empty, so a decoder reads straight through and asks ok() once.
// Numbers are little-endian base-128 varints in their shortest form only, so equal values have equal bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::metrics {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(&out) {}  // appends; `out` outlives the writer

  void byte(std::uint8_t value) { out_->push_back(static_cast<char>(value)); }
  void boolean(bool value) { byte(value ? 1 : 0); }
  void varint(std::uint64_t value) {
    if (value < 0x80) return byte(static_cast<std::uint8_t>(value));
    char bytes[10];
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
    bytes[size++] = static_cast<char>(value);
    out_->append(bytes, size);
  }
  void wide_varint(unsigned __int128 value) {
    while (value >= 0x80) {
      byte(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  // Small numbers of either sign stay small: 0, -1, 1, -2 … become 0, 1, 2, 3 …
  void zigzag(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    varint((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void fixed64(std::uint64_t value) {
    char bytes[8];
    for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    out_->append(bytes, sizeof bytes);
  }
  void real(double value) { fixed64(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) {
    varint(value.size());
    out_->append(value);
  }

 private:
  std::string* out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}  // `bytes` outlives the reader and views read from it

  std::uint8_t byte() {
    if (ok() && !at_end()) return static_cast<std::uint8_t>(bytes_[position_++]);
    fail("it ends too early");
    return 0;
  }
  bool boolean();
  std::uint64_t varint() {
    // Most numbers are small: one byte, told without the loop.
    if (ok() && !at_end() && (static_cast<std::uint8_t>(bytes_[position_]) & 0x80) == 0) {
      return static_cast<std::uint8_t>(bytes_[position_++]);
    }
    return long_varint();
  }
  std::uint64_t varint_below(std::uint64_t bound) {  // fails for values ≥ bound
    const std::uint64_t value = varint();
    return value < bound ? value : too_large(value, bound);
  }
  unsigned __int128 wide_varint();
  std::int64_t zigzag();
  std::uint64_t fixed64();
  double real();  // NaN and infinities fail: nothing that muster sends holds them
  std::string_view text(std::size_t limit);

  // The length of a list, each element of which takes at least `bytes_each` bytes: what cannot be there is refused
  // before anything is allocated for it.
  std::size_t length(std::size_t limit, std::size_t bytes_each = 1);

  // Marks the input as bad, for checks of the caller's; the first reason is kept.
  void fail(std::string_view reason);

  bool ok() const { return reason_.empty(); }
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t remaining() const { return bytes_.size() - position_; }

  // What was wrong, and at which byte, about `what` ("histogram"); only if !ok().
  base::Error error(std::string_view what) const;

 private:
  std::uint64_t long_varint();
  std::uint64_t too_large(std::uint64_t value, std::uint64_t bound);
  unsigned __int128 varint_of(unsigned bits);

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::string reason_;
  std::size_t failed_at_ = 0;
};

}  // namespace muster::metrics
