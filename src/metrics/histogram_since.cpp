#include "metrics/histogram_since.h"

#include <algorithm>
#include <vector>

namespace muster::metrics {
namespace {

// The buckets that grew, or nothing if one shrank.
std::optional<std::vector<Bucket>> grown(const std::vector<Bucket>& later, const std::vector<Bucket>& earlier) {
  std::vector<Bucket> found;
  auto before = earlier.begin();
  for (const Bucket& bucket : later) {
    std::uint64_t count = 0;
    if (before != earlier.end() && before->index == bucket.index) count = (before++)->count;
    if (bucket.count < count) return std::nullopt;
    if (bucket.count > count) found.push_back({bucket.count - count, bucket.index});
  }
  if (before != earlier.end()) return std::nullopt;
  return found;
}

}  // namespace

template <unsigned SubBits>
std::optional<BasicHistogram<SubBits>> since(const BasicHistogram<SubBits>& later,
                                             const BasicHistogram<SubBits>& earlier) {
  using Layout = LogLinear<SubBits>;
  if (earlier.empty()) return later;
  const Totals& after = later.totals();
  const Totals& before = earlier.totals();
  auto buckets = grown(later.buckets(), earlier.buckets());
  if (!buckets || after.sum < before.sum || after.sum_squares < before.sum_squares) return std::nullopt;
  if (after.min > before.min || after.max < before.max) return std::nullopt;
  if (buckets->empty()) return after == before ? std::optional(BasicHistogram<SubBits>()) : std::nullopt;
  const std::uint64_t lowest = Layout::lower(buckets->front().index);
  const std::uint64_t highest = Layout::upper(buckets->back().index) - 1;
  return BasicHistogram<SubBits>::restore(std::move(*buckets),
                                          {.count = after.count - before.count,
                                           .min = after.min < before.min ? after.min : std::max(lowest, after.min),
                                           .max = after.max > before.max ? after.max : std::min(highest, after.max),
                                           .sum = after.sum - before.sum,
                                           .sum_squares = after.sum_squares - before.sum_squares});
}

template std::optional<Histogram> since(const Histogram&, const Histogram&);
template std::optional<CoarseHistogram> since(const CoarseHistogram&, const CoarseHistogram&);

}  // namespace muster::metrics
