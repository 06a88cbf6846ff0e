#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "metrics/difference.h"
#include "report/compared_place.h"
#include "report/comparison_words.h"
#include "report/figures.h"

namespace muster::report {
namespace {

// p95, p50, rate and failed of the whole run: they come first in the list.
constexpr std::size_t kHeadlines = 4;

bool large_enough(const Delta& delta, const CompareOptions& options) {
  return std::abs(delta.change) >= (delta.relative ? options.least_change : options.least_failed);
}

template <class Correction>
void judge_family(std::span<Delta> deltas, const CompareOptions& options, Correction&& correction) {
  std::vector<double> p;
  std::vector<Delta*> judged;
  for (Delta& delta : deltas) {
    // What is exactly alike (no failures on either side, mostly) can never be called a change: it is no question.
    if (!delta.judged || delta.p >= 1) continue;
    p.push_back(delta.p);
    judged.push_back(&delta);
  }
  const std::vector<bool> yes = correction(p, options.alpha);
  for (std::size_t i = 0; i != judged.size(); ++i) judged[i]->significant = yes[i] && large_enough(*judged[i], options);
}

const model::StepResult* find_step(const model::RunResult& run, const std::string& workflow, const std::string& name,
                                   const model::WorkflowResult*& in) {
  for (const model::WorkflowResult& each : run.workflows) {
    if (each.name != workflow) continue;
    for (const model::StepResult& step : each.steps) {
      if (step.role != model::StepRole::kTest || step.name != name) continue;
      in = &each;
      return &step;
    }
  }
  return nullptr;
}

struct StepInRun {
  const model::WorkflowResult* workflow = nullptr;
  const model::StepResult* step = nullptr;

  PlaceSide side() const { return side_of(*workflow, *step); }
  std::uint64_t requests() const { return step->ok + step->failed; }
};

// The same step in both runs.
struct StepPair {
  StepInRun before;
  StepInRun after;

  std::uint64_t requests() const { return before.requests() + after.requests(); }
};

class StepsCompared {
 public:
  StepsCompared(const model::RunResult& before, const model::RunResult& after, const CompareOptions& options) {
    for (const model::WorkflowResult& workflow : before.workflows) {
      for (const model::StepResult& step : workflow.steps) {
        if (step.role == model::StepRole::kTest) pair(workflow, step, after);
      }
    }
    for (const model::WorkflowResult& workflow : after.workflows) {
      for (const model::StepResult& step : workflow.steps) {
        const model::WorkflowResult* in = nullptr;
        if (step.role != model::StepRole::kTest || find_step(before, workflow.name, step.name, in) != nullptr) continue;
        added_.push_back(step.name);
      }
    }
    judge(options);
  }

  std::vector<std::vector<Delta>> take() { return std::move(deltas_); }
  const std::vector<std::string>& gone() const { return gone_; }
  const std::vector<std::string>& added() const { return added_; }
  std::size_t unjudged() const { return unjudged_; }

 private:
  void pair(const model::WorkflowResult& workflow, const model::StepResult& step, const model::RunResult& after) {
    const model::WorkflowResult* in = nullptr;
    const model::StepResult* other = find_step(after, workflow.name, step.name, in);
    if (other == nullptr) {
      gone_.push_back(step.name);
      return;
    }
    pairs_.push_back({{&workflow, &step}, {in, other}});
  }

  void judge(const CompareOptions& options) {
    std::ranges::sort(pairs_, [](const StepPair& a, const StepPair& b) {
      return a.requests() != b.requests() ? a.requests() > b.requests() : a.before.step < b.before.step;
    });
    for (std::size_t i = 0; i != pairs_.size(); ++i) {
      const bool intervals = i < options.most_steps;
      if (!intervals) ++unjudged_;
      std::vector<Delta> deltas = deltas_of(pairs_[i].before.side(), pairs_[i].after.side(), options, intervals);
      for (Delta& delta : deltas) {
        delta.workflow = pairs_[i].before.workflow->name;
        delta.step = pairs_[i].before.step->name;
      }
      deltas_.push_back(std::move(deltas));
    }
  }

