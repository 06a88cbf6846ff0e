#include "metrics/histogram.h"

#include <algorithm>
#include <cmath>

#include "metrics/options.h"
#include "metrics/rank.h"

namespace muster::metrics {
namespace {

base::Duration duration(std::uint64_t ns) {
  return base::Duration(static_cast<std::int64_t>(ns));
}

// Appends to a list in ascending order, folding equal indexes together.
void append(std::vector<Bucket>& buckets, std::size_t index, std::uint64_t count) {
  if (!buckets.empty() && buckets.back().index == index) {
    buckets.back().count += count;
  } else {
    buckets.push_back({count, static_cast<std::uint32_t>(index)});
  }
}

}  // namespace

template <unsigned SubBits>
void BasicHistogram<SubBits>::record(base::Duration value, std::uint64_t times) {
  if (times == 0) return;
  const std::int64_t signed_ns = std::max<std::int64_t>(value.count(), 0);
  const std::uint64_t ns = std::min(static_cast<std::uint64_t>(signed_ns), Layout::kMaxValue);
  const Bucket bucket{times, static_cast<std::uint32_t>(Layout::index(ns))};
  merge_buckets(&bucket, 1);
  add_totals({times, ns, ns, static_cast<Sum>(ns) * times, static_cast<Sum>(ns) * ns * times});
}

template <unsigned SubBits>
template <unsigned Fine>
  requires(Fine >= SubBits)
void BasicHistogram<SubBits>::add(const Recorder<Fine>& recorder) {
  if (recorder.empty()) return;
  std::vector<Bucket> used;
  for (std::size_t i = recorder.first(), end = recorder.last() + 1; i != end; ++i) {
    if (const std::uint32_t count = recorder.count_at(i); count != 0) {
      append(used, Fine == SubBits ? i : Layout::index(LogLinear<Fine>::lower(i)), count);
    }
  }
  merge_buckets(used.data(), used.size());
  add_totals({recorder.count(), static_cast<std::uint64_t>(recorder.min().count()),
              static_cast<std::uint64_t>(recorder.max().count()), recorder.sum(), recorder.sum_squares()});
}

template <unsigned SubBits>
template <unsigned Fine>
  requires(Fine >= SubBits)
void BasicHistogram<SubBits>::merge(const BasicHistogram<Fine>& other) {
  if (other.empty()) return;
  const Totals totals = other.totals();
  if constexpr (Fine == SubBits) {
    if (&other == this) {
      for (Bucket& bucket : buckets_) bucket.count *= 2;
    } else {
      merge_buckets(other.buckets().data(), other.buckets().size());
    }
  } else {
    std::vector<Bucket> folded;
    for (const Bucket& bucket : other.buckets()) {
      append(folded, Layout::index(LogLinear<Fine>::lower(bucket.index)), bucket.count);
    }
    merge_buckets(folded.data(), folded.size());
  }
  add_totals(totals);
}

template <unsigned SubBits>
void BasicHistogram<SubBits>::clear() {
  buckets_.clear();
  totals_ = {};
}

template <unsigned SubBits>
base::Duration BasicHistogram<SubBits>::mean() const {
  if (empty()) return {};
  return duration(static_cast<std::uint64_t>((totals_.sum + totals_.count / 2) / totals_.count));
}

template <unsigned SubBits>
base::Duration BasicHistogram<SubBits>::stddev() const {
  if (empty()) return {};
  // Around the whole part of the mean the sum of squared deviations is exact: all terms are integers and the result
  // fits, even where intermediate ones wrap. What remains is the fraction of the mean.
  const Sum centre = totals_.sum / totals_.count;
  const Sum deviations = totals_.sum_squares - 2 * centre * totals_.sum + centre * centre * totals_.count;
  const auto count = static_cast<double>(totals_.count);
  const double fraction = static_cast<double>(totals_.sum - centre * totals_.count) / count;
  const double variance = static_cast<double>(static_cast<__int128>(deviations)) / count - fraction * fraction;
  return duration(static_cast<std::uint64_t>(std::llround(std::sqrt(std::max(variance, 0.0)))));
}

template <unsigned SubBits>
base::Duration BasicHistogram<SubBits>::quantile(double q) const {
  if (empty()) return {};
  const std::uint64_t rank = nearest_rank(q, totals_.count);
  if (rank == 1) return min();
  if (rank == totals_.count) return max();
  std::uint64_t seen = 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (seen >= rank) return duration(std::clamp(Layout::middle(bucket.index), totals_.min, totals_.max));
  }
  return max();
}

