// Judges a run by its thresholds, while it runs and at its end. Pure: fed with merged snapshots and the time, it tells
// the present verdicts and whether one of them asks for the run's end. Owned by whoever drives the run; one thread.
//
// Over the whole run (no `window`) a threshold may fail and recover; what holds at the end counts. With a `window` it
// must hold in every window: once failed it stays failed, and the value told is that of the worst window. The last
// window ends with the run, within a second or not. Where a window is not counted throughout, which is so there and in
// the warm-up of a later workflow, a count and a number per second are never too small. A run shorter than the window
// is judged as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/measure.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::engine {

struct JudgeOptions {
  // How far a running workflow may be behind in what it tells before windows are judged without it. Longer delays an
  // abort while an executor hangs; shorter judges seconds that a busy machine has not told yet.
  base::Duration patience = std::chrono::seconds(5);
  // How long a rate over the whole run is not judged at its beginning, where a few requests decide it.
  base::Duration least_elapsed = std::chrono::seconds(1);
};

class ThresholdJudge {
 public:
  explicit ThresholdJudge(std::vector<model::Threshold> thresholds, JudgeOptions options = {});

  // A merged snapshot, `now` since the run's start. Neither may go back.
  void observe(const std::vector<model::WorkflowResult>& workflows, base::Duration now);

  // The final result; afterwards verdicts() and problems() are final too.
  void finish(const std::vector<model::WorkflowResult>& workflows, base::Duration now);

  // In the order of the thresholds.
  const std::vector<model::ThresholdVerdict>& verdicts() const { return verdicts_; }

  // Why a threshold could not be judged whatever its samples, in the order of the thresholds; empty if it could.
  const std::vector<std::string>& problems() const { return problems_; }

  // The verdict that asks for the run's end (`abort: true`), the first if there are several; null if none does.
  const model::ThresholdVerdict* abort() const { return abort_ ? &verdicts_[*abort_] : nullptr; }

 private:
  struct Progress {
    bool possible = true;          // metric, aggregate, where and window go together
    std::uint32_t next_end = 0;    // of the next window to judge, in seconds since the run's start; 0: none yet
    bool complete_window = false;  // one passed, whether or not it had enough samples
    bool only_parts = false;       // one was not judged because it was not counted throughout
  };

  void judge_whole(std::size_t i, const std::vector<model::WorkflowResult>& workflows, base::Duration now, bool last);
  void judge_windows(std::size_t i, const std::vector<model::WorkflowResult>& workflows, base::Duration now, bool last);
  void judge_last_window(std::size_t i, const std::vector<model::WorkflowResult>& workflows, base::Duration end,
                         std::uint32_t length);
  void judge_window(std::size_t i, const Measured& measured, bool whole, base::Duration at, bool last);
  void explain(std::size_t i, std::string_view problem);
  void ask_to_abort(std::size_t i);

  std::vector<model::Threshold> thresholds_;
  JudgeOptions options_;
  std::vector<model::ThresholdVerdict> verdicts_;
  std::vector<std::string> problems_;
  std::vector<Progress> progress_;
  std::optional<std::size_t> abort_;
};

// The verdicts on a finished run.
std::vector<model::ThresholdVerdict> judge(const std::vector<model::Threshold>& thresholds,
                                           const std::vector<model::WorkflowResult>& workflows);

}  // namespace muster::engine
