// What is streamed of a running job: one window of 100 ms, and totals so far. Plain values; made by windows.h at
// managers, merged at gates, shown by clients.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "cluster/job.h"
#include "metrics/histogram.h"

namespace muster::cluster {

// What came in during one window of one workflow: differences of cumulative values.
struct WindowRow {
  std::uint32_t workflow = 0;
  std::uint64_t window = 0;    // number of the window: its start / 100 ms on the datacenter's time line
  std::uint32_t reported = 0;  // parts that reported in it
  std::uint32_t expected = 0;  // parts that run
  Counts counts;
  metrics::CoarseHistogram latency;

  bool operator==(const WindowRow&) const = default;
};

// Everything since the workflow's start: the last cumulative value of every attempt of every part.
struct TotalRow {
  std::uint32_t workflow = 0;
  Counts counts;  // shown; never falls
  Counts lost;    // share of it that lost attempts had counted: shown, but outside the final result
  std::uint64_t vus = 0;
  metrics::CoarseHistogram latency;

  bool operator==(const TotalRow&) const = default;
};

}  // namespace muster::cluster
