#include "engine/runner.h"

#include <algorithm>
#include <utility>

namespace muster::engine {

void update(model::WorkflowResult& result, model::WorkflowResult&& totals, model::WorkflowResult&& series) {
  if (totals.reason.empty()) totals.reason = std::move(result.reason);
  totals.series = std::move(result.series);
  for (std::size_t i = 0; i < std::min(totals.steps.size(), result.steps.size()); ++i) {
    totals.steps[i].series = std::move(result.steps[i].series);
  }
  result = std::move(totals);
  model::merge_series(result, std::move(series));
}

}  // namespace muster::engine
