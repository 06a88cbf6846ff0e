// One run of a job on one machine: its workflows layer by layer, batch by batch, each in a runner of its own; context
// from one layer to the next; thresholds, time-outs and the verdict. Driven by calls to advance() from one thread; it
// blocks nowhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/engine.h"
#include "engine/marks.h"
#include "engine/options.h"
#include "engine/provisioner.h"
#include "engine/runner.h"
#include "engine/thresholds.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::engine {

struct JobOptions {
  std::uint32_t cores = 1;
  bool in_process = false;  // run engines in this process
  bool strict = false;      // a marked result is an error
  base::Duration stop_margin = kStopMargin;
  base::Duration silence_limit = kSilenceLimit;
  TraceSink trace;  // in process only
};

class JobRun {
 public:
  // `job` and `registry` outlive the run.
  JobRun(const model::Job& job, const Registry& registry, const JobOptions& options);

  // Checks everything that can be checked before the clock starts, then starts the first batch.
  base::Expected<void> start();

  // Looks at the runners and moves on. True while there is something to wait for.
  bool advance();

  // No new work; what is under way has its grace. `reason` is told of the workflows that this ends.
  void stop(const std::string& reason);
  // The same, and what was measured is judged as if the load had ended by itself.
  void stop_by_hand();
  // Everything ends now.
  void abort();
  // These hold for workflows that begin later too.
  void pause();
  void resume();
  void scale(double factor);
  bool paused() const { return paused_; }

  // As of the latest advance(); final, with verdict and marks, once that returned false.
  const model::RunResult& result() const { return result_; }
  // Known once start() succeeded: what will be other than one may think, a sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The user asked for the end.
  void interrupted() { interrupted_ = true; }

 private:
  struct Active {
    std::size_t workflow;
    std::unique_ptr<Runner> runner;
    base::Instant began;
    bool stopping = false;
    bool aborted = false;                           // a threshold ended it
    base::Instant must_end = base::kNever;          // once it was told to stop
    base::Duration length = base::Duration::max();  // of its load
    base::Duration seen{};                          // how much of that was looked at: without pauses
    base::Instant looked{};                         // when it was looked at last
    base::Duration silent{};                        // how long it has told nothing new
    bool heard = false;                             // it told something at all
    std::string wedged{};                           // why it was given up; empty: it was not
  };

  void command(const Command& command);
  bool start_next_batch();
  bool start_workflow(std::size_t index, std::uint32_t cores);
  bool may_run(std::size_t index);
  std::vector<Candidate> candidates_of(const std::vector<std::size_t>& layer) const;
  void look(Active& active);
  void finish_workflow(Active& active);
  void tell_to_stop(Active& active, const std::string& reason);
  void check_time();
  void check_wedged(Active& active);
  // How long after its grace it may take to end.
  base::Duration margin(const Active& active) const;
  void check_thresholds();
  void end_pause();
  void conclude();
  base::Duration elapsed() const { return base::now() - epoch_; }

  const model::Job& job_;
  const Registry& registry_;
  JobOptions options_;
  std::vector<std::vector<std::size_t>> layers_;
  std::vector<Candidate> candidates_;  // by workflow
  std::vector<std::string> warnings_;
  std::vector<Shortage> shortages_;  // of the layers that were begun
  std::vector<Batch> batches_;       // of the present layer, those still to start
  std::vector<std::size_t> layer_;
  std::size_t next_layer_ = 0;
  std::vector<Active> active_;
  ReceivedContext received_;
  UniqueRows unique_rows_;
  ThresholdJudge judge_;
  model::RunResult result_;
  base::Instant epoch_{};
  double factor_ = 1.0;
  bool paused_ = false;
  base::Instant paused_at_{};
  ByHand by_hand_;
  bool stopping_ = false;
  std::optional<base::Duration> stopped_;  // when the user ended the load to have it judged
  bool interrupted_ = false;
  bool over_ = false;
};

}  // namespace muster::engine
