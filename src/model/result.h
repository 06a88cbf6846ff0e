// What a run measured. Everything is cumulative and mergeable: the parts of several cores, workers or seconds add up to
// the whole by merge(), whatever the order. Plain values, made by engine/, read by report/ and console/.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "metrics/histogram.h"
#include "metrics/value_histogram.h"
#include "model/step_kind.h"

namespace muster::model {

// Why a step failed.
enum class ErrorClass : std::uint8_t {
  kDns,
  kConnect,
  kTls,
  kTimeout,
  kReset,
  kProtocol,
  kStatus,
  kCheck,      // a required check did not hold
  kValue,      // a value that the step needs was missing or does not fit its place
  kResource,   // this machine ran out: file descriptors, ports, memory
  kCancelled,  // still under way when the grace ended
};
constexpr std::size_t kErrorClasses = 11;
std::string_view to_text(ErrorClass error);

// Parts of the time of one request.
enum class Phase : std::uint8_t { kDns, kConnect, kTls, kWait, kReceive };
constexpr std::size_t kPhases = 5;
std::string_view to_text(Phase phase);

// One failing exchange, kept so that the user can see what happened. Secrets are already redacted.
struct ErrorSample {
  ErrorClass error = ErrorClass::kConnect;
  base::Duration at{};   // since the run's start
  std::string detail;    // "connection refused by 127.0.0.1:81"
  std::string request;   // first bytes of it
  std::string response;  // first bytes of it, may be empty
};

struct CheckResult {
  std::string label;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
};

// One second of one step.
struct StepSecond {
  std::uint32_t second = 0;  // since the run's start
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  metrics::CoarseHistogram latency;
};

struct StepResult {
  std::string name;
  std::string kind;
  StepRole role = StepRole::kTest;
  std::vector<std::pair<std::string, std::string>> tags;  // those known before the run

  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t retried = 0;
  std::uint64_t connections = 0;  // opened for it
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::array<std::uint64_t, kErrorClasses> errors{};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> statuses;  // protocol status → count, ascending
  std::vector<ErrorSample> samples;                               // at most kMaxSamplesPerClass of each class
  metrics::Histogram latency;                                     // open load: from the intended start
  metrics::Histogram service;                                     // open load only: from the true start
  std::array<metrics::CoarseHistogram, kPhases> phases;
  std::vector<CheckResult> checks;
  std::vector<StepSecond> series;  // ascending, seconds without requests are absent
};
constexpr std::size_t kMaxSamplesPerClass = 3;

enum class MetricType : std::uint8_t { kCounter, kGauge, kRate, kTrend };
std::string_view to_text(MetricType type);

struct UserMetric {
  std::string name;
  MetricType type = MetricType::kTrend;
  std::uint64_t count = 0;
  std::uint64_t trues = 0;  // rate
  double sum = 0;           // counter, trend
  double last = 0;          // gauge
  base::Duration last_at{};
  double min = 0;
  double max = 0;
  double spread = 0;               // sum of the squared deviations from the mean
  metrics::ValueHistogram values;  // trend
};

// Of a trend: a percentile, never outside [min, max]; the standard deviation of the population. 0 without values.
double quantile(const UserMetric& metric, double q);
double stddev(const UserMetric& metric);
// Adds `part`, another share of the same metric, to `whole`.
void merge(UserMetric& whole, const UserMetric& part);

// The same numbers for the requests of one step that carried one combination of tags. Bounded in number; the rest are
// "other".
struct TaggedResult {
  std::string tags;  // "region=eu,plan=free", or "other"
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  metrics::Histogram latency;
  std::string step = {};  // whose requests they are; empty for "other"
};

// What is told when there are more.
constexpr std::string_view kTooManyTags =
    "requests with tags beyond the first 200 combinations of a step, or 1000 of a workflow, count as \"other\"";
constexpr std::string_view kTagsTooLong = "requests whose tags take more than 1024 bytes together count as \"other\"";

struct WorkflowSecond {
  std::uint32_t second = 0;  // since the run's start
  std::uint32_t vus = 0;     // most that were active at once in that second
  std::uint64_t iterations = 0;
  std::uint64_t dropped = 0;
};

// What a workflow hands on to those that depend on it.
struct Provided {
  std::string key;
  bool keep_all = false;            // `keep: all`: reads as a data feeder at the consumer
  bool keep_first = false;          // of two values the earlier stays, else the later
  std::uint64_t max = 1;            // values kept at most
  std::vector<std::string> values;  // JSON texts; keep last and first: one at most
  std::uint64_t lamport = 0;        // when the value kept was written
};

// Adds a value to those kept: by its key, and by when it was written.
void add_provided(std::vector<Provided>& whole, const Provided& value);

// Things worth telling → how often. Bounded: kMaxResultNotes.
using Notes = std::vector<std::pair<std::string, std::uint64_t>>;
void add_note(Notes& notes, std::string_view text, std::uint64_t times = 1);

struct CoreUse {
  base::Duration busy{};     // CPU time of the core's thread
  base::Duration elapsed{};  // wall time over which it was measured
};

enum class WorkflowState : std::uint8_t {
  kPending,
  kRunning,
  kCompleted,
  kFailed,
  kSkipped,
  kAborted,
  kTimedOut,
  kLost
};
std::string_view to_text(WorkflowState state);

struct WorkflowResult {
  std::string name;
  WorkflowState state = WorkflowState::kPending;
  std::string reason;     // why it failed, was skipped, aborted or lost
  bool open = false;      // open load model: latency counts from the intended start
  bool scripted = false;  // its steps are all that the script declares, for whichever workflow
  bool warming_up = false;
  base::Duration began{};    // since the run's start; end of the warm-up
  base::Duration shift{};    // how long after `began` that truly was: seconds of the series begin with the load
  base::Duration elapsed{};  // counted time so far
  std::uint64_t sequence = 0;

