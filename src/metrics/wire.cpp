#include "metrics/wire.h"

#include <fmt/format.h>

#include <cmath>

namespace muster::metrics {

std::uint8_t Reader::byte() {
  if (!ok()) return 0;
  if (at_end()) {
    fail("it ends too early");
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[position_++]);
}

bool Reader::boolean() {
  const std::uint8_t value = byte();
  if (value > 1) fail("a yes-or-no field is neither 0 nor 1");
  return ok() && value == 1;
}

std::uint64_t Reader::varint_below(std::uint64_t bound) {
  const std::uint64_t value = varint();
  if (value < bound) return value;
  fail(fmt::format("a number is {} where at most {} is possible", value, bound - 1));
  return 0;
}

unsigned __int128 Reader::wide_varint() {
  return varint_of(128);
}

std::int64_t Reader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>((value >> 1) ^ ((value & 1) != 0 ? ~std::uint64_t{0} : 0));
}

std::uint64_t Reader::fixed64() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) value |= static_cast<std::uint64_t>(byte()) << shift;
  return ok() ? value : 0;
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
