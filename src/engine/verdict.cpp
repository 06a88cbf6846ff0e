#include "engine/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/marks.h"
#include "model/test_outcomes.h"

namespace muster::engine {
namespace {

using model::RunResult;
using model::ThresholdVerdict;
using model::Verdict;
using model::WorkflowResult;
using model::WorkflowState;

// What the user reads for a workflow that did not do its work; empty if it did, or was ended on purpose.
std::string trouble(const WorkflowResult& workflow) {
  const std::string why = workflow.reason.empty() ? "" : ": " + workflow.reason;
  switch (workflow.state) {
    case WorkflowState::kFailed:
      return fmt::format("workflow '{}' could not {}{}", workflow.name,
                         workflow.elapsed > base::Duration::zero() ? "go on" : "be run", why);
    case WorkflowState::kLost:
      return fmt::format("workflow '{}' lost its executor process{}", workflow.name, why);
    case WorkflowState::kTimedOut:
      return fmt::format("workflow '{}' ran into its time-out{}", workflow.name, why);
    default:
      return {};
  }
}

const ThresholdVerdict* aborting(const RunResult& result) {
  for (const ThresholdVerdict& verdict : result.thresholds) {
    if (verdict.aborted) return &verdict;
  }
  return nullptr;
}

std::string failing_thresholds(const RunResult& result) {
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(result.thresholds, [](const ThresholdVerdict& verdict) { return !verdict.passed; }));
  if (failed == 0) return {};
  const auto first =
      std::ranges::find_if(result.thresholds, [](const ThresholdVerdict& verdict) { return !verdict.passed; });
  const std::string where = first->where.empty() ? "" : " (" + first->where + ")";
  if (failed == 1) return fmt::format("the threshold '{}'{} failed", first->text, where);
  return fmt::format("{} of {} thresholds failed, first '{}'{}", failed, result.thresholds.size(), first->text, where);
}

// What VUs did in `start` may have gone well up to the step that failed; of the work nothing was done.
std::string unstarted(const RunResult& result) {
  for (const WorkflowResult& workflow : result.workflows) {
    if (!never_got_past_start(workflow)) continue;
    const std::uint64_t failed = failed_starts(workflow);
    const std::string whose = result.workflows.size() == 1 ? "" : fmt::format(" of workflow '{}'", workflow.name);
    if (failed == 1) return fmt::format("no iteration{} ran: the `start` steps of a VU failed", whose);
    // VUs of a rate or a ramp are begun again and again.
    if (failed > workflow.peak_vus)
      return fmt::format("no iteration{} ran: `start` failed all {} times", whose, failed);
    return fmt::format("no iteration{} ran: the `start` steps of {}{} VUs failed", whose,
                       failed == workflow.peak_vus ? "all " : "", failed);
  }
  return {};
}

// Requests may have gone well and the work never: a check that is required, a value or a script that fails each time.
std::string fruitless(const RunResult& result) {
  for (const WorkflowResult& workflow : result.workflows) {
    if (!workflow.every_iteration_failed()) continue;
    if (result.workflows.size() == 1) return "every iteration failed";
    return fmt::format("every iteration of workflow '{}' failed", workflow.name);
  }
  return {};
}

// "the run was completed", unless no VU was left to go on, or its time was over first.
std::string how_it_ended(const RunResult& result) {
  for (const auto& [beginning, was] : {std::pair(kEndedWith, ""), std::pair(kEndedByFor, "was ")}) {
    for (const WorkflowResult& workflow : result.workflows) {
      const auto note = std::ranges::find_if(
          workflow.notes, [&](const auto& each) { return std::string_view(each.first).starts_with(beginning); });
      if (note == workflow.notes.end()) continue;
      if (result.workflows.size() == 1) return fmt::format("the run {}{}", was, note->first);
      return fmt::format("workflow '{}' {}{}", workflow.name, was, note->first);
    }
  }
  return "the run was completed";
}

std::string good_reason(const RunResult& result) {
  const std::size_t thresholds = result.thresholds.size();
  const auto judged = static_cast<std::size_t>(std::ranges::count_if(result.thresholds, &ThresholdVerdict::judged));
  std::string reason = how_it_ended(result);
  if (thresholds == 1 && judged == 1) reason += " and its threshold holds";
  if (thresholds > 1 && judged == thresholds) reason += fmt::format(" and its {} thresholds hold", thresholds);
  if (judged < thresholds) {
    reason += fmt::format("; of {} thresholds {} could be judged{}", thresholds, judged,
                          judged == 0 ? "" : (judged == 1 ? " and holds" : " and hold"));
  }
  return reason;
}

}  // namespace

Conclusion conclude(const RunResult& result, const VerdictOptions& options) {
  for (const WorkflowResult& workflow : result.workflows) {
    if (std::string reason = trouble(workflow); !reason.empty()) {
      return {Verdict::kError, kExitError, std::move(reason)};
    }
  }
  if (options.interrupted) return {Verdict::kInterrupted, kExitInterrupted, "the run was interrupted"};
  const ThresholdVerdict* abort = aborting(result);
  if (abort != nullptr) {
    return {Verdict::kFailed, kExitFailed,
            fmt::format("the threshold '{}'{} failed {:.1f} s into the run and ended it", abort->text,
                        abort->where.empty() ? "" : " (" + abort->where + ")", base::seconds(abort->failed_at))};
  }
  // Before what was skipped on account of it.
  model::TestOutcomes done;
  for (const WorkflowResult& workflow : result.workflows) done.add(workflow);
  if (done.all_failed()) return {Verdict::kFailed, kExitFailed, "every request failed"};
  if (std::string reason = unstarted(result); !reason.empty()) {
    return {Verdict::kFailed, kExitFailed, std::move(reason)};
  }
  for (const WorkflowResult& workflow : result.workflows) {
    if (workflow.state == WorkflowState::kCompleted) continue;
    const std::string why = workflow.reason.empty() ? "" : ": " + workflow.reason;
    if (workflow.state == WorkflowState::kAborted) {
      return {Verdict::kInterrupted, kExitInterrupted, fmt::format("workflow '{}' was aborted{}", workflow.name, why)};
    }
    return {Verdict::kError, kExitError,
            fmt::format("workflow '{}' was not completed ({}){}", workflow.name, model::to_text(workflow.state), why)};
  }
  if (done.any_step && done.ok + done.failed == 0) {
    return {Verdict::kFailed, kExitFailed,
            options.warm_up
                ? "no request was counted: none began after the warm-up; make `for` longer or `warm_up` shorter"
                : "no request was made"};
  }
  if (std::string reason = failing_thresholds(result); !reason.empty()) {
    return {Verdict::kFailed, kExitFailed, std::move(reason)};
  }
  if (std::string reason = fruitless(result); !reason.empty()) {
    return {Verdict::kFailed, kExitFailed, std::move(reason)};
  }
  if (options.strict && !result.marks.empty()) {
    return {Verdict::kError, kExitError,
            fmt::format("the result is marked ({}) and --strict makes that an error", result.marks.front().id)};
  }
  return {Verdict::kPassed, kExitGood, good_reason(result)};
}

}  // namespace muster::engine
