// The line that `--ui ci` prints every few seconds: ASCII but for the unit of microseconds, no escape codes, at most
// 100 columns, made to be read in the log of a build. Remembers what the line before told, so that rate and percentile
// are those of the time since. Owned by whoever prints; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/result.h"

namespace muster::report {

// How long the run is meant to be, as far as that is known; the larger share done of the two is shown.
struct RunLength {
  std::optional<base::Duration> time;
  std::optional<std::uint64_t> iterations;
};

class CiLine {
 public:
  // `unicode`: microseconds are "µs" as in the summary, and not "us".
  explicit CiLine(RunLength length, bool unicode = false) : length_(length), unicode_(unicode) {}

  // "[00:15]  50%, 15.0s left   100 VUs   4,273/s   64,102 requests   0 failed   p95 3.41ms"; no line end, and no
  // percentile before there is one. `snapshot.elapsed` is the present time of the run.
  std::string next(const model::RunResult& snapshot);

  // So long the load was held still; it got no nearer to its end.
  void stood_still(base::Duration time) { stood_still_ += time; }

 private:
  RunLength length_;
  bool unicode_;
  base::Duration stood_still_{};
  base::Duration last_at_{};
  std::uint64_t last_requests_ = 0;
  std::vector<std::vector<std::size_t>> told_;  // seconds of each step's series that earlier lines were about
};

}  // namespace muster::report
