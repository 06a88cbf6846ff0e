// How fast one peer, or one part, gets on, measured against its own recent median: machines and workflows differ, so
// there is no other measure. Its owner tells it the work assigned and the work done so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "cores/health_options.h"

namespace muster::cores {

enum class Pace : std::uint8_t { kIdle, kNormal, kSlow, kDegraded, kStuck };

class PaceWatch {
 public:
  explicit PaceWatch(const PaceOptions& options = {}) : options_(options) {}

  // To be told at least once per interval, also if nothing has changed. `done` is cumulative; if it falls (another
  // attempt, another life) counting begins anew.
  void told(bool assigned, std::uint64_t done, base::Instant now);

  // Idle while nothing is assigned; otherwise that of the last whole interval, and normal before there was one.
  Pace pace() const { return pace_; }

  // What it says of itself to others, per second: the work of the last whole interval, and what is usual; both 0 while
  // idle. Who never did any work at all should do one piece in an interval.
  double rate() const;
  double usual() const;

 private:
  double median() const;

  PaceOptions options_;
  std::array<double, kPaceHistory> rates_{};  // a ring; only intervals in which something was done
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  double rate_ = 0;  // of the last whole interval, if it was one of this stretch of work
  bool whole_ = false;
  Pace pace_ = Pace::kIdle;
  std::uint64_t done_ = 0;  // at the interval's start
  base::Instant since_{};   // the interval's start, if not idle
};

// As somebody reads it who is told both.
Pace pace_of(double rate, double usual, const PaceOptions& options = {});

}  // namespace muster::cores
