// A cumulative, mergeable histogram of durations. Only buckets that hold something are stored, in order, so an empty or
// narrow one is small and a copy is cheap. Counts and sums are integers: merging is exact, associative and commutative.
// A plain value; not for the path of a request (see Recorder).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "metrics/log_linear.h"
#include "metrics/recorder.h"

namespace muster::metrics {

struct Bucket {
  std::uint64_t count = 0;  // never 0 inside a histogram
  std::uint32_t index = 0;  // in the layout of the histogram

  bool operator==(const Bucket&) const = default;
};

// What a histogram knows exactly, beside its buckets. All in ns; min and max are 0 when there are no samples.
struct Totals {
  std::uint64_t count = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  Sum sum = 0;
  Sum sum_squares = 0;

  bool operator==(const Totals&) const = default;
};

template <unsigned SubBits>
class BasicHistogram {
 public:
  using Layout = LogLinear<SubBits>;

  BasicHistogram() = default;
  explicit BasicHistogram(const Recorder<SubBits>& recorder) { add(recorder); }

  // From a finer histogram or recorder: the buckets of a finer layout nest in those of a coarser one, so the result is
  // the same as if the samples had been recorded here.
  template <unsigned Fine>
    requires(Fine > SubBits)
  explicit BasicHistogram(const Recorder<Fine>& recorder) {
    add(recorder);
  }
  template <unsigned Fine>
    requires(Fine > SubBits)
  explicit BasicHistogram(const BasicHistogram<Fine>& fine) {
    merge(fine);
  }

  void record(base::Duration value, std::uint64_t times = 1);
  template <unsigned Fine>
    requires(Fine >= SubBits)
  void add(const Recorder<Fine>& recorder);
  template <unsigned Fine>
    requires(Fine >= SubBits)
  void merge(const BasicHistogram<Fine>& other);
  void clear();

  bool empty() const { return totals_.count == 0; }
  std::uint64_t count() const { return totals_.count; }
  base::Duration min() const { return base::Duration(static_cast<std::int64_t>(totals_.min)); }  // exact; empty: 0
  base::Duration max() const { return base::Duration(static_cast<std::int64_t>(totals_.max)); }  // exact; empty: 0
  base::Duration mean() const;    // exact, rounded to the nearest ns; empty: 0
  base::Duration stddev() const;  // of the population; empty: 0

  // Nearest rank: the smallest value such that at least ceil(q·n) samples are not above it, told as the middle of its
  // bucket, never outside [min, max]. The lowest and the highest rank are exact. q is clamped to [0, 1]; empty: 0.
  base::Duration quantile(double q) const;

  // Samples above `value`; those in the bucket of `value` itself count as not above.
  std::uint64_t count_above(base::Duration value) const;

  // Calls fn(lower, upper, count) for every used bucket, ascending; the bucket holds values in [lower, upper).
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (const Bucket& bucket : buckets_) {
      fn(base::Duration(static_cast<std::int64_t>(Layout::lower(bucket.index))),
         base::Duration(static_cast<std::int64_t>(Layout::upper(bucket.index))), bucket.count);
    }
  }

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const Totals& totals() const { return totals_; }

  // A histogram of these parts, or nothing if they cannot belong together (order, bounds, sums; see kMaxSamples).
  static std::optional<BasicHistogram> restore(std::vector<Bucket> buckets, const Totals& totals);

  bool operator==(const BasicHistogram&) const = default;

 private:
  void add_totals(const Totals& other);
  void merge_buckets(const Bucket* other, std::size_t size);

  std::vector<Bucket> buckets_;  // ascending by index
  Totals totals_;
};

using Histogram = BasicHistogram<9>;
using CoarseHistogram = BasicHistogram<6>;

inline CoarseHistogram coarse(const Recorder<9>& recorder) {
  return CoarseHistogram(recorder);
}
inline CoarseHistogram coarse(const Histogram& histogram) {
  return CoarseHistogram(histogram);
}

extern template class BasicHistogram<9>;
extern template class BasicHistogram<6>;

}  // namespace muster::metrics
