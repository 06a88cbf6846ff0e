#include "report/summary_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures.h"
#include "report/text_layout.h"
#include "report/threshold_text.h"
#include "report/totals.h"

namespace muster::report {
namespace {

using model::RunResult;
using model::StepResult;
using model::WorkflowResult;

struct NamedCheck {
  std::string_view workflow;
  std::string_view step;
  const model::CheckResult* check;
};

// The checks of a run by how they went. Every workflow of a script lists all that the script declares: those of steps
// that it never called are left out.
struct SortedChecks {
  std::vector<NamedCheck> failed;
  std::vector<NamedCheck> held;
  std::vector<NamedCheck> never;  // looked at
  std::uint64_t times = 0;        // that those of `held` did
};

SortedChecks sorted_checks(const RunResult& run) {
  SortedChecks sorted;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      if (never_called(workflow, step)) continue;
      for (const model::CheckResult& check : step.checks) {
        std::vector<NamedCheck>& list = check.failed > 0 ? sorted.failed : check.ok > 0 ? sorted.held : sorted.never;
        list.push_back({.workflow = workflow.name, .step = step.name, .check = &check});
        if (check.failed == 0) sorted.times += check.ok;
      }
    }
  }
  return sorted;
}

std::string number(std::uint64_t count) {
  return count < 10'000'000'000 ? grouped(count) : short_count(count);
}

// How often a label is used; where that is more than once, the workflow's name says which is meant.
using LabelUses = std::map<std::string, std::size_t>;

std::string told_apart(const LabelUses& uses, std::string_view workflow, const std::string& label) {
  const auto found = uses.find(label);
  return found != uses.end() && found->second > 1 ? fmt::format("{}: {}", workflow, label) : label;
}

// A check of a script's own is a step of the same name: that is said once.
std::string check_label(const NamedCheck& named) {
  return named.step == named.check->label ? named.check->label : fmt::format("{}: {}", named.step, named.check->label);
}

void put_checks(Page& page, const RunResult& run, std::size_t most_rows) {
  const SortedChecks sorted = sorted_checks(run);
  if (sorted.failed.empty() && sorted.held.empty() && sorted.never.empty()) return;
  LabelUses uses;
  const bool several = run.workflows.size() > 1;
  for (const auto* list : {&sorted.failed, &sorted.held, &sorted.never}) {
    for (const NamedCheck& named : *list) {
      if (several) ++uses[check_label(named)];
    }
  }
  page.heading("checks");
  const auto row = [&](const NamedCheck& named, std::string_view sign, Ink colour) {
    const std::uint64_t all = named.check->ok + named.check->failed;
    const std::string share = all > 0 ? percentage(named.check->ok, all) : std::string(page.signs().none);
    page.item_row(sign, colour, told_apart(uses, named.workflow, check_label(named)),
                  fmt::format("{} of {}  {}", number(named.check->ok), number(all), right(share, 6)),
                  colour == Ink::kBad ? Ink::kBad : Ink::kPlain);
  };
  const auto rows = [&](const std::vector<NamedCheck>& list, std::string_view sign, Ink colour, std::string_view what) {
    for (std::size_t i = 0; i < std::min(list.size(), most_rows); ++i) row(list[i], sign, colour);
    if (list.size() > most_rows) page.item(sign, colour, fmt::format("and {} more {}", list.size() - most_rows, what));
  };
  rows(sorted.failed, page.signs().bad, Ink::kBad, "that failed");
  constexpr std::size_t kListed = 8;
  if (sorted.held.size() <= kListed) {
    for (const NamedCheck& named : sorted.held) row(named, page.signs().good, Ink::kGood);
  } else {
    const bool all = sorted.failed.empty() && sorted.never.empty();
    page.item(
        page.signs().good, Ink::kGood,
        fmt::format("{}{} checks held, all {} times", all ? "all " : "", sorted.held.size(), grouped(sorted.times)));
  }
  rows(sorted.never, page.signs().none, Ink::kWarn, "that nothing reached");
}

std::string metric_value(const model::UserMetric& metric) {
  const bool measures = metric.type == model::MetricType::kGauge || metric.type == model::MetricType::kTrend;
  if (measures && metric.count == 0) return "no value";
  const auto at = [&](double q) { return plain_number(model::quantile(metric, q)); };
  switch (metric.type) {
    case model::MetricType::kCounter:
      return plain_number(metric.sum);
    case model::MetricType::kGauge:
      return fmt::format("last {}  min {}  max {}", plain_number(metric.last), plain_number(metric.min),
                         plain_number(metric.max));
    case model::MetricType::kRate:
      return fmt::format("{} of {}  {}", grouped(metric.trues), grouped(metric.count),
                         right(percentage(metric.trues, metric.count), 6));
    case model::MetricType::kTrend:
      return fmt::format("p50 {}  p95 {}  max {}", at(0.5), at(0.95), plain_number(metric.max));
  }
  return {};
}

