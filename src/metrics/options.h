// The limits of the metrics room: what is accepted from other processes before anything is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::metrics {

// Most samples that one encoded histogram may stand for. At this bound the exact sums of values and of their squares
// still fit in 127 bits; it is 50 days at a million samples per second. A larger bound would need wider sums.
constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 42;

// Most bytes of an encoded histogram. A full one (every bucket used, large counts) takes about 100 kB; the bound keeps
// the cost of refusing a wrong one small.
constexpr std::size_t kMaxHistogramBytes = std::size_t{1} << 18;

// Replicas of one counter: parts of a job with their attempts, or nodes. Each takes some tens of bytes; a job has at most
// some thousands of parts.
constexpr std::size_t kMaxReplicas = std::size_t{1} << 15;

}  // namespace muster::metrics
