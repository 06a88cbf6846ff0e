// Hashes that every machine computes alike, for owners on a ring and for choosing peers: FNV-1a over bytes, then a
// finaliser, because the upper bits of a bare FNV hash of short texts hardly differ. Not for keys, tokens or content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace muster::base {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325u;
constexpr std::uint64_t kFnvPrime = 0x100000001b3u;

// 64-bit FNV-1a. `state` continues an earlier hash: fnv1a(b, fnv1a(a)) is the hash of a followed by b.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t state = kFnvOffset) {
  for (const char c : bytes) state = (state ^ static_cast<std::uint8_t>(c)) * kFnvPrime;
  return state;
}

// The eight bytes of a number, lowest first.
constexpr std::uint64_t fnv1a(std::uint64_t number, std::uint64_t state = kFnvOffset) {
  for (unsigned shift = 0; shift < 64; shift += 8) state = (state ^ ((number >> shift) & 0xff)) * kFnvPrime;
  return state;
}

// FNV-1a with every bit of the input spread over every bit of the result.
constexpr std::uint64_t hash_of(std::string_view bytes) {
  return mix(fnv1a(bytes));
}
constexpr std::uint64_t hash_of(std::uint64_t number) {
  return mix(fnv1a(number));
}

// For comparing long runs of bytes, eight at a time: a chain of multiplications for each byte would take its time.
constexpr std::uint64_t digest_of(std::string_view bytes) {
  std::uint64_t state = mix(bytes.size());
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    state = mix(state ^ word);
  }
  std::uint64_t rest = 0;
  for (const char c : bytes) rest = rest << 8 | static_cast<std::uint8_t>(c);
  return mix(state ^ rest);
}

}  // namespace muster::base
