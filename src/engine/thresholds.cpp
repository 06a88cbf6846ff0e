#include "engine/thresholds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/options.h"

namespace muster::engine {
namespace {

using model::Comparison;
using model::Threshold;
using model::ThresholdVerdict;
using model::WorkflowResult;

constexpr std::string_view kPartly =
    "more of them may be among the requests that count as \"other\", since there were too many combinations of tags; "
    "give the step fewer tags that change, or tags of fewer values";

bool holds(double value, Comparison comparison, double bound) {
  switch (comparison) {
    case Comparison::kLess:
      return value < bound;
    case Comparison::kLessEqual:
      return value <= bound;
    case Comparison::kGreater:
      return value > bound;
    case Comparison::kGreaterEqual:
      return value >= bound;
    case Comparison::kEqual:
      return !(value < bound) && !(value > bound);
    case Comparison::kNotEqual:
      return value < bound || value > bound;
  }
  return false;
}

bool upper_bound(Comparison comparison) {
  return comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
}

// Whether a value can be too large for it for good.
bool can_exceed(Comparison comparison) {
  return upper_bound(comparison) || comparison == Comparison::kEqual;
}

// `failed` is the number of checks that did not hold.
bool grows(const Threshold& threshold) {
  return threshold.aggregate == "count" || threshold.aggregate == "failed";
}

bool lower_bound(Comparison comparison) {
  return comparison == Comparison::kGreater || comparison == Comparison::kGreaterEqual;
}

// Whether `value` is further on the wrong side than `than`; of those that all miss `!=` alike the later one counts.
bool worse(double value, double than, const Threshold& threshold) {
  if (upper_bound(threshold.comparison)) return value > than;
  if (lower_bound(threshold.comparison)) return value < than;
  if (threshold.comparison == Comparison::kNotEqual) return true;
  return std::abs(value - threshold.bound) > std::abs(than - threshold.bound);
}

bool enough(const Measured& measured, const Threshold& threshold) {
  return measured.samples >= threshold.min_samples || (measured.tally && threshold.min_samples <= 1);
}

// Whether a count of some of the requests settles it: whatever else there is can only add to it.
bool settled(double value, const Threshold& threshold) {
  if (!grows(threshold)) return false;
  if (can_exceed(threshold.comparison))
    return value >= threshold.bound && !holds(value, threshold.comparison, threshold.bound);
  return lower_bound(threshold.comparison) && holds(value, threshold.comparison, threshold.bound);
}

std::uint32_t whole_seconds_up(base::Duration duration) {
  const auto up = std::chrono::ceil<std::chrono::seconds>(duration).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(up, 0, 1'000'000'000));
}

std::uint32_t whole_seconds_down(base::Duration duration) {
  const auto down = std::chrono::floor<std::chrono::seconds>(duration).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(down, 0, 1'000'000'000));
}

}  // namespace

ThresholdJudge::ThresholdJudge(std::vector<Threshold> thresholds, JudgeOptions options)
    : thresholds_(std::move(thresholds)), options_(options) {
  verdicts_.reserve(thresholds_.size());
  problems_.resize(thresholds_.size());
  progress_.resize(thresholds_.size());
  for (std::size_t i = 0; i != thresholds_.size(); ++i) {
    ThresholdVerdict& verdict = verdicts_.emplace_back();
    verdict.text = thresholds_[i].text;
    verdict.where = where_text(thresholds_[i]);
    verdict.window = thresholds_[i].window.value_or(base::Duration{});
    if (const auto possible = judgeable(thresholds_[i]); !possible) {
      progress_[i].possible = false;
      explain(i, possible.error().message);
    }
  }
}

void ThresholdJudge::observe(const std::vector<WorkflowResult>& workflows, base::Duration now) {
  for (std::size_t i = 0; i != thresholds_.size(); ++i) {
    if (!progress_[i].possible) continue;
    if (thresholds_[i].window) {
      judge_windows(i, workflows, now, false);
    } else {
      judge_whole(i, workflows, now, false);
    }
  }
}

void ThresholdJudge::finish(const std::vector<WorkflowResult>& workflows, base::Duration now) {
  for (std::size_t i = 0; i != thresholds_.size(); ++i) {
    if (!progress_[i].possible) continue;
    if (thresholds_[i].window) judge_windows(i, workflows, now, true);
    if (!progress_[i].complete_window) judge_whole(i, workflows, now, true);
    if (progress_[i].only_parts && !verdicts_[i].judged) {
      explain(i, "no window with enough samples was counted throughout; give it a shorter `window`");
    }
  }
}

void ThresholdJudge::judge_whole(std::size_t i, const std::vector<WorkflowResult>& workflows, base::Duration now,
                                 bool last) {
  const Threshold& threshold = thresholds_[i];
  ThresholdVerdict& verdict = verdicts_[i];
  if (!last) {
    // A count only grows: that it is still too small says nothing before the end.
    if (grows(threshold) && !can_exceed(threshold.comparison)) return;
    const auto over = extent(threshold, workflows);
    if (threshold.aggregate == "rate" && (!over || over->end - over->begin < options_.least_elapsed)) return;
  }
  if (verdict.aborted) return;  // what ended the run stays as it was, whatever the last responses did to it
  const Measured measured = measure(threshold, workflows, {});
  if (!measured.problem.empty()) {
    if (last) explain(i, measured.problem);
    return;
  }
  if (measured.partial && !settled(measured.value, threshold)) {
    verdict.samples = measured.samples;
    if (last) explain(i, kPartly);
    return;
  }
  // It may still grow to what it has to be.
  if (!last && grows(threshold) && threshold.comparison == Comparison::kEqual && measured.value <= threshold.bound)
    return;
  verdict.value = measured.value;
  verdict.samples = measured.samples;
  verdict.judged = enough(measured, threshold);
  if (!verdict.judged || holds(measured.value, threshold.comparison, threshold.bound)) {
    verdict.passed = true;
    verdict.failed_at = {};
    return;
  }
  if (verdict.passed) verdict.failed_at = now;
  verdict.passed = false;
  if (!last) ask_to_abort(i);
}

void ThresholdJudge::judge_windows(std::size_t i, const std::vector<WorkflowResult>& workflows, base::Duration now,
                                   bool last) {
  const Threshold& threshold = thresholds_[i];
  Progress& progress = progress_[i];
  const auto over = told_extent(threshold, workflows, now, last ? base::Duration{} : options_.patience);
  if (!over) return;
  const std::uint32_t length = std::max(1u, whole_seconds_up(*threshold.window));
  if (progress.next_end == 0) progress.next_end = whole_seconds_up(over->begin) + length;
  for (const std::uint32_t end = whole_seconds_down(over->end); progress.next_end <= end; ++progress.next_end) {
    const Span span{progress.next_end - length, progress.next_end};
    const Measured measured = measure(threshold, workflows, span);
    if (!measured.problem.empty()) {
      if (last) explain(i, measured.problem);
      progress.complete_window = last;
      return;
    }
    progress.complete_window = true;
    const bool whole =
        !measured.tally || counted_in(threshold, workflows, span) + kSameSecond >= std::chrono::seconds(length);
    judge_window(i, measured, whole, std::chrono::seconds(progress.next_end), last);
  }
  if (last && progress.complete_window) judge_last_window(i, workflows, over->end, length);
}

// What is left after the last whole second. A tally is taken over at most the window's length, so that it cannot be
// too large on account of that. A share or a time would rest on a few requests if only a moment is left: its window
// begins a second earlier then, and is half a second longer or shorter than the others at most.
void ThresholdJudge::judge_last_window(std::size_t i, const std::vector<WorkflowResult>& workflows, base::Duration end,
                                       std::uint32_t length) {
  const std::uint32_t whole_end = whole_seconds_down(end);
  if (whole_end < length) return;
  Measured measured = measure(thresholds_[i], workflows, Span{whole_end + 1 - length, whole_end + 1});
  if (!measured.tally && end - std::chrono::seconds(whole_end) < std::chrono::milliseconds(500)) {
    measured = measure(thresholds_[i], workflows, Span{whole_end - length, whole_end + 1});
  }
  if (measured.problem.empty()) judge_window(i, measured, !measured.tally, end, true);
}

void ThresholdJudge::judge_window(std::size_t i, const Measured& measured, bool whole, base::Duration at, bool last) {
  const Threshold& threshold = thresholds_[i];
  ThresholdVerdict& verdict = verdicts_[i];
  if (!enough(measured, threshold)) {
    if (!verdict.judged) verdict.samples = std::max(verdict.samples, measured.samples);
    return;
  }
  // Part of a window may hold too much already; that it holds too little says nothing.
  const bool exceeds = threshold.comparison == Comparison::kEqual && measured.value > threshold.bound;
  if (!whole && !upper_bound(threshold.comparison) && !exceeds) {
    progress_[i].only_parts = true;
    return;
  }
  const bool held = holds(measured.value, threshold.comparison, threshold.bound);
  // A value that holds must not stand beside a verdict that failed.
  const bool shown = (verdict.passed || !held) && worse(measured.value, verdict.value, threshold);
  if (!verdict.judged || shown) {
    verdict.value = measured.value;
    verdict.samples = measured.samples;
  }
  verdict.judged = true;
  if (held) return;
  if (verdict.passed) verdict.failed_at = at;
  verdict.passed = false;
  if (!last) ask_to_abort(i);
}

void ThresholdJudge::explain(std::size_t i, std::string_view problem) {
  verdicts_[i].judged = false;
  verdicts_[i].passed = true;
  verdicts_[i].failed_at = {};
  problems_[i] = problem;
}

void ThresholdJudge::ask_to_abort(std::size_t i) {
  if (!thresholds_[i].abort || abort_) return;
  abort_ = i;
  verdicts_[i].aborted = true;
}

std::vector<ThresholdVerdict> judge(const std::vector<Threshold>& thresholds,
                                    const std::vector<WorkflowResult>& workflows) {
  ThresholdJudge judge(thresholds);
  base::Duration end{};
  for (const WorkflowResult& workflow : workflows) end = std::max(end, workflow.began + workflow.elapsed);
  judge.finish(workflows, end);
  return judge.verdicts();
}

}  // namespace muster::engine