void put_metrics(Page& page, const RunResult& run) {
  struct Row {
    std::string_view workflow;
    const model::UserMetric* metric;
  };
  std::vector<Row> rows;
  LabelUses uses;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const model::UserMetric& metric : workflow.metrics) {
      // As with steps: a script's workflow lists those of all of them.
      if (workflow.scripted && metric.count == 0) continue;
      rows.push_back({.workflow = workflow.name, .metric = &metric});
      ++uses[metric.name];
    }
  }
  if (!rows.empty()) page.heading("metrics");
  for (const Row& row : rows) {
    page.item_row(page.signs().dot, Ink::kDim, told_apart(uses, row.workflow, row.metric->name),
                  metric_value(*row.metric));
  }
}

void put_thresholds(Page& page, const RunResult& run) {
  if (run.thresholds.empty()) return;
  page.heading("thresholds");
  for (const model::ThresholdVerdict& verdict : run.thresholds) {
    const std::string text = threshold_text(verdict);
    if (!verdict.judged) {
      const std::string why = fmt::format("not judged, {} samples", short_count(verdict.samples));
      const std::size_t room = page.columns() - 8 - width(why);
      if (width(text) <= room) {
        page.item_row(page.signs().none, Ink::kWarn, text, why, Ink::kWarn);
      } else {
        page.item(page.signs().none, Ink::kWarn, fmt::format("{}: {}", page.safe(text), why), Ink::kWarn);
      }
      continue;
    }
    std::string value = measured_text(verdict, page.unicode());
    if (!verdict.passed) {
      value = fmt::format("{} {}  {}", verdict.aborted ? "ended the run at" : "failed at",
                          short_time(verdict.failed_at, page.unicode()), right(value, 8));
    }
    page.item_row(verdict.passed ? page.signs().good : page.signs().bad, verdict.passed ? Ink::kGood : Ink::kBad, text,
                  value, verdict.passed ? Ink::kPlain : Ink::kBad);
  }
}

struct ErrorLine {
  std::uint64_t count = 0;
  const model::ErrorSample* sample = nullptr;
  std::string_view step;      // of the sample
  std::uint64_t of_step = 0;  // how many of `count` are that step's
};

// Control steps fail because a step inside them failed: counting both would tell each failure twice.
std::array<ErrorLine, model::kErrorClasses> error_lines(const RunResult& run) {
  std::array<ErrorLine, model::kErrorClasses> lines;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      if (step.role == model::StepRole::kControl) continue;
      for (std::size_t i = 0; i != lines.size(); ++i) lines[i].count += step.errors[i];
      for (const model::ErrorSample& sample : step.samples) {
        ErrorLine& line = lines[static_cast<std::size_t>(sample.error)];
        if (line.sample == nullptr) {
          line.sample = &sample;
          line.step = step.name;
          line.of_step = step.errors[static_cast<std::size_t>(sample.error)];
        }
      }
    }
  }
  return lines;
}

void put_errors(Page& page, const RunResult& run) {
  const auto lines = error_lines(run);
  if (std::ranges::all_of(lines, [](const ErrorLine& line) { return line.count == 0; })) return;
  page.heading("errors");
  constexpr std::size_t kIndent = 24;
  for (std::size_t i = 0; i != lines.size(); ++i) {
    if (lines[i].count == 0) continue;
    std::string before = "    " + page.ink(left(model::to_text(static_cast<model::ErrorClass>(i)), 9), Ink::kBad) +
                         right(short_count(lines[i].count), 8) + "   ";
    if (lines[i].sample == nullptr) {
      page.line(before);
      continue;
    }
    // One sample may quote a server at length; what muster says itself fits, up to the advice at its end.
    constexpr std::size_t kMostLines = 4;
    const std::size_t room = page.columns() - kIndent;
    std::string whose = page.cut(lines[i].step, room / 2);
    if (lines[i].of_step < lines[i].count) whose += fmt::format(", {} of them", short_count(lines[i].of_step));
    const std::string text =
        truncated(whose + ": " + page.safe(lines[i].sample->detail), kMostLines * room - room / 4, page.unicode());
    for (const std::string& part : wrapped(text, room)) {
      page.line(before + part);
      before.assign(kIndent, ' ');
    }
  }
}

void put_marks(Page& page, const RunResult& run) {
  if (run.marks.empty()) return;
  page.heading("read these numbers with care");
  for (const model::Mark& mark : run.marks) page.item(page.signs().warn, Ink::kWarn, page.safe(mark.text));
}

void put_notes(Page& page, const RunResult& run, std::size_t most_rows) {
  std::size_t rows = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const auto& [text, count] : workflow.notes) {
      if (rows == 0) page.heading("notes");
      if (++rows > most_rows) return;
      const std::string from = run.workflows.size() > 1 ? fmt::format("{}: ", workflow.name) : std::string();
      const std::string often = count > 1 ? fmt::format(" ({} times)", grouped(count)) : std::string();
      page.item(page.signs().dot, Ink::kDim, page.safe(from + text + often));
    }
  }
}

}  // namespace

void put_findings(Page& page, const RunResult& run, std::size_t most_rows) {
  put_checks(page, run, most_rows);
  put_metrics(page, run);
  put_thresholds(page, run);
  put_errors(page, run);
  put_marks(page, run);
  put_notes(page, run, most_rows);
}

}  // namespace muster::report