  std::uint64_t vus = 0;  // active now
  std::uint64_t peak_vus = 0;
  std::uint64_t max_vus = 0;   // the limit of an open load
  std::uint64_t arrivals = 0;  // open: that were due
  std::uint64_t dropped = 0;   // open: that were never started
  std::uint64_t queued = 0;    // open: that had to wait for a free VU
  std::uint64_t iterations = 0;
  std::uint64_t failed_iterations = 0;
  std::uint64_t interrupted = 0;  // iterations cut short at the end
  metrics::Histogram lateness;    // how long after it was due an arrival (open) or a think or pacing timer was served
  metrics::CoarseHistogram iteration_time;
  std::vector<StepResult> steps;
  std::vector<UserMetric> metrics;
  std::vector<TaggedResult> tagged;
  std::vector<WorkflowSecond> series;
  std::vector<Provided> provided;
  std::vector<CoreUse> cores;
  Notes notes;

  bool every_iteration_failed() const { return iterations > 0 && failed_iterations >= iterations; }
};

// Adds `part` (another core's or worker's share of the same workflow) to `whole`. Names of steps must agree in order.
void merge(WorkflowResult& whole, const WorkflowResult& part);

// Moves the series out of `part`, whose steps are those of `whole` in order, into that of `whole`. Costs what `part`
// holds as long as its seconds are new or recent, however long the series of `whole` is.
void merge_series(WorkflowResult& whole, WorkflowResult&& part);
void clear_series(WorkflowResult& result);

struct ThresholdVerdict {
  std::string text;
  std::string where;        // "step=login", empty for the whole run
  base::Duration window{};  // judged in every window of this length; zero: over the whole run
  double value = 0;         // measured, in the unit of the bound
  std::uint64_t samples = 0;
  bool judged = false;  // enough samples were seen
  bool passed = true;
  bool aborted = false;        // it ended the run
  base::Duration failed_at{};  // first time it failed
};

// Something about the run that makes its numbers doubtful: a saturated generator, a missed schedule, dropped arrivals.
struct Mark {
  std::string id;    // "saturated", "late", "dropped", "max-vus"
  std::string text;  // a sentence with the figures and what to do
};

enum class Verdict : std::uint8_t { kPassed, kFailed, kInterrupted, kError };
std::string_view to_text(Verdict verdict);

struct RunResult {
  std::string id;  // under which it is kept ("r-20261115-k3f8"); empty: it is not
  std::string job;
  std::string version;
  std::uint64_t seed = 0;
  base::Duration started{};  // time of day since 1970
  base::Duration elapsed{};
  Verdict verdict = Verdict::kPassed;
  int exit_code = 0;
  std::string reason;  // one sentence: why the verdict is what it is
  std::vector<WorkflowResult> workflows;
  std::vector<ThresholdVerdict> thresholds;
  std::vector<Mark> marks;
};

}  // namespace muster::model
