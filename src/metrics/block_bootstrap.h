// How far the figures of one run would be off by chance: a circular block bootstrap over its seconds. Seconds of a run
// are no independent draws (a busy one is followed by a busy one), so whole blocks of neighbours are drawn; how long
// they must be follows from the series itself. Deterministic for a seed. Pure; see docs/adr/0014.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/histogram.h"

namespace muster::metrics {

// A second of a run, or several: all slices of one series are of the same length.
struct Slice {
  std::uint64_t requests = 0;  // failed ones included
  std::uint64_t failed = 0;
  CoarseHistogram latency;
};

// A figure and its standard error.
struct Estimate {
  double value = 0;
  double error = 0;
};

struct BootstrapOptions {
  // Resamples. Only the spread of the figures over them is used: 1,000 give it to 2 %, four times as many to 1 %.
  std::uint32_t resamples = 1'000;
  std::uint64_t seed = 1;
};

struct Spread {
  std::vector<Estimate> quantiles;  // in ns, in the order asked for; errors are fractions of the value
  Estimate mean;                    // in ns; error as a fraction
  Estimate rate;                    // requests a slice; error as a fraction
  Estimate failed;                  // share of the requests; error as a share
  std::size_t block = 0;            // slices to a block
  double freedom = 0;               // independent pieces behind the errors, less one; 0: there is nothing to go by
};

// `series` in order and without gaps: a slice in which nothing happened is an empty one. Fewer than four, or no samples
// in them, give an empty spread. Costs some milliseconds for each hundred slices.
Spread block_bootstrap(std::span<const Slice> series, std::span<const double> probabilities,
                       const BootstrapOptions& options = {});

// The block length for the mean of a series: the rule of Politis and White (2004) with the correction of Patton,
// Politis and White (2009) for circular blocks, between the cube root and a fifth of its length.
std::size_t block_length(std::span<const double> series);

}  // namespace muster::metrics
