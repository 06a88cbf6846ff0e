// Compares two runs: each figure of the whole and of each step, with a 95 % interval of its change and whether it is
// more than chance (block bootstrap over seconds, metrics/block_bootstrap.h; docs/adr/0014). Pure and deterministic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "model/result.h"
#include "report/comparison.h"

namespace muster::report {

// When a change counts. A change must be both unlikely to be chance and large enough to matter.
struct CompareOptions {
  // Least change of a time or rate that counts, as a fraction. What is smaller is lost between buckets of the series
  // and between two runs of the same thing.
  double least_change = 0.01;
  // Least change of the share of failed requests that counts.
  double least_failed = 0.0001;
  // What two runs of the very same thing differ by beyond what their seconds tell (placement of memory, threads and
  // connections), as a standard error of each. Higher raises fewer false alarms and finds less.
  double between_runs = 0.005;
  // The same as a time, which weighs where a request takes some 10 us: what the kernel and this machine add.
  base::Duration between_runs_time = std::chrono::microseconds(1);
  // The chance of calling a change where there is none, for the headline as a whole (Holm over p95, p50, rate and
  // failed of the whole run) and for the rest (Benjamini and Hochberg).
  double alpha = 0.05;
  // Whole seconds with requests that both runs, or a step in both, must have to be judged. Fewer say too little about
  // how seconds differ.
  std::size_t least_seconds = 10;
  // Samples that must lie beyond a percentile for it to be judged, and below which it is told to be rare.
  std::uint64_t least_beyond = 5;
  std::uint64_t rare_beyond = 50;
  // Steps that get intervals, those with the most requests; others are told without. Each costs some 10 ms.
  std::size_t most_steps = 200;
  std::uint32_t resamples = 1'000;
};

// The identity of a run as far as its result knows it; its id, or `otherwise` where it has none.
RunIdentity identity_of(const model::RunResult& run, std::string otherwise = "this run");

Comparison compare(const model::RunResult& before, RunIdentity before_is, const model::RunResult& after,
                   RunIdentity after_is, const CompareOptions& options = {});

// Significance of a delta that was asked for by itself, as one of `questions` (--fail-if); unjudged ones are not.
bool significant_among(const Delta& delta, std::size_t questions, const CompareOptions& options = {});

}  // namespace muster::report
