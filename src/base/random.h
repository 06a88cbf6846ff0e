// Seeded pseudo-random numbers (xoshiro256++). One generator belongs to one thread and one purpose; equal seeds give
// equal sequences on every machine. Not for keys or tokens.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace muster::base {

// One step of splitmix64: turns any number, also 0, into a well mixed one.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

__extension__ using Wide = unsigned __int128;

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) word = seed = mix(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); bound must not be 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Exponential with mean 1.
  double exponential() { return -std::log1p(-unit()); }

 private:
  std::uint64_t state_[4];
};

}  // namespace muster::base
