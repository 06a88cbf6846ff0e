// Counts plain numbers of either sign, as users' metrics bring them: 128 buckets per octave from 2^-40 to 2^63 on
// both sides of zero, so that a percentile is at most 0.8 % off whatever the unit, and exact for whole numbers below
// 256. What is nearer to zero counts as zero, what is further away as the furthest. A recorder for one core, and a
// mergeable histogram of used buckets to read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "metrics/histogram.h"
#include "metrics/wire.h"

namespace muster::metrics {

struct ValueLayout {
  static constexpr int kLeastExponent = -40;
  static constexpr int kMostExponent = 63;
  static constexpr unsigned kSubBits = 7;
  static constexpr std::size_t kPerSide = static_cast<std::size_t>(kMostExponent - kLeastExponent) << kSubBits;
  static constexpr std::size_t kZero = kPerSide;
  static constexpr std::size_t kBuckets = 2 * kPerSide + 1;

  // In the order of the values; what is not a number counts as zero.
  static constexpr std::size_t index(double value) {
    const double size = value < 0 ? -value : value;
    if (!(size >= kLeast)) return kZero;
    // Exponent and leading bits of the fraction, side by side in IEEE 754, are the bucket.
    const std::size_t step = size >= kMost ? kPerSide - 1 : (std::bit_cast<std::uint64_t>(size) >> kShift) - kFirst;
    return value < 0 ? kZero - 1 - step : kZero + 1 + step;
  }
  // What a bucket stands for: its whole number if it begins with one and holds no other, else its middle.
  static constexpr double value(std::size_t index) {
    if (index == kZero) return 0;
    const std::size_t step = index > kZero ? index - kZero - 1 : kZero - 1 - index;
    const std::uint64_t bits = (static_cast<std::uint64_t>(step) + kFirst) << kShift;
    double size = std::bit_cast<double>(bits);
    const bool whole = size < 256 && size >= 1 && size == static_cast<double>(static_cast<int>(size));
    if (!whole) size = std::bit_cast<double>(bits | (std::uint64_t{1} << (kShift - 1)));
    return index > kZero ? size : -size;
  }

 private:
  static constexpr unsigned kShift = 52 - kSubBits;
  static constexpr std::uint64_t kFirst = static_cast<std::uint64_t>(1023 + kLeastExponent) << kSubBits;
  static constexpr double kLeast = std::bit_cast<double>(kFirst << kShift);
  static constexpr double kMost = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + kMostExponent) << 52);
};

// Allocates once, when it is made; record() never does. Memory that no value falls into is never touched.
class ValueRecorder {
 public:
  ValueRecorder() : counts_(static_cast<std::uint32_t*>(std::calloc(ValueLayout::kBuckets, sizeof(std::uint32_t)))) {
    if (counts_ == nullptr) throw std::bad_alloc();
  }

  void record(double value) {
    const std::size_t at = ValueLayout::index(value);
    ++counts_[at];
    first_ = at < first_ ? at : first_;
    end_ = at >= end_ ? at + 1 : end_;
  }
  void clear() {
    for (std::size_t i = first_; i < end_; ++i) counts_[i] = 0;
    first_ = ValueLayout::kBuckets;
    end_ = 0;
  }

  // Buckets that hold something lie in [first(), end()).
  std::size_t first() const { return first_; }
  std::size_t end() const { return end_; }
  std::uint32_t count_at(std::size_t bucket) const { return counts_[bucket]; }

 private:
  struct Free {
    void operator()(std::uint32_t* memory) const { std::free(memory); }
  };

  std::unique_ptr<std::uint32_t[], Free> counts_;
  std::size_t first_ = ValueLayout::kBuckets;
  std::size_t end_ = 0;
};

class ValueHistogram {
 public:
  void record(double value, std::uint64_t times = 1);
  void add(const ValueRecorder& recorder);
  void merge(const ValueHistogram& other);
  void clear() { buckets_.clear(); }

  bool empty() const { return buckets_.empty(); }
  std::uint64_t count() const;
  // Nearest rank, told as ValueLayout::value() of its bucket; q is clamped to [0, 1]; empty: 0. Whoever knows the least
  // and the largest value clamps to them.
  double quantile(double q) const;

  const std::vector<Bucket>& buckets() const { return buckets_; }

  void write(Writer& writer) const;
  // Empty if the reader fails.
  static ValueHistogram read(Reader& reader);

  bool operator==(const ValueHistogram&) const = default;

 private:
  void add_bucket(std::size_t index, std::uint64_t count);

  std::vector<Bucket> buckets_;  // ascending by index
};

}  // namespace muster::metrics
