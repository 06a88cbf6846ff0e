// What one core measures. Two sets of counters and recorders: the core writes to one while the collector adds up the
// other; the core itself swaps them at fixed points of the run's time, so that neither ever waits for the other.
// Recording allocates nothing, apart from the first sight of a tag combination or of an error worth a sample.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/program.h"
#include "metrics/recorder.h"
#include "metrics/value_histogram.h"
#include "model/result.h"

namespace muster::engine {

using FineRecorder = metrics::Recorder<9>;
using CoarseRecorder = metrics::Recorder<6>;

struct StepRecording {
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t retried = 0;
  std::uint64_t connections = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  FineRecorder latency;
  FineRecorder service;
  std::array<CoarseRecorder, model::kPhases> phases;
  std::array<std::uint64_t, model::kErrorClasses> errors{};
  std::array<std::uint32_t, 1000> statuses{};  // status → count; those of four digits count at 0
  std::vector<model::CheckResult> checks;
  std::vector<model::ErrorSample> samples;
};

// The note of a request that a client sent twice, which the figures show as one.
constexpr std::string_view kSentAgain =
    "a request was sent again on a new connection, since the server closed the kept one without an answer";

// The row of requests whose tags have none of their own.
constexpr std::string_view kOtherTags = "other";

struct TagRecording {
  std::uint32_t step = 0;  // position among the steps
  std::string tags;        // "other" is one row for all steps
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  FineRecorder latency;
};

struct MetricRecording {
  std::uint64_t count = 0;
  std::uint64_t trues = 0;
  double sum = 0;
  double last = 0;
  base::Duration last_at{};
  double min = 0;
  double max = 0;
  double mean = 0;
  double spread = 0;  // sum of the squared deviations from the mean
  metrics::ValueRecorder values;

  void record(double value) {
    min = count == 0 || value < min ? value : min;
    max = count == 0 || value > max ? value : max;
    ++count;
    sum += value;
    // Welford: sums of squares of large numbers that lie close together would leave nothing of their differences.
    const double off = value - mean;
    mean += off / static_cast<double>(count);
    spread += off * (value - mean);
    values.record(value);
  }
};

struct Recording {
  explicit Recording(const Program& program);

  void clear();

  std::vector<StepRecording> steps;
  std::vector<MetricRecording> metrics;
  std::vector<std::unique_ptr<TagRecording>> tags;  // by KnownTags::place(); null: not met in this set
  FineRecorder lateness;
  CoarseRecorder iteration_time;
  std::uint64_t arrivals = 0;
  std::uint64_t dropped = 0;
  std::uint64_t queued = 0;
  std::uint64_t iterations = 0;
  std::uint64_t failed_iterations = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t peak_vus = 0;  // in this interval
  std::uint64_t vus = 0;
  std::vector<model::Provided> provided;
  model::Notes notes;
  std::string failure;          // why the workflow cannot go on; empty: it can
  model::CoreUse use;           // since the core began to count
  base::Duration began{};       // when that was, since the run's start; set once it counts
  base::Duration elapsed{};     // counted time up to the swap
  base::Instant last_finish{};  // of a request or an iteration
  std::uint32_t second = 0;     // of the run, in which this interval lies
  bool counted = true;          // false: warm-up, to be thrown away

  // The row at `place`, made at first sight.
  TagRecording& tag_row(std::size_t place, std::uint32_t step, std::string_view text);
  void note(std::string_view text, std::uint64_t times = 1);
};

// The pair of sets of one core and the handshake between its two sides.
class RecordingPair {
 public:
  explicit RecordingPair(const Program& program) : sets_{Recording(program), Recording(program)} {}

  // The core's side.
  Recording& current() { return sets_[writing_]; }
  // Hands the current set over and goes on with the other one. False if the collector still has the other one.
  bool swap() {
    if (handed_over_.load(std::memory_order_acquire)) return false;
    handed_over_.store(true, std::memory_order_release);
    writing_ ^= 1U;
    return true;
  }

  // The collector's side: the set that was handed over, or null. release() gives it back, cleared.
  Recording* handed_over() {
    if (!handed_over_.load(std::memory_order_acquire)) return nullptr;
    return &sets_[collecting_];
  }
  void release() {
    sets_[collecting_].clear();
    collecting_ ^= 1U;
    handed_over_.store(false, std::memory_order_release);
  }

 private:
  std::array<Recording, 2> sets_;
  std::size_t writing_ = 0;
  std::size_t collecting_ = 0;
  std::atomic<bool> handed_over_{false};
};

// Adds up what the cores recorded. One thread; cumulative; also builds the per-second series. A recording becomes a
// result of its own, and model::merge() does the rest: what adding means is said there, once for each field.
class Collector {
 public:
  // `program` outlives it.
  Collector(const Program& program, std::size_t cores);

  // Counting begins so long after the run did, or later if a pause holds the warm-up still: recordings tell that.
  // `shift` is that of the seconds.
  void count_from(base::Duration began, base::Duration shift) {
    totals_.began = began;
    totals_.shift = shift;
  }
  void add(std::size_t core, const Recording& recording);
  // The second of the run before which a core has told everything.
  std::uint32_t told_until(std::size_t core) const { return told_until_[core]; }

  // Totals so far, without the series.
  const model::WorkflowResult& totals() const { return totals_; }
  model::WorkflowResult& totals() { return totals_; }

  // The series that was not taken yet.
  const model::WorkflowResult& open_series() const { return fresh_series_; }
  // The series of the seconds before `second` that were not taken yet, in a result that holds nothing else but names.
  model::WorkflowResult take_series(std::uint32_t second);

 private:
  void count_vus(std::size_t core, const Recording& recording);
  model::WorkflowResult names_only() const;

  const Program& program_;
  model::WorkflowResult totals_;
  model::WorkflowResult fresh_series_;
  std::vector<std::uint64_t> core_vus_;
  std::vector<std::uint32_t> told_until_;                                         // by core
  std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>> second_vus_;  // peak of each core in a second
};

}  // namespace muster::engine
