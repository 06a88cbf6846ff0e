// Cumulative snapshots of a run in, finished seconds out: what every output that tells a run second by second shares.
// A second is told once and in order, when it is old enough to be complete; what still comes in for it afterwards is
// told as a late one that holds the addition. So sums over all points are those of the final result. Pure; one owner,
// one thread; memory is bounded by the number of steps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "metrics/histogram.h"
#include "model/result.h"
#include "report/options.h"

namespace muster::report {

struct Counts {
  std::uint64_t requests = 0;  // executions, failed ones included
  std::uint64_t failed = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;

  bool operator==(const Counts&) const = default;
};

using ErrorCounts = std::array<std::uint64_t, model::kErrorClasses>;

// What is told of one second, of a step or of a workflow's requests.
struct Measures {
  Counts added;     // not told before; sums of these are the totals
  Counts whole;     // all of the second as known now; the same unless it is late
  double rate = 0;  // requests a second of the whole, also for a second that the load covered in part
  // Failed ones by class, never more than `added.failed`. Snapshots count classes for the run, not for each second:
  // where classes change from one second to the next, the border between them may be off by the age of a second when
  // told.
  ErrorCounts errors{};
};

struct CheckPoint {
  const model::CheckResult* check = nullptr;
  std::uint64_t ok = 0;  // not told before; placed in seconds as errors are
  std::uint64_t failed = 0;
};

struct StepPoint {
  const model::StepResult* step = nullptr;
  Measures measures;
  const metrics::CoarseHistogram* latency = nullptr;  // of the whole second; null where there is no second
  std::vector<CheckPoint> checks;                     // those with something to tell
};

struct WorkflowPoint {
  const model::WorkflowResult* workflow = nullptr;
  Measures measures;                 // of its steps that make requests (role test)
  metrics::CoarseHistogram latency;  // the same
  std::uint64_t iterations = 0;      // not told before
  std::uint64_t dropped = 0;         // not told before
  std::uint64_t vus = 0;             // most at once in this second
  std::vector<StepPoint> steps;      // those in which something happened
};

// Pointers are into the snapshot or result, and hold during the call only.
struct SecondPoints {
  const model::RunResult* run = nullptr;  // its thresholds are the verdicts as they stand when this is told
  std::optional<std::uint32_t> second;    // since the run's start; none: what belongs to no second that is remembered
  bool late = false;                      // an addition to a second that was told before
  std::vector<WorkflowPoint> workflows;   // those in which something happened; never empty
};

struct PointOptions {
  base::Duration settle = kPointSettle;
  std::uint32_t late_seconds = kLateSeconds;
};

class PointSource {
 public:
  using Sink = std::function<void(const SecondPoints&)>;

  explicit PointSource(PointOptions options = {}) : options_(options) {}

  // Tells the seconds that a snapshot finished. Its `elapsed` is the present time of the run and never goes back.
  void observe(const model::RunResult& snapshot, const Sink& sink);
  // Tells all that is left: the last seconds, and then, without a second, what the totals hold beyond what was told.
  void finish(const model::RunResult& result, const Sink& sink);

 private:
  struct CheckState {
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
  };
  struct StepState {
    std::map<std::uint32_t, Counts> recent;  // told of the seconds that are remembered
    Counts told;
    ErrorCounts errors{};
    std::vector<CheckState> checks;
  };
  struct Rounds {
    std::uint64_t iterations = 0;
    std::uint64_t dropped = 0;
  };
  struct WorkflowState {
    std::map<std::uint32_t, Rounds> recent;
    Rounds told;
    std::vector<StepState> steps;
  };

  void tell(const model::RunResult& run, std::uint32_t end, const Sink& sink);
  void tell_second(const model::RunResult& run, std::uint32_t second, bool late, const Sink& sink);
  void tell_rest(const model::RunResult& run, const Sink& sink);
  static std::optional<WorkflowPoint> point_of(const model::WorkflowResult& workflow, WorkflowState& state,
                                               std::uint32_t second, bool late);
  static std::optional<WorkflowPoint> rest_of(const model::WorkflowResult& workflow, WorkflowState& state);
  static StepPoint step_point(const model::StepResult& step, StepState& state, const Counts& added, const Counts& most);
  bool changed(const model::RunResult& run, std::uint32_t second) const;
  void forget(std::uint32_t before);

  PointOptions options_;
  std::uint32_t next_ = 0;  // the first second that was not told yet
  std::vector<WorkflowState> workflows_;
};

}  // namespace muster::report
