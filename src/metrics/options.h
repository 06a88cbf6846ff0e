// The limits of the metrics room: what is accepted from other processes before anything is allocated for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::metrics {

// Most samples that one encoded histogram may stand for. At this bound the exact sums of values and of their squares
// still fit in 127 bits; it is 50 days at a million samples per second. A larger bound would need wider sums.
constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 42;

// Most bytes of an encoded histogram. A full one (every bucket used, large counts) takes about 100 kB; the bound keeps
// the cost of refusing a wrong one small.
constexpr std::size_t kMaxHistogramBytes = std::size_t{1} << 18;

// Replicas of one counter: parts of a job with their attempts, or nodes. Each takes some tens of bytes; a job has at
// most some thousands of parts.
constexpr std::size_t kMaxReplicas = std::size_t{1} << 15;

// Length of a window of streamed statistics. Shorter shows more and costs a message more often.
constexpr base::Duration kWindowLength = std::chrono::milliseconds(100);

// How long after its end a window waits for stragglers: at managers for flushes each 50 ms, at gates for other
// datacenters. Longer is more complete and less live; the totals hold everything either way.
constexpr base::Duration kManagerWindowDelay = std::chrono::milliseconds(250);
constexpr base::Duration kGateWindowDelay = std::chrono::seconds(1);

// How long a closed window is remembered after its end, for readers who were away for a moment.
constexpr base::Duration kWindowMemory = std::chrono::seconds(5);

// Sources (parts with their attempts) of one stream of windows, each with its last value.
constexpr std::size_t kMaxWindowSources = std::size_t{1} << 14;

}  // namespace muster::metrics
