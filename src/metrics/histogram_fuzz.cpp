// The input is read twice. As an encoded histogram: whatever decodes must encode to the very bytes it came from, with
// every statistic in bounds. As samples, eight bytes each: however they are recorded, merged, made coarse, encoded and
// decoded, the histogram is the same.
// covers: metrics/histogram.h metrics/histogram.cpp metrics/histogram_codec.cpp metrics/log_linear.h metrics/recorder.h
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/fuzzing.h"
#include "metrics/histogram_codec.h"

namespace muster::metrics {
namespace {

using base::Duration;
using base::require;

template <unsigned SubBits>
std::string bytes_of(const BasicHistogram<SubBits>& histogram) {
  std::string bytes;
  encode(histogram, bytes);
  return bytes;
}

// Buckets, totals and statistics of one histogram agree with each other.
template <unsigned SubBits>
void require_sound(const BasicHistogram<SubBits>& histogram) {
  std::uint64_t seen = 0;
  Duration end{};
  histogram.for_each([&](Duration lower, Duration upper, std::uint64_t count) {
    require(lower >= end && lower < upper && count > 0);
    require(histogram.count_above(upper - Duration(1)) == histogram.count() - seen - count);
    end = upper;
    seen += count;
  });
  require(seen == histogram.count());
  Duration before = histogram.min();
  for (const double q : {-1.0, 0.0, 0.001, 0.5, 0.99, 0.9999, 1.0, 2.0}) {
    const Duration value = histogram.quantile(q);
    require(value >= before && value <= histogram.max());
    before = value;
  }
  require(histogram.mean() >= histogram.min() && histogram.mean() <= histogram.max());
  require(histogram.stddev().count() >= 0 && histogram.stddev() <= histogram.max());
  require(histogram.count_above(histogram.max()) == 0);
  require(histogram.count_above(Duration(-1)) == histogram.count());
}

template <unsigned SubBits>
void round_trip(std::string_view input) {
  const auto decoded = decode<SubBits>(input);
  if (!decoded) return require(!decoded.error().message.empty());
  require(bytes_of(*decoded) == input);
  require_sound(*decoded);
  BasicHistogram<SubBits> doubled = *decoded;
  doubled.merge(*decoded);
  require(doubled.count() == 2 * decoded->count());
  BasicHistogram<SubBits> itself = *decoded;
  itself.merge(itself);
  require(itself == doubled);
  doubled.clear();
  require(doubled.empty() && doubled == BasicHistogram<SubBits>());
}

std::vector<Duration> samples_in(std::string_view input) {
  std::vector<Duration> samples;
  for (; input.size() >= sizeof(std::int64_t); input.remove_prefix(sizeof(std::int64_t))) {
    std::int64_t value = 0;
    std::memcpy(&value, input.data(), sizeof(value));
    // The last byte chooses the magnitude: most values would be beyond the largest otherwise.
    samples.emplace_back(value >> (static_cast<unsigned char>(input[7]) % 64));
  }
  return samples;
}

template <unsigned SubBits>
BasicHistogram<SubBits> recorded(const std::vector<Duration>& samples) {
  Recorder<SubBits> recorder;
  recorder.record(Duration(1'234'567));
  recorder.clear();  // what was there before leaves no trace
  for (const Duration sample : samples) recorder.record(sample);
  const BasicHistogram<SubBits> made(recorder);
  require(made.count() == recorder.count() && made.min() == recorder.min() && made.max() == recorder.max());
  return made;
}

template <unsigned SubBits>
void require_same_however_recorded(const std::vector<Duration>& samples) {
  const BasicHistogram<SubBits> whole = recorded<SubBits>(samples);
  require_sound(whole);
  BasicHistogram<SubBits> one_by_one;
  BasicHistogram<SubBits> even;
  BasicHistogram<SubBits> odd;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    one_by_one.record(samples[i], 0);
    one_by_one.record(samples[i]);
    (i % 2 == 0 ? even : odd).record(samples[i]);
  }
  require(one_by_one == whole);
  require(whole.stddev() <= whole.max() - whole.min());
  BasicHistogram<SubBits> merged = odd;
  merged.merge(even);
  even.merge(odd);
  require(merged == whole && even == whole);
  const auto again = decode<SubBits>(bytes_of(whole));
  require(again.has_value() && *again == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  round_trip<9>(input);
  round_trip<6>(input);

  const std::vector<Duration> samples = samples_in(input);
  require_same_however_recorded<9>(samples);
  require_same_however_recorded<6>(samples);
  Recorder<9> fine;
  for (const Duration sample : samples) fine.record(sample);
  const CoarseHistogram small = recorded<6>(samples);
  require(coarse(fine) == small && coarse(Histogram(fine)) == small);
  return 0;
}

}  // namespace muster::metrics
