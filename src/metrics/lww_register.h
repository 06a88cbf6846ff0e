// A value of which the last one written wins (an LWW register), for facts that are replaced rather than added up: a
// status, a rate. Writes are ordered by a Lamport clock, then by who wrote; replicas that have seen the same writes
// agree. A plain value.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <utility>

#include "base/node_id.h"

namespace muster::metrics {

struct Written {
  std::uint64_t clock = 0;  // 0: never
  base::NodeId by = base::kNoNode;

  auto operator<=>(const Written&) const = default;
};

// T is ordered so that even two values under one stamp, which no honest writer makes, leave replicas in agreement.
template <std::totally_ordered T>
class LwwRegister {
 public:
  LwwRegister() = default;
  LwwRegister(T value, Written written) : value_(std::move(value)), written_(written) {}

  // False if what is there is as new or newer.
  bool write(T value, Written written) { return merge(LwwRegister(std::move(value), written)); }

  bool merge(const LwwRegister& other) {
    const bool newer = other.written_ != written_ ? other.written_ > written_ : other.value_ > value_;
    if (newer) *this = other;
    return newer;
  }

  const T& value() const { return value_; }
  Written written() const { return written_; }

  bool operator==(const LwwRegister&) const = default;

 private:
  T value_{};
  Written written_;
};

}  // namespace muster::metrics
