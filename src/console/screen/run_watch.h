// Follows a run from snapshot to snapshot and tells the figures of one view of it: of a workflow, or of all together.
// Keeps what the snapshots do not hold (recent rates, busy cores, percentiles by second, time spent paused), and looks
// only at what is new in their series, so that its cost does not grow with the run. Pure; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "console/screen/plot.h"
#include "console/screen/run_plan.h"
#include "metrics/histogram.h"
#include "model/result.h"

namespace muster::console {

// p50, p90, p95, p99, p99.9 and the maximum.
constexpr std::size_t kTimes = 6;
using Times = std::array<base::Duration, kTimes>;

struct Progress {
  std::optional<double> share;         // done, 0 to 1
  std::optional<base::Duration> left;  // until the load ends
  bool about = false;                  // `left` is a guess from the pace so far
  std::string text;                    // "stage 2 of 3: to 100 VUs", "1,200 of 5,000 iterations"
};

struct ErrorFigure {
  model::ErrorClass error = model::ErrorClass::kConnect;
  std::uint64_t count = 0;
  std::string step;    // of the latest sample
  std::string detail;  // of the latest sample; may be empty
};

struct CheckFigure {
  std::string name;  // step and label
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
};

struct StepFigure {
  std::string name;
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  double rate = 0;
  base::Duration p50{};
  base::Duration p95{};
  base::Duration p99{};
};

// All that the screen tells of one view. Texts are as the user or the server wrote them: not yet safe to print.
struct ViewFigures {
  model::WorkflowState state = model::WorkflowState::kPending;
  std::string reason;
  bool open = false;
  bool warming_up = false;
  Progress progress;
  std::uint64_t vus = 0;
  std::uint64_t peak_vus = 0;
  std::uint64_t max_vus = 0;  // the limit of open loads; 0: none
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::uint64_t iterations = 0;
  std::uint64_t arrivals = 0;
  std::uint64_t dropped = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double rate = 0;
  std::optional<double> recent_rate;
  std::optional<Times> latency;
  std::optional<Times> recent_latency;
  std::vector<double> busy;  // share of each core's recent time, 0 to 1
  std::vector<ErrorFigure> errors;
  std::vector<CheckFigure> checks;  // failed ones first
  std::vector<StepFigure> steps;
  std::uint32_t plot_length = 0;  // seconds of the run until the load ends; 0: not known
};

class RunWatch {
 public:
  explicit RunWatch(RunPlan plan);

  // Views are numbered: 0 is the whole run, 1 the first workflow, and so on.
  std::size_t views() const { return plan_.workflows.size() + 1; }
  const RunPlan& plan() const { return plan_; }

  // A later snapshot of the same run; `paused` tells whether it stood still since the one before.
  void observe(const model::RunResult& snapshot, bool paused);
  // So much of the time since the snapshot before the run stood still although it was not paused.
  void stood_still(base::Duration time) { stood_still_ += time; }

  // From the snapshot that was observed last.
  ViewFigures figures(std::size_t view, const model::RunResult& snapshot) const;
  const std::vector<PlotPoint>& points(std::size_t view) const { return tracks_[view].points; }

 private:
  struct Sample {
    base::Duration at{};  // measured time of the run
    std::uint64_t requests = 0;
    std::vector<model::CoreUse> cores;
  };
  struct Track {
    std::vector<PlotPoint> points;
    metrics::CoarseHistogram recent;
    std::uint64_t told = 0;  // a sum that changes with the series
    std::deque<Sample> samples;
  };

  void follow_seconds(Track& track, std::size_t view, const model::RunResult& snapshot);
  void follow_totals(Track& track, std::size_t view, const model::RunResult& snapshot);
  void add_recent(ViewFigures& figures, const Track& track) const;
  Progress progress(std::size_t workflow, const model::RunResult& snapshot) const;
  Progress whole_progress(const model::RunResult& snapshot) const;
  base::Duration load_time(std::size_t workflow, const model::RunResult& snapshot) const;

  RunPlan plan_;
  std::vector<Track> tracks_;
  std::vector<base::Duration> paused_;  // of each workflow
  base::Duration paused_in_all_{};
  base::Duration stood_still_{};
  base::Duration last_{};
};

}  // namespace muster::console
