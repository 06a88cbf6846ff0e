// Made-up runs for tests and benchmarks of comparisons: latencies that are lognormal around a level that drifts from
// second to second, as those of real servers do. All drawn from a seed.
#pragma once

#include <cstdint>

#include "model/result.h"

namespace muster::report::test {

struct MadeUpRun {
  std::uint32_t seconds = 90;
  std::uint64_t rate = 400;  // requests a second; Poisson, as far as `steady` is false
  double median_ms = 20;
  double sigma = 0.5;    // of the logarithm of a latency: p95 is 2.3 times the median
  double drift = 0.02;   // deviation of the level's logarithm from second to second
  double carried = 0.7;  // how much of a second's level the next one inherits
  double tail = 1.0;     // what latencies beyond the 90th percentile are multiplied by, growing in from there
  double all = 1.0;      // what every latency is multiplied by
  double failed = 0.0;   // share of requests that fail
  std::uint64_t seed = 1;
};

// One workflow with one step, open load. With `tail` above 1 the p95 is higher by just that factor, the median stays.
model::RunResult made_up(const MadeUpRun& wanted);

}  // namespace muster::report::test
