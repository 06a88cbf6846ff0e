#include "metrics/block_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace muster::metrics {
namespace {

using CoarseLayout = CoarseHistogram::Layout;

constexpr std::size_t kLeastSlices = 4;

// Mean and variance of numbers as they come (Welford).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
  }
  double deviation() const { return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// The sums of some slices. Doubles hold them exactly up to 2^53.
struct Sums {
  double requests = 0;
  double failed = 0;
  double samples = 0;
  double time = 0;  // ns

  Sums& operator+=(const Sums& other) {
    requests += other.requests;
    failed += other.failed;
    samples += other.samples;
    time += other.time;
    return *this;
  }
  Sums operator-(const Sums& other) const {
    return {requests - other.requests, failed - other.failed, samples - other.samples, time - other.time};
  }
};

// The series, added up twice: over the buckets, so that a quantile is found by halving, and over time, so
// that a block is the difference of two rows.
class Table {
 public:
  explicit Table(std::span<const Slice> series) : slices_(series.size()) {
    std::size_t first = CoarseLayout::kBuckets;
    std::size_t last = 0;
    for (const Slice& slice : series) {
      if (slice.latency.empty()) continue;
      first = std::min<std::size_t>(first, slice.latency.buckets().front().index);
      last = std::max<std::size_t>(last, slice.latency.buckets().back().index);
    }
    if (first > last) return;
    first_ = first;
    bins_ = last - first + 1;
    rows_.assign((slices_ + 1) * bins_, 0);
    sums_.assign(slices_ + 1, {});
    for (std::size_t i = 0; i != slices_; ++i) add(i, series[i]);
  }

  std::size_t slices() const { return slices_; }
  std::size_t bins() const { return bins_; }
  // Sums over the slices before `place`.
  const std::uint64_t* row(std::size_t place) const { return rows_.data() + place * bins_; }
  const Sums& sums(std::size_t place) const { return sums_[place]; }
  double lower(std::size_t bin) const { return static_cast<double>(CoarseLayout::lower(first_ + bin)); }
  double upper(std::size_t bin) const { return static_cast<double>(CoarseLayout::upper(first_ + bin)); }

  // Appends the first `count` slices again behind the last, so that blocks may go around the end.
  void wrap(std::size_t count) {
    rows_.resize((slices_ + 1 + count) * bins_);
    sums_.resize(slices_ + 1 + count);
    for (std::size_t i = 1; i <= count; ++i) {
      for (std::size_t bin = 0; bin != bins_; ++bin) {
        rows_[(slices_ + i) * bins_ + bin] = rows_[slices_ * bins_ + bin] + rows_[i * bins_ + bin];
      }
      sums_[slices_ + i] = sums_[slices_];
      sums_[slices_ + i] += sums_[i];
    }
  }

 private:
  void add(std::size_t place, const Slice& slice) {
    std::uint64_t* into = rows_.data() + (place + 1) * bins_;
    for (const Bucket& bucket : slice.latency.buckets()) into[bucket.index - first_] = bucket.count;
    std::uint64_t up_to = 0;
    const std::uint64_t* before = rows_.data() + place * bins_;
    for (std::size_t bin = 0; bin != bins_; ++bin) {
      up_to += into[bin];
      into[bin] = before[bin] + up_to;
    }
    sums_[place + 1] = {static_cast<double>(slice.requests), static_cast<double>(slice.failed),
                        static_cast<double>(slice.latency.count()), static_cast<double>(slice.latency.totals().sum)};
    sums_[place + 1] += sums_[place];
  }

  std::size_t slices_;
  std::size_t first_ = 0;
  std::size_t bins_ = 0;
  std::vector<std::uint64_t> rows_;
  std::vector<Sums> sums_;
};

// Some blocks of a table, as one sample.
class Sample {
 public:
  explicit Sample(const Table& table) : table_(table) {}

  void clear() {
    blocks_.clear();
    sums_ = {};
  }
  void add(std::size_t begin, std::size_t end) {
    blocks_.emplace_back(table_.row(begin), table_.row(end));
    sums_ += table_.sums(end) - table_.sums(begin);
  }
  const Sums& sums() const { return sums_; }

  // Samples in buckets up to `bin`.
  double up_to(std::size_t bin) const {
    std::uint64_t count = 0;
    for (const auto& [begin, end] : blocks_) count += end[bin] - begin[bin];
    return static_cast<double>(count);
  }

  // The bucket in which the quantile lies.
  std::size_t bin_of(double probability) const {
    const double wanted = probability * sums_.samples;
    std::size_t low = 0;
    std::size_t high = table_.bins() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (up_to(middle) >= wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // Interpolated within its bucket: buckets are 1 % wide, and a change of 5 % is to be measured.
  double quantile(double probability) const {
    const std::size_t bin = bin_of(probability);
    const double before = bin == 0 ? 0 : up_to(bin - 1);
    const double inside = up_to(bin) - before;
    const double share = inside > 0 ? std::clamp((probability * sums_.samples - before) / inside, 0.0, 1.0) : 0.5;
    return table_.lower(bin) + share * (table_.upper(bin) - table_.lower(bin));
  }

 private:
  const Table& table_;
  std::vector<std::pair<const std::uint64_t*, const std::uint64_t*>> blocks_;
  Sums sums_;
};

struct Figures {
  std::vector<double> quantiles;
  double mean = 0;
  double rate = 0;
  double failed = 0;
};

void read(Figures& into, const Sample& sample, std::span<const double> probabilities, double slices) {
  into.quantiles.resize(probabilities.size());
  for (std::size_t i = 0; i != probabilities.size(); ++i) into.quantiles[i] = sample.quantile(probabilities[i]);
  into.mean = sample.sums().time / sample.sums().samples;
  into.rate = sample.sums().requests / slices;
  into.failed = sample.sums().requests > 0 ? sample.sums().failed / sample.sums().requests : 0;
}

// What each slice adds to the error of a figure: of a quantile, the samples above it beyond the share that is due.
std::size_t longest_block(const Table& table, const Sample& whole, std::span<const double> probabilities) {
  const std::size_t slices = table.slices();
  std::vector<double> series(slices);
  std::size_t longest = 1;
  for (const double probability : probabilities) {
    const std::size_t bin = whole.bin_of(probability);
    const double share = whole.up_to(bin) / whole.sums().samples;
    for (std::size_t i = 0; i != slices; ++i) {
      const double samples = (table.sums(i + 1) - table.sums(i)).samples;
      series[i] = static_cast<double>(table.row(i + 1)[bin] - table.row(i)[bin]) - share * samples;
    }
    longest = std::max(longest, block_length(series));
  }
  for (std::size_t i = 0; i != slices; ++i) series[i] = (table.sums(i + 1) - table.sums(i)).requests;
  return std::max(longest, block_length(series));
}

void draw(Sample& into, const Table& table, std::size_t block, base::Random& random) {
  into.clear();
  for (std::size_t left = table.slices(); left > 0;) {
    const std::size_t length = std::min(block, left);
    const auto begin = static_cast<std::size_t>(random.below(table.slices()));
    into.add(begin, begin + length);
    left -= length;
  }
}

double fraction(double error, double value) {
  return value > 0 ? error / value : 0;
}

}  // namespace

std::size_t block_length(std::span<const double> series) {
  const std::size_t size = series.size();
  const auto n = static_cast<double>(size);
  const auto least = static_cast<std::size_t>(std::ceil(std::cbrt(n)));
  const std::size_t most = std::max<std::size_t>(least, size / 5);
  double mean = 0;
  for (const double value : series) mean += value / n;
  const auto covariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < size; ++i) sum += (series[i] - mean) * (series[i - lag] - mean);
    return sum / n;
  };
  const double variance = covariance(0);
  if (size < kLeastSlices || !(variance > 0)) return std::max<std::size_t>(1, std::min(least, size));

  // The first lag after which nothing worth the name follows for `run` lags.
  const auto run = static_cast<std::size_t>(std::max(5.0, std::ceil(std::sqrt(std::log10(n)))));
  const double noise = 2 * std::sqrt(std::log10(n) / n);
  const std::size_t furthest = std::min(size - 1, static_cast<std::size_t>(std::ceil(std::sqrt(n))) + run);
  std::size_t last = 0;
  for (std::size_t lag = 1; lag <= furthest && lag <= last + run; ++lag) {
    if (std::abs(covariance(lag)) > noise * variance) last = lag;
  }
  const std::size_t reach = std::min(2 * last, furthest);
  double total = variance;  // spectral density at 0
  double slope = 0;
  for (std::size_t lag = 1; lag <= reach; ++lag) {
    const double place = static_cast<double>(lag) / static_cast<double>(reach);
    const double weight = place <= 0.5 ? 1.0 : 2 * (1 - place);
    const double part = 2 * weight * covariance(lag);
    total += part;
    slope += part * static_cast<double>(lag);
  }
  if (!(total > 0)) return least;
  const double best = std::cbrt(1.5 * slope * slope / (total * total) * n);
  return std::clamp(static_cast<std::size_t>(std::ceil(best)), least, most);
}