  std::vector<StepPair> pairs_;
  std::vector<std::vector<Delta>> deltas_;  // of each place
  std::vector<std::string> gone_;
  std::vector<std::string> added_;
  std::size_t unjudged_ = 0;
};

// Steps with significant changes first, the largest change before the others.
double weight(std::span<const Delta> deltas) {
  double most = 0;
  for (const Delta& delta : deltas) {
    if (!delta.judged) continue;
    const double size = std::min(std::abs(delta.relative ? delta.change : 10 * delta.change), 1e6);
    most = std::max(most, size + (delta.significant ? 1e7 : 0) + (delta.significant && delta.worse ? 1e7 : 0));
  }
  return most;
}

std::string names(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i != std::min(list.size(), kShown); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", list[i]);
  if (list.size() > kShown) text += fmt::format(" and {} more", list.size() - kShown);
  return text;
}

bool far_apart(double a, double b) {
  constexpr double kAlike = 0.05;
  return std::abs(a - b) > kAlike * std::max(a, b);
}

std::string load_of(const model::WorkflowResult& workflow) {
  if (!workflow.open) return fmt::format("{} VUs", grouped(workflow.peak_vus));
  const double seconds = base::seconds(workflow.elapsed);
  return fmt::format("{} arrivals/s", short_rate(seconds > 0 ? static_cast<double>(workflow.arrivals) / seconds : 0));
}

double size_of(const model::WorkflowResult& workflow) {
  if (!workflow.open) return static_cast<double>(workflow.peak_vus);
  const double seconds = base::seconds(workflow.elapsed);
  return seconds > 0 ? static_cast<double>(workflow.arrivals) / seconds : 0;
}

void note_loads(std::vector<std::string>& notes, const model::RunResult& before, const model::RunResult& after) {
  for (const model::WorkflowResult& old : before.workflows) {
    for (const model::WorkflowResult& now : after.workflows) {
      if (old.name != now.name) continue;
      if (old.open != now.open || far_apart(size_of(old), size_of(now))) {
        notes.push_back(fmt::format("the load of workflow '{}' differs: {} before, {} after", old.name, load_of(old),
                                    load_of(now)));
      }
    }
  }
  constexpr double kLonger = 1.5;
  const double a = base::seconds(before.elapsed);
  const double b = base::seconds(after.elapsed);
  if (a > 0 && b > 0 && std::max(a, b) > kLonger * std::min(a, b)) {
    notes.push_back(fmt::format("the runs differ in length: {} before, {} after", short_time(before.elapsed, true),
                                short_time(after.elapsed, true)));
  }
}

// A run of which every workflow was completed may be an error all the same: `--strict` makes a mark one.
bool ended_by_itself(const model::RunResult& run) {
  if (run.verdict == model::Verdict::kInterrupted) return false;
  return run.verdict != model::Verdict::kError ||
         std::ranges::all_of(run.workflows, [](const model::WorkflowResult& workflow) {
           return workflow.state == model::WorkflowState::kCompleted;
         });
}

void note_run(std::vector<std::string>& notes, const model::RunResult& run, std::string_view which) {
  if (!ended_by_itself(run)) {
    notes.push_back(fmt::format("the run {} did not end by itself ({})", which, run.reason));
  }
  if (run.marks.empty()) return;
  std::string ids;
  for (const model::Mark& mark : run.marks) ids += (ids.empty() ? "" : ", ") + mark.id;
  notes.push_back(fmt::format("the run {} is marked ({}): its numbers are to be read with care", which, ids));
}

void note_all(Comparison& made, const model::RunResult& before, const model::RunResult& after,
              const StepsCompared& steps, const CompareOptions& options) {
  if (before.job != after.job) {
    made.notes.push_back(fmt::format("the runs are of different jobs: '{}' before, '{}' after", before.job, after.job));
  }
  note_loads(made.notes, before, after);
  const std::size_t seconds = std::min(made.seconds_before, made.seconds_after);
  if (seconds < options.least_seconds) {
    made.notes.push_back(
        fmt::format("too few seconds to judge: {} whole ones before, {} after, {} are needed; run for longer",
                    made.seconds_before, made.seconds_after, options.least_seconds));
  } else if (std::ranges::none_of(std::span(made.deltas).first(kHeadlines), &Delta::judged)) {
    made.notes.push_back(
        fmt::format("too few seconds with requests to judge, {} are needed; ask more often or run for "
                    "longer",
                    options.least_seconds));
  }
  note_run(made.notes, before, "before");
  note_run(made.notes, after, "after");
  if (!steps.gone().empty()) made.notes.push_back("only in the run before: " + names(steps.gone()));
  if (!steps.added().empty()) made.notes.push_back("only in the run after: " + names(steps.added()));
  if (steps.unjudged() > 0) {
    made.notes.push_back(fmt::format("{} steps with few requests are told without intervals", steps.unjudged()));
  }
  if (before.version != after.version) {
    made.notes.push_back(fmt::format("muster was {} before and {} after", before.version, after.version));
  }
}

void conclude(Comparison& made) {
  const std::span<const Delta> headline(made.deltas.data(), std::min(kHeadlines, made.deltas.size()));
  const bool judged = std::ranges::any_of(headline, &Delta::judged);
  const bool worse = std::ranges::any_of(headline, [](const Delta& each) { return each.significant && each.worse; });
  const bool better = std::ranges::any_of(headline, [](const Delta& each) { return each.significant && !each.worse; });
  made.verdict = worse ? ComparisonVerdict::kWorse : ComparisonVerdict::kSame;
  if (!worse && better) made.verdict = ComparisonVerdict::kBetter;
  if (!judged) made.verdict = ComparisonVerdict::kUnknown;
  std::string changes;
  for (const Delta& delta : headline) {
    if (!delta.significant || (worse && !delta.worse)) continue;
    changes += (changes.empty() ? "" : "; ") + change_sentence(delta);
  }
  switch (made.verdict) {
    case ComparisonVerdict::kWorse:
    case ComparisonVerdict::kBetter:
      made.sentence = std::move(changes);
      break;
    case ComparisonVerdict::kSame:
      made.sentence = "no change beyond chance; " + change_sentence(headline.front());
      break;
    case ComparisonVerdict::kUnknown:
      made.sentence = "the runs cannot be judged against each other";
      break;
  }
}

}  // namespace

std::string_view to_text(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kSame:
      return "same";
    case ComparisonVerdict::kWorse:
      return "worse";
    case ComparisonVerdict::kBetter:
      return "better";
    case ComparisonVerdict::kUnknown:
      return "unknown";
  }
  return "unknown";
}

