// What one threshold is about, as a number: picks the workflows, steps and tags that its `where` names out of a result
// and works out its metric and aggregate, over the whole run or over some seconds of it. Pure; used by ThresholdJudge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/selection.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::engine {

// Whole seconds since the run's start: [first, end).
struct Span {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

struct Measured {
  double value = 0;           // in the unit of the threshold's bound
  std::uint64_t samples = 0;  // what the value rests on
  bool tally = false;         // a count, or events per second: 0 samples is a measurement too
  std::string problem;        // why it cannot be measured; empty if it can
  bool partial = false;       // there may be more that could not be told apart: a count is at least this
};

// Whether the threshold's metric, aggregate, `where` and window go together at all. The types of the user's own metrics
// and the names in `where` are not known here; measure() tells when those do not fit.
base::Expected<void> judgeable(const model::Threshold& threshold);

// Without a span: over all that was counted. With one: over the seconds of the series in it, at the series' accuracy.
Measured measure(const model::Threshold& threshold, const std::vector<model::WorkflowResult>& workflows,
                 std::optional<Span> span);

// From the first counted moment to the last of the workflows that the threshold is about, since the run's start.
// Nothing if none has begun.
std::optional<Extent> extent(const model::Threshold& threshold, const std::vector<model::WorkflowResult>& workflows);

// The same up to where the series tells everything: a running workflow tells a second once all its cores have handed it
// over. One that is more than `patience` behind `now` is not waited for.
std::optional<Extent> told_extent(const model::Threshold& threshold,
                                  const std::vector<model::WorkflowResult>& workflows, base::Duration now,
                                  base::Duration patience);

// How much of the span some workflow that the threshold is about has counted.
base::Duration counted_in(const model::Threshold& threshold, const std::vector<model::WorkflowResult>& workflows,
                          const Span& span);

}  // namespace muster::engine
