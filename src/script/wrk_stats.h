// The statistics that `done` of a wrk script is given: min, max, mean, stdev, percentile(p), a call for the i-th value
// with its count, and the number of values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "metrics/histogram.h"

struct lua_State;

namespace muster::script {

class WrkStats {
 public:
  // Latencies in microseconds.
  explicit WrkStats(const metrics::Histogram& latency);
  // Plain samples.
  explicit WrkStats(std::vector<double> samples);

  double min() const { return min_; }
  double max() const { return max_; }
  double mean() const { return mean_; }
  double stdev() const { return stdev_; }
  double percentile(double percent) const;
  const std::vector<std::pair<double, std::uint64_t>>& values() const { return values_; }

 private:
  std::vector<std::pair<double, std::uint64_t>> values_;  // ascending, with how often
  std::uint64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
  double mean_ = 0;
  double stdev_ = 0;
};

// Pushes an object that refers to `stats`, which must outlive its use.
void push_stats(lua_State* state, const WrkStats& stats);

}  // namespace muster::script