template <unsigned SubBits>
std::uint64_t BasicHistogram<SubBits>::count_above(base::Duration value) const {
  if (value < min()) return totals_.count;
  if (value >= max()) return 0;
  const std::size_t index = Layout::index(static_cast<std::uint64_t>(value.count()));
  std::uint64_t above = 0;
  for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend() && bucket->index > index; ++bucket) {
    above += bucket->count;
  }
  return above;
}

template <unsigned SubBits>
std::optional<BasicHistogram<SubBits>> BasicHistogram<SubBits>::restore(std::vector<Bucket> buckets,
                                                                        const Totals& totals) {
  std::uint64_t count = 0;
  Sum least = 0;
  Sum most = 0;
  Sum least_squares = 0;
  Sum most_squares = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Bucket& bucket = buckets[i];
    if (bucket.count == 0 || bucket.count > kMaxSamples - count) return std::nullopt;
    if (bucket.index >= Layout::kBuckets || (i > 0 && bucket.index <= buckets[i - 1].index)) return std::nullopt;
    count += bucket.count;
    const Sum low = std::max(Layout::lower(bucket.index), totals.min);
    const Sum high = std::min(Layout::upper(bucket.index) - 1, totals.max);
    least += low * bucket.count;
    most += high * bucket.count;
    least_squares += low * low * bucket.count;
    most_squares += high * high * bucket.count;
  }
  if (count != totals.count) return std::nullopt;
  BasicHistogram made;
  if (count == 0) return totals == Totals{} ? std::optional(made) : std::nullopt;
  if (totals.min > totals.max || totals.max > Layout::kMaxValue) return std::nullopt;
  if (Layout::index(totals.min) != buckets.front().index || Layout::index(totals.max) != buckets.back().index) {
    return std::nullopt;
  }
  if (totals.sum < least || totals.sum > most) return std::nullopt;
  if (totals.sum_squares < least_squares || totals.sum_squares > most_squares) return std::nullopt;
  made.buckets_ = std::move(buckets);
  made.totals_ = totals;
  return made;
}

template <unsigned SubBits>
void BasicHistogram<SubBits>::add_totals(const Totals& other) {
  totals_.min = empty() ? other.min : std::min(totals_.min, other.min);
  totals_.max = std::max(totals_.max, other.max);
  totals_.count += other.count;
  totals_.sum += other.sum;
  totals_.sum_squares += other.sum_squares;
}

// Merges from the back in place, so that adding to buckets that exist allocates nothing.
template <unsigned SubBits>
void BasicHistogram<SubBits>::merge_buckets(const Bucket* other, std::size_t size) {
  std::size_t fresh = 0;
  for (std::size_t mine = 0, i = 0; i < size; ++i) {
    while (mine < buckets_.size() && buckets_[mine].index < other[i].index) ++mine;
    if (mine == buckets_.size() || buckets_[mine].index != other[i].index) ++fresh;
  }
  std::size_t mine = buckets_.size();
  buckets_.resize(buckets_.size() + fresh);
  std::size_t target = buckets_.size();
  while (size > 0) {
    const Bucket& next = other[size - 1];
    if (mine > 0 && buckets_[mine - 1].index > next.index) {
      buckets_[--target] = buckets_[--mine];
      continue;
    }
    const bool shared = mine > 0 && buckets_[mine - 1].index == next.index;
    const std::uint64_t before = shared ? buckets_[--mine].count : 0;
    buckets_[--target] = {before + next.count, next.index};
    --size;
  }
}

template class BasicHistogram<9>;
template class BasicHistogram<6>;
template void BasicHistogram<9>::add(const Recorder<9>&);
template void BasicHistogram<9>::merge(const BasicHistogram<9>&);
template void BasicHistogram<6>::add(const Recorder<6>&);
template void BasicHistogram<6>::add(const Recorder<9>&);
template void BasicHistogram<6>::merge(const BasicHistogram<6>&);
template void BasicHistogram<6>::merge(const BasicHistogram<9>&);

}  // namespace muster::metrics