Spread block_bootstrap(std::span<const Slice> series, std::span<const double> probabilities,
                       const BootstrapOptions& options) {
  Spread spread;
  Table table(series);
  if (table.slices() < kLeastSlices || table.bins() == 0) return spread;
  Sample whole(table);
  const auto slices = static_cast<double>(table.slices());
  whole.add(0, table.slices());
  if (!(whole.sums().samples > 0)) return spread;
  Figures figures;
  read(figures, whole, probabilities, slices);
  spread.block = longest_block(table, whole, probabilities);
  table.wrap(spread.block);

  std::vector<Moments> quantiles(probabilities.size());
  Moments mean;
  Moments rate;
  Moments failed;
  base::Random random(options.seed);
  Sample sample(table);
  Figures drawn;
  for (std::uint32_t i = 0; i != options.resamples; ++i) {
    draw(sample, table, spread.block, random);
    rate.add(sample.sums().requests / slices);
    if (!(sample.sums().samples > 0)) continue;
    read(drawn, sample, probabilities, slices);
    for (std::size_t j = 0; j != quantiles.size(); ++j) quantiles[j].add(drawn.quantiles[j]);
    mean.add(drawn.mean);
    failed.add(drawn.failed);
  }

  // With few blocks their spread around their own mean is too small: the usual n / (n - 1).
  const double blocks = slices / static_cast<double>(spread.block);
  const double correction = std::sqrt(blocks / (blocks - 1));
  spread.freedom = blocks - 1;
  for (std::size_t j = 0; j != quantiles.size(); ++j) {
    spread.quantiles.push_back(
        {figures.quantiles[j], correction * fraction(quantiles[j].deviation(), figures.quantiles[j])});
  }
  spread.mean = {figures.mean, correction * fraction(mean.deviation(), figures.mean)};
  spread.rate = {figures.rate, correction * fraction(rate.deviation(), figures.rate)};
  spread.failed = {figures.failed, correction * failed.deviation()};
  return spread;
}

}  // namespace muster::metrics
