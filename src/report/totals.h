// Sums over a result that every output tells alike: what counts as a request, over which time a rate is taken, and the
// whole run's seconds. Pure; percentiles come from merged histograms, never from averages of percentiles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "metrics/histogram.h"
#include "model/result.h"

namespace muster::report {

// Requests are the executions of steps that make a client call (role test), in `start` and `stop` too.
struct Totals {
  std::uint64_t requests = 0;  // failed ones included
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t retried = 0;
  std::uint64_t connections = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::array<std::uint64_t, model::kErrorClasses> errors{};
  metrics::Histogram latency;
  metrics::Histogram service;   // open loads only
  metrics::Histogram lateness;  // of workflows
  base::Duration counted{};     // the time that `rate` is taken over
  base::Duration gaps{};        // of it: nothing counted, in pauses between layers or while a later one warmed up
  std::uint64_t vus = 0;        // active now

  double rate() const;  // requests a second
};

Totals totals(const model::StepResult& step, base::Duration counted);  // whatever its role
Totals totals(const model::WorkflowResult& workflow);
// Counted time is from the first workflow's begin to the last one's end, gaps included.
Totals totals(const model::RunResult& run);

// When counting began, since the run's start; `began` alone goes by the seconds of the workflow's series.
base::Duration truly_began(const model::WorkflowResult& workflow);

// What was counted of a run, by the seconds of its series; both zero if nothing was.
struct CountedStretch {
  base::Duration begin{};
  base::Duration end{};
};
CountedStretch counted_stretch(const model::RunResult& run);

// Every workflow of a script lists all the steps that the script declares; whether this one called that step. A step of
// a written workflow belongs to it, and one that nothing reached is worth seeing.
bool never_called(const model::WorkflowResult& workflow, const model::StepResult& step);

enum class LoadModel : std::uint8_t { kClosed, kOpen, kMixed };
LoadModel load_model(const model::RunResult& run);

// The most that workflows that ran at the same time add up to; layers come one after the other.
std::uint64_t peak_vus(const model::RunResult& run);
std::uint64_t peak_cores(const model::RunResult& run);

// For each workflow the number of the group that it ran in: those of one group ran together, the groups one after the
// other. Those without a series are in the first.
std::vector<std::size_t> ran_together(const std::vector<const model::WorkflowResult*>& workflows);

struct SecondTotals {
  std::uint32_t second = 0;  // since the run's start
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::uint64_t iterations = 0;
  std::uint64_t dropped = 0;
  std::uint64_t vus = 0;  // most at once
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double rate = 0;  // requests a second, also for a second that was counted in part
  metrics::CoarseHistogram latency;
};

// Ascending; seconds in which nothing happened are absent.
std::vector<SecondTotals> seconds_of(const model::WorkflowResult& workflow);
std::vector<SecondTotals> seconds_of(const model::RunResult& run);

// The rows of tags of all steps together, by tags.
std::vector<model::TaggedResult> by_tags(const model::WorkflowResult& workflow);

// How much of a second of the run lies between two times since its start, in seconds.
double covered(base::Duration begin, base::Duration end, std::uint32_t second);

// The rate in a second that was counted in part. Less than a tenth of a second says nothing by itself: it is told at
// the rate of both, it and the second beside it, if that was counted. Of a second that was not counted at all, what was
// recorded in it is told over the whole second. Without requests there is no rate.
struct RatedPart {
  std::uint64_t requests = 0;
  double seconds = 0;  // that were counted
};
double rate_in(const RatedPart& part, const RatedPart& beside);

}  // namespace muster::report
