#include "metrics/histogram_codec.h"

#include <fmt/format.h>

#include <utility>

#include "metrics/options.h"

namespace muster::metrics {

template <unsigned SubBits>
void write(Writer& writer, const BasicHistogram<SubBits>& histogram) {
  const Totals& totals = histogram.totals();
  writer.byte(kHistogramVersion);
  writer.byte(SubBits);
  writer.varint(histogram.buckets().size());
  if (histogram.empty()) return;
  writer.varint(totals.min);
  writer.varint(totals.max - totals.min);
  writer.wide_varint(totals.sum);
  writer.wide_varint(totals.sum_squares);
  std::uint32_t expected = 0;
  for (const Bucket& bucket : histogram.buckets()) {
    writer.varint(bucket.index - expected);
    writer.varint(bucket.count);
    expected = bucket.index + 1;
  }
}

template <unsigned SubBits>
BasicHistogram<SubBits> read_histogram(Reader& reader) {
  using Layout = LogLinear<SubBits>;
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kHistogramVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kHistogramVersion));
  }
  if (const std::uint8_t bits = reader.byte(); reader.ok() && bits != SubBits) {
    reader.fail(fmt::format("its buckets have {} bits, expected are {}", bits, SubBits));
  }
  const std::size_t size = reader.length(Layout::kBuckets, 2);
  if (size == 0) return {};

  Totals totals;
  totals.min = reader.varint_below(Layout::kMaxValue + 1);
  totals.max = totals.min + reader.varint_below(Layout::kMaxValue + 1);
  totals.sum = reader.wide_varint();
  totals.sum_squares = reader.wide_varint();
  std::vector<Bucket> buckets;
  buckets.reserve(size);
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    index += reader.varint_below(Layout::kBuckets);
    const std::uint64_t count = reader.varint_below(kMaxSamples + 1);
    totals.count += count;
    buckets.push_back({count, static_cast<std::uint32_t>(index)});
    ++index;
  }
  if (!reader.ok()) return {};
  auto restored = BasicHistogram<SubBits>::restore(std::move(buckets), totals);
  if (!restored) {
    reader.fail("its buckets and its totals contradict each other");
    return {};
  }
  return *std::move(restored);
}

template <unsigned SubBits>
void encode(const BasicHistogram<SubBits>& histogram, std::string& out) {
  Writer writer(out);
  write(writer, histogram);
}

template <unsigned SubBits>
base::Expected<BasicHistogram<SubBits>> decode(std::string_view bytes) {
  Reader reader(bytes);
  if (bytes.size() > kMaxHistogramBytes) {
    reader.fail(fmt::format("it has {} bytes, more than the limit of {}", bytes.size(), kMaxHistogramBytes));
  }
  BasicHistogram<SubBits> histogram = read_histogram<SubBits>(reader);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("histogram"));
  return histogram;
}

template void encode(const BasicHistogram<9>&, std::string&);
template void encode(const BasicHistogram<6>&, std::string&);
template base::Expected<BasicHistogram<9>> decode<9>(std::string_view);
template base::Expected<BasicHistogram<6>> decode<6>(std::string_view);
template void write(Writer&, const BasicHistogram<9>&);
template void write(Writer&, const BasicHistogram<6>&);
template BasicHistogram<9> read_histogram<9>(Reader&);
template BasicHistogram<6> read_histogram<6>(Reader&);

}  // namespace muster::metrics
