// For fuzz targets: the input as text, and what must hold of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::base {

// A broken property ends the process where it was found; the fuzzer keeps the input.
inline void require(bool condition) {
  if (!condition) __builtin_trap();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace muster::base
