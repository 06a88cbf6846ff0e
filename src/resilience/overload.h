// Tells how loaded this node is, from the latencies of its own handlers and the use of its own resources: the worst of
// how far latency lies above its baseline, how long it is, and how full cpu, memory and queue are. One per node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

enum class Load : std::uint8_t { kHealthy, kBusy, kStressed, kOverloaded };

// Shares in use, 0 to 1, of what belongs to this process: not of the machine, which others load, too.
struct Resources {
  double cpu = 0;
  double memory = 0;
  double queue = 0;
};

class OverloadDetector {
 public:
  explicit OverloadDetector(const OverloadOptions& options = {});

  void handled(base::Duration latency, base::Instant now);
  void measured(const Resources& resources) { resources_ = resources; }

  Load load(base::Instant now) const;

 private:
  struct Sample {
    base::Instant at{};
    double seconds = 0;
  };

  // The i-th sample back from the newest.
  const Sample& back(std::size_t i) const { return samples_[(next_ + kMaxTrend - 1 - i) % kMaxTrend]; }
  std::size_t fresh(base::Instant now) const;
  Load by_baseline(std::size_t count, double mean) const;
  double slope(std::size_t count) const;

  OverloadOptions options_;
  Resources resources_;
  double baseline_ = -1;  // seconds; negative while all samples are recent ones
  std::array<Sample, kMaxTrend> samples_{};
  std::size_t count_ = 0;  // of samples in the ring
  std::size_t next_ = 0;
};

}  // namespace muster::resilience
