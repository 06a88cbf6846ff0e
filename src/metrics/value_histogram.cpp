#include "metrics/value_histogram.h"

#include <algorithm>

#include "metrics/options.h"
#include "metrics/rank.h"

namespace muster::metrics {

void ValueHistogram::record(double value, std::uint64_t times) {
  if (times > 0) add_bucket(ValueLayout::index(value), times);
}

void ValueHistogram::add(const ValueRecorder& recorder) {
  for (std::size_t i = recorder.first(); i < recorder.end(); ++i) {
    if (const std::uint32_t count = recorder.count_at(i); count != 0) add_bucket(i, count);
  }
}

void ValueHistogram::merge(const ValueHistogram& other) {
  const std::vector<Bucket> theirs = other.buckets_;  // it may be this one
  for (const Bucket& bucket : theirs) add_bucket(bucket.index, bucket.count);
}

void ValueHistogram::add_bucket(std::size_t index, std::uint64_t count) {
  const auto at = std::ranges::lower_bound(buckets_, index, {}, &Bucket::index);
  if (at != buckets_.end() && at->index == index) {
    at->count += count;
  } else {
    buckets_.insert(at, {count, static_cast<std::uint32_t>(index)});
  }
}

std::uint64_t ValueHistogram::count() const {
  std::uint64_t sum = 0;
  for (const Bucket& bucket : buckets_) sum += bucket.count;
  return sum;
}

double ValueHistogram::quantile(double q) const {
  if (empty()) return 0;
  const std::uint64_t rank = nearest_rank(q, count());
  std::uint64_t passed = 0;
  for (const Bucket& bucket : buckets_) {
    passed += bucket.count;
    if (passed >= rank) return ValueLayout::value(bucket.index);
  }
  return ValueLayout::value(buckets_.back().index);
}

void ValueHistogram::write(Writer& writer) const {
  writer.varint(buckets_.size());
  std::uint32_t expected = 0;
  for (const Bucket& bucket : buckets_) {
    writer.varint(bucket.index - expected);
    writer.varint(bucket.count);
    expected = bucket.index + 1;
  }
}

ValueHistogram ValueHistogram::read(Reader& reader) {
  const std::size_t size = reader.length(ValueLayout::kBuckets, 2);
  ValueHistogram made;
  std::uint64_t index = 0;
  std::uint64_t left = kMaxSamples;
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    index += reader.varint_below(ValueLayout::kBuckets);
    const std::uint64_t count = reader.varint_below(left + 1);
    if (index >= ValueLayout::kBuckets || count == 0) reader.fail("its buckets do not ascend or hold nothing");
    left -= count;
    made.buckets_.push_back({count, static_cast<std::uint32_t>(index++)});
  }
  return reader.ok() ? made : ValueHistogram{};
}

}  // namespace muster::metrics
