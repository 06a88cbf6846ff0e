#include "engine/snapshot_fit.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/options.h"
#include "model/result_codec.h"

namespace muster::engine {
namespace {

struct Cut {
  std::string_view what;
  void (*leave_out)(model::WorkflowResult&);
};

// In the order in which they go: what the next workflow needs and what the run is judged by go last.
constexpr std::array kCuts{
    Cut{"samples of errors",
        [](model::WorkflowResult& result) {
          for (model::StepResult& step : result.steps) step.samples.clear();
        }},
    Cut{"figures by tag", [](model::WorkflowResult& result) { result.tagged.clear(); }},
    Cut{"phases and service times",
        [](model::WorkflowResult& result) {
          for (model::StepResult& step : result.steps) {
            step.phases = {};
            step.service.clear();
          }
        }},
    Cut{"provided values", [](model::WorkflowResult& result) { result.provided.clear(); }},
    Cut{"latencies",
        [](model::WorkflowResult& result) {
          for (model::StepResult& step : result.steps) step.latency.clear();
        }},
};

}  // namespace

bool encode_to_fit(const model::WorkflowResult& totals, std::size_t limit, std::string& bytes) {
  bytes.clear();
  model::encode(totals, bytes);
  if (bytes.size() <= limit) return true;
  // The series of the seconds under way is missed only if the executor is killed within them.
  model::WorkflowResult less = totals;
  clear_series(less);
  bytes.clear();
  model::encode(less, bytes);
  if (bytes.size() <= limit) return true;
  if (less.notes.size() >= model::kMaxResultNotes) less.notes.pop_back();
  const model::Notes notes = less.notes;
  std::string missing;
  for (const Cut& cut : kCuts) {
    cut.leave_out(less);
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", cut.what);
    less.notes = notes;
    model::add_note(less.notes, fmt::format("the result is too large to be kept whole; it lacks: {}", missing));
    bytes.clear();
    model::encode(less, bytes);
    if (bytes.size() <= limit) return true;
  }
  return false;
}

}  // namespace muster::engine
