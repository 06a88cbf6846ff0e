#include "report/summary_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures.h"
#include "report/text_layout.h"
#include "report/threshold_text.h"

namespace muster::report {
namespace {

using model::RunResult;
using model::StepResult;
using model::WorkflowResult;

struct NamedCheck {
  std::string_view step;
  const model::CheckResult* check;
};

std::string number(std::uint64_t count) {
  return count < 10'000'000'000 ? grouped(count) : short_count(count);
}

void put_checks(Page& page, const RunResult& run, std::size_t most_rows) {
  std::vector<NamedCheck> failed;
  std::vector<NamedCheck> held;
  std::uint64_t times = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      for (const model::CheckResult& check : step.checks) {
        (check.failed > 0 ? failed : held).push_back({step.name, &check});
        if (check.failed == 0) times += check.ok;
      }
    }
  }
  if (failed.empty() && held.empty()) return;
  page.heading("checks");
  std::size_t rows = 0;
  const auto row = [&](const NamedCheck& named, std::string_view sign, Ink colour) {
    const std::uint64_t all = named.check->ok + named.check->failed;
    page.item_row(
        sign, colour, fmt::format("{}: {}", named.step, named.check->label),
        fmt::format("{} of {}  {}", number(named.check->ok), number(all), right(percentage(named.check->ok, all), 6)),
        colour == Ink::kBad ? Ink::kBad : Ink::kPlain);
  };
  for (const NamedCheck& named : failed) {
    if (++rows <= most_rows) row(named, page.signs().bad, Ink::kBad);
  }
  if (rows > most_rows) {
    page.item(page.signs().bad, Ink::kBad, fmt::format("and {} more that failed", rows - most_rows));
  }
  constexpr std::size_t kListed = 8;
  if (held.size() <= kListed) {
    for (const NamedCheck& named : held) row(named, page.signs().good, Ink::kGood);
  } else {
    page.item(page.signs().good, Ink::kGood,
              fmt::format("{}{} checks held, all {} times", failed.empty() ? "all " : "", held.size(), grouped(times)));
  }
}

void put_metrics(Page& page, const RunResult& run) {
  bool any = false;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const model::UserMetric& metric : workflow.metrics) {
      if (!any) page.heading("metrics");
      any = true;
      std::string value;
      const auto at = [&](double q) { return plain_number(model::quantile(metric, q)); };
      switch (metric.type) {
        case model::MetricType::kCounter:
          value = plain_number(metric.sum);
          break;
        case model::MetricType::kGauge:
          value = fmt::format("last {}  min {}  max {}", plain_number(metric.last), plain_number(metric.min),
                              plain_number(metric.max));
          break;
        case model::MetricType::kRate:
          value = fmt::format("{} of {}  {}", grouped(metric.trues), grouped(metric.count),
                              right(percentage(metric.trues, metric.count), 6));
          break;
        case model::MetricType::kTrend:
          value = fmt::format("p50 {}  p95 {}  max {}", at(0.5), at(0.95), plain_number(metric.max));
          break;
      }
      page.item_row(page.signs().dot, Ink::kDim, metric.name, value);
    }
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
  std::string_view step;  // of the sample
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
    // One sample may quote a server at length: two lines are enough to recognise it.
    constexpr std::size_t kMostLines = 2;
    const std::size_t room = page.columns() - kIndent;
    const std::string text = truncated(page.cut(lines[i].step, room / 2) + ": " + page.safe(lines[i].sample->detail),
                                       kMostLines * room - room / 4, page.unicode());
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
