// One place of a comparison – the whole run or one step – on both sides: its figures, its whole seconds, and the deltas
// that follow. Used by compare().
#pragma once

#include <string>
#include <vector>

#include "metrics/block_bootstrap.h"
#include "model/result.h"
#include "report/compare.h"
#include "report/totals.h"

namespace muster::report {

// What one run has to tell about a place.
struct PlaceSide {
  Totals totals;
  std::size_t seconds = 0;             // whole ones
  std::vector<metrics::Slice> slices;  // of one second each, or of several where there are many; without gaps
};

PlaceSide side_of(const model::RunResult& run);
PlaceSide side_of(const model::WorkflowResult& workflow, const model::StepResult& step);

// In the order of importance: p95, p50, rate, failed, then the rest. Neither `significant` nor `headline` is set yet.
// Without `intervals` they hold the values only.
std::vector<Delta> deltas_of(const PlaceSide& before, const PlaceSide& after, const CompareOptions& options,
                             bool intervals);

}  // namespace muster::report
