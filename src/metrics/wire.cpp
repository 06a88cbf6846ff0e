#include "metrics/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace muster::metrics {

bool Reader::boolean() {
  const std::uint8_t value = byte();
  if (value > 1) fail("a yes-or-no field is neither 0 nor 1");
  return ok() && value == 1;
}

unsigned __int128 Reader::wide_varint() {
  return varint_of(128);
}

std::int64_t Reader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1) ^ ((value & 1) != 0 ? ~std::uint64_t{0} : 0));
}

std::uint64_t Reader::fixed64() {
  if (remaining() < 8) {
    position_ = ok() ? bytes_.size() : position_;
    fail("it ends too early");
  }
  if (!ok()) return 0;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[position_ + i])} << (8 * i);
  position_ += 8;
  return value;
}

double Reader::real() {
  const double value = std::bit_cast<double>(fixed64());
  if (std::isfinite(value)) return value;
  fail("a number is not finite");
  return 0;
}

std::string_view Reader::text(std::size_t limit) {
  const std::uint64_t size = varint();
  if (size > limit) {
    fail(fmt::format("a text of {} bytes is longer than the limit of {}", size, limit));
  } else if (size > remaining()) {
    fail("it ends too early");
  }
  if (!ok()) return {};
  const std::string_view value = bytes_.substr(position_, static_cast<std::size_t>(size));
  position_ += value.size();
  return value;
}

std::size_t Reader::length(std::size_t limit, std::size_t bytes_each) {
  const std::uint64_t size = varint();
  if (size > limit) {
    fail(fmt::format("a list of {} elements is longer than the limit of {}", size, limit));
  } else if (size > remaining() / bytes_each) {
    fail("it ends too early");
  }
  return ok() ? static_cast<std::size_t>(size) : 0;
}

void Reader::fail(std::string_view reason) {
  if (!ok()) return;
  reason_ = reason;
  failed_at_ = position_;
}

base::Error Reader::error(std::string_view what) const {
  return {fmt::format("The {} cannot be read: {} (byte {} of {}). Both sides must run the same version of muster.",
                      what, reason_, failed_at_, bytes_.size())};
}

std::uint64_t Reader::too_large(std::uint64_t value, std::uint64_t bound) {
  fail(fmt::format("a number is {} where at most {} is possible", value, bound - 1));
  return 0;
}

// Of up to nine bytes, which cannot overflow; what is longer, or wrong in any way, is left to varint_of().
std::uint64_t Reader::long_varint() {
  std::uint64_t value = 0;
  const std::size_t most = ok() ? std::min<std::size_t>(remaining(), 9) : 0;
  for (std::size_t i = 0; i < most; ++i) {
    const auto next = static_cast<std::uint8_t>(bytes_[position_ + i]);
    value |= std::uint64_t{next & 0x7fu} << (7 * i);
    if ((next & 0x80) != 0) continue;
    if (next == 0 && i > 0) break;
    position_ += i + 1;
    return value;
  }
  return static_cast<std::uint64_t>(varint_of(64));
}

unsigned __int128 Reader::varint_of(unsigned bits) {
  unsigned __int128 value = 0;
  for (unsigned shift = 0; ok(); shift += 7) {
    const std::uint8_t next = byte();
    const unsigned __int128 part = next & 0x7f;
    const bool fits = shift < bits && (shift + 7 <= bits || (part >> (bits - shift)) == 0);
    if (!fits) {
      fail(fmt::format("a number is larger than {} bits", bits));
      break;
    }
    value |= part << shift;
    if ((next & 0x80) != 0) continue;
    if (next == 0 && shift > 0) fail("a number is not written in its shortest form");
    break;
  }
  return ok() ? value : 0;
}

}  // namespace muster::metrics
