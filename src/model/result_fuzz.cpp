// Whatever decodes must encode to the very bytes it came from, or to bytes that do if it is of an older version.
// Merging it must neither crash nor lose anything, whatever the order.
// covers: model/result_codec.h model/result_codec.cpp model/result_merge.cpp metrics/value_histogram.cpp
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/fuzzing.h"
#include "model/options.h"
#include "model/result_codec.h"

namespace muster::model {
namespace {

using base::require;

std::string bytes_of(const WorkflowResult& result) {
  std::string bytes;
  encode(result, bytes);
  return bytes;
}

void require_mergeable(const WorkflowResult& part) {
  WorkflowResult whole;
  merge(whole, part);
  require(whole.name == part.name);
  WorkflowResult other = part;
  other.vus = 1;
  other.began = std::chrono::seconds(1);
  other.state = WorkflowState::kFailed;
  add_note(other.notes, "another note", 2);
  // Cores are appended and values of `keep: all` are kept in the order in which they came.
  other.cores.clear();
  other.provided.clear();
  WorkflowResult left = whole;
  merge(left, other);
  WorkflowResult right;
  merge(right, other);
  merge(right, whole);
  // Sums of users' metrics are rounded in the order in which they are added.
  for (WorkflowResult* merged : {&left, &right}) {
    for (UserMetric& metric : merged->metrics) metric.sum = metric.spread = 0;
  }
  require(part.name.empty() || bytes_of(left) == bytes_of(right));
  require(left.notes.size() <= kMaxResultNotes && left.tagged.size() <= kMaxResultTagged);
}

// The series taken out of a result and put into another is all there, and added to where it is there already.
void require_series_moves(const WorkflowResult& part) {
  WorkflowResult from = part;
  WorkflowResult into;
  into.steps.resize(part.steps.size());
  merge_series(into, std::move(from));
  require(into.series.size() == part.series.size());
  for (std::size_t i = 0; i < part.steps.size(); ++i) {
    require(into.steps[i].series.size() == part.steps[i].series.size());
  }
  WorkflowResult again = part;
  merge_series(into, std::move(again));
  require(into.series.size() == part.series.size());
}

// What was chosen from a list is in that list.
void require_named(const WorkflowResult& result) {
  require(!to_text(result.state).empty());
  for (const StepResult& step : result.steps) {
    for (const ErrorSample& sample : step.samples) require(!to_text(sample.error).empty());
  }
  for (const UserMetric& metric : result.metrics) {
    require(!to_text(metric.type).empty());
    const double middle = quantile(metric, 0.5);
    const auto [least, most] = std::minmax(metric.min, metric.max);
    require(metric.count == 0 || (middle >= least && middle <= most));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_workflow_result(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  const std::string again = bytes_of(*decoded);
  if (static_cast<std::uint8_t>(input.front()) == kResultVersion) {
    require(again == input);
  } else {
    const auto renewed = decode_workflow_result(again);
    require(renewed.has_value() && bytes_of(*renewed) == again);
  }
  require_named(*decoded);
  require_mergeable(*decoded);
  require_series_moves(*decoded);
  return 0;
}

}  // namespace muster::model