RunIdentity identity_of(const model::RunResult& run, std::string otherwise) {
  RunIdentity identity;
  identity.id = run.id.empty() ? std::move(otherwise) : run.id;
  identity.job = run.job;
  identity.version = run.version;
  identity.started = run.started;
  identity.elapsed = run.elapsed;
  identity.verdict = run.verdict;
  identity.requests = totals(run).requests;
  return identity;
}

Comparison compare(const model::RunResult& before, RunIdentity before_is, const model::RunResult& after,
                   RunIdentity after_is, const CompareOptions& options) {
  Comparison made;
  made.before = std::move(before_is);
  made.after = std::move(after_is);
  {
    const PlaceSide first = side_of(before);
    const PlaceSide second = side_of(after);
    made.seconds_before = first.seconds;
    made.seconds_after = second.seconds;
    made.deltas = deltas_of(first, second, options, true);
  }
  const std::span<Delta> whole(made.deltas);
  for (Delta& delta : whole.first(kHeadlines)) delta.headline = true;
  judge_family(whole.first(kHeadlines), options, metrics::holm);

  StepsCompared steps(before, after, options);
  std::vector<std::vector<Delta>> places = steps.take();
  std::vector<Delta> rest(made.deltas.begin() + kHeadlines, made.deltas.end());
  const std::size_t of_the_run = rest.size();
  for (std::vector<Delta>& place : places) rest.insert(rest.end(), place.begin(), place.end());
  judge_family(rest, options, metrics::benjamini_hochberg);

  made.deltas.resize(kHeadlines);
  made.deltas.insert(made.deltas.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(of_the_run));
  std::vector<std::span<const Delta>> ordered;
  for (std::size_t at = of_the_run, i = 0; i != places.size(); at += places[i++].size()) {
    ordered.push_back(std::span<const Delta>(rest).subspan(at, places[i].size()));
  }
  std::ranges::sort(ordered, [](const auto& a, const auto& b) {
    return weight(a) != weight(b) ? weight(a) > weight(b) : a.data() < b.data();
  });
  for (const std::span<const Delta> place : ordered) made.deltas.insert(made.deltas.end(), place.begin(), place.end());
  note_all(made, before, after, steps, options);
  conclude(made);
  return made;
}

bool significant_among(const Delta& delta, std::size_t questions, const CompareOptions& options) {
  return delta.judged && delta.p * static_cast<double>(std::max<std::size_t>(questions, 1)) <= options.alpha &&
         large_enough(delta, options);
}

}  // namespace muster::report
