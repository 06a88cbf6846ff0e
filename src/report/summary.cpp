#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "report/figures.h"
#include "report/page.h"
#include "report/summary_findings.h"
#include "report/text_layout.h"
#include "report/totals.h"

namespace muster::report {
namespace {

using model::RunResult;
using model::StepResult;
using model::Verdict;
using model::WorkflowResult;

void put_verdict(Page& page, const RunResult& run) {
  const Signs& signs = page.signs();
  std::string_view sign = signs.bad;
  std::string_view word = "FAILED";
  Ink colour = Ink::kBad;
  switch (run.verdict) {
    case Verdict::kPassed:
      sign = signs.good;
      word = "PASSED";
      colour = Ink::kGood;
      break;
    case Verdict::kFailed:
      break;
    case Verdict::kInterrupted:
      sign = signs.warn;
      word = "INTERRUPTED";
      colour = Ink::kWarn;
      break;
    case Verdict::kError:
      word = "ERROR";
      break;
  }
  const std::string verdict = page.unicode() ? fmt::format("{} {}", sign, word) : std::string(word);
  const std::string doubt = run.marks.empty() ? "" : fmt::format("{} marked", page.signs().warn);
  const std::size_t room = page.columns() - width(verdict) - width(doubt) - 4;
  std::string top = page.ink(verdict, colour) + "  " + page.ink(page.cut(run.job, room), Ink::kBold);
  if (!doubt.empty()) top += "  " + page.ink(doubt, Ink::kWarn);
  page.line(top);
  for (const std::string& part : wrapped(page.safe(run.reason), page.columns() - 2)) page.line("  " + part);
  page.blank();
}

// Of the busiest core: the share of its time that its thread was busy.
double busiest(const RunResult& run) {
  double most = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const model::CoreUse& core : workflow.cores) {
      if (core.elapsed > base::Duration::zero()) {
        most = std::max(most, base::seconds(core.busy) / base::seconds(core.elapsed));
      }
    }
  }
  return std::min(most, 1.0);
}

std::string plural(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string load_text(LoadModel load) {
  switch (load) {
    case LoadModel::kClosed:
      return "closed loop: latency is service time; a stalled server also slows the load";
    case LoadModel::kOpen:
      return "open: latency counts from when each arrival was due, so a stalled server shows in full";
    case LoadModel::kMixed:
      return "mixed: latency of open workflows counts from when each arrival was due, that of closed ones is service "
             "time";
  }
  return {};
}

void put_run(Page& page, const RunResult& run, const Totals& sum) {
  const std::string_view dot = page.separator();
  const std::uint64_t vus = peak_vus(run);
  const std::uint64_t cores = peak_cores(run);
  std::string ran = short_time(run.elapsed, page.unicode());
  if (const base::Duration counted = sum.counted - sum.gaps; counted < run.elapsed * 99 / 100) {
    ran += fmt::format(" ({} of it counted)", short_time(counted, page.unicode()));
  }
  ran += fmt::format("{}up to {}", dot, plural(vus, "VU"));
  if (cores > 0) {
    ran +=
        fmt::format("{}{} {}{:.0f}% busy", dot, plural(cores, "core"), cores > 1 ? "up to " : "", busiest(run) * 100);
  }
  if (sum.gaps > sum.counted / 100) ran += fmt::format("{}rate over {}", dot, short_time(sum.counted, page.unicode()));
  page.fact("run", ran);
  page.fact("load", load_text(load_model(run)), Ink::kDim);

  const Ink failed = sum.failed > 0 ? Ink::kBad : Ink::kGood;
  page.line("  " + page.ink(left("requests", Page::kLabel - 2), Ink::kDim) +
            page.ink(grouped(sum.requests), Ink::kBold) + std::string(dot) + short_rate(sum.rate()) + "/s" +
            std::string(dot) +
            page.ink(sum.failed == 0
                         ? std::string("none failed")
                         : fmt::format("{} failed ({})", grouped(sum.failed), percentage(sum.failed, sum.requests)),
                     failed));
  const double counted = std::max(base::seconds(sum.counted), 1e-9);
  const auto per_second = [&](std::uint64_t bytes) {
    return size_text(static_cast<std::uint64_t>(static_cast<double>(bytes) / counted));
  };
  page.fact("data", fmt::format("{} in ({}/s){}{} out ({}/s)", size_text(sum.bytes_in), per_second(sum.bytes_in), dot,
                                size_text(sum.bytes_out), per_second(sum.bytes_out)));
}

std::string arrivals_text(const Page& page, const WorkflowResult& workflow) {
  const std::string_view dot = page.separator();
  std::string text = fmt::format("{} due", grouped(workflow.arrivals));
  text += fmt::format("{}{} dropped", dot, workflow.dropped == 0 ? "none" : grouped(workflow.dropped));
  if (workflow.dropped > 0) text += fmt::format(" ({})", percentage(workflow.dropped, workflow.arrivals));
  const std::uint64_t issued = workflow.iterations + workflow.interrupted + workflow.dropped;
  if (workflow.state == model::WorkflowState::kCompleted && issued < workflow.arrivals) {
    const std::uint64_t missed = workflow.arrivals - issued;
    text += fmt::format("{}{} never issued ({})", dot, grouped(missed), percentage(missed, workflow.arrivals));
  }
  if (workflow.queued > 0) {
    text += fmt::format("{}{} waited for a VU ({})", dot, grouped(workflow.queued),
                        percentage(workflow.queued, workflow.arrivals));
  }
  return text;
}

void put_load(Page& page, const RunResult& run) {
  const std::string_view dot = page.separator();
  std::uint64_t iterations = 0;
  std::uint64_t failed = 0;
  std::uint64_t interrupted = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    iterations += workflow.iterations;
    failed += workflow.failed_iterations;
    interrupted += workflow.interrupted;
  }
  std::string text = grouped(iterations);
  if (failed > 0) text += fmt::format("{}{} failed ({})", dot, grouped(failed), percentage(failed, iterations));
  if (interrupted > 0) text += fmt::format("{}{} cut short at the end", dot, grouped(interrupted));
  page.fact("iterations", text);
  // Of several workflows, each has its own under its name.
  if (run.workflows.size() == 1 && run.workflows.front().open) {
    page.fact("arrivals", arrivals_text(page, run.workflows.front()));
  }
}

void put_times(Page& page, const Totals& sum) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kQuantiles = {
      {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}};
  constexpr std::size_t kCell = 8;
  constexpr std::size_t kFirst = Page::kLabel - 2;
  if (sum.latency.empty() && sum.lateness.empty()) return;
  std::string head = std::string(kFirst, ' ') + right("min", kCell) + right("mean", kCell);
  for (const auto& [name, q] : kQuantiles) head += right(name, kCell);
  page.blank();
  page.line(page.ink(head + right("max", kCell), Ink::kDim));
  const auto row = [&](std::string_view label, const metrics::Histogram& histogram) {
    if (histogram.empty()) return;
    const auto cell = [&](base::Duration value) { return right(short_time(value, page.unicode()), kCell); };
    std::string text = "  " + page.ink(left(label, kFirst - 2), Ink::kDim);
    text += cell(histogram.min()) + cell(histogram.mean());
    for (const auto& [name, q] : kQuantiles) text += cell(histogram.quantile(q));
    page.line(text + cell(histogram.max()));
  };
  row("latency", sum.latency);
  row("service", sum.service);
  row("lateness", sum.lateness);
}

// Steps that make requests, and others that took time of their own (named groups) or failed.
bool worth_a_row(const WorkflowResult& workflow, const StepResult& step) {
  if (never_called(workflow, step)) return false;
  if (step.role == model::StepRole::kTest) return true;
  if (step.role == model::StepRole::kControl) return step.kind == "group" && !step.latency.empty();
  return step.failed > 0;
}

class StepTable {
 public:
  StepTable(Page& page, const RunResult& run, std::size_t most_rows)
      : page_(page), run_(run), most_rows_(most_rows), several_(run.workflows.size() > 1) {
    std::size_t longest = 8;
    for (const WorkflowResult& workflow : run.workflows) {
      for (const StepResult& step : workflow.steps) {
        if (worth_a_row(workflow, step)) longest = std::max(longest, width(page.safe(step.name)));
      }
    }
    name_ = std::min(longest, page.columns() - kFixed - indent());
  }

  void put() {
    page_.blank();
    page_.line(page_.ink(std::string(indent(), ' ') + left("step", name_) + right("requests", 9) + right("req/s", 8) +
                             right("failed", 8) + right("p50", 8) + right("p95", 8) + right("p99", 8) + right("max", 8),
                         Ink::kDim));
    for (const WorkflowResult& workflow : run_.workflows) {
      if (several_) heading(workflow);
      rows(workflow);
    }
  }

 private:
  static constexpr std::size_t kFixed = 9 + 6 * 8;

  std::size_t indent() const { return several_ ? 4 : 2; }

  // What stands behind a workflow's name, in lines of at most `room` columns.
  std::vector<std::string> fact_lines(const WorkflowResult& workflow, std::size_t room) const {
    std::vector<std::string> facts = {std::string(model::to_text(workflow.state)), workflow.open ? "open" : "closed",
                                      short_time(workflow.elapsed, page_.unicode()),
                                      "up to " + plural(workflow.peak_vus, "VU"),
                                      plural(workflow.iterations, "iteration")};
    if (workflow.failed_iterations > 0) {
      facts.push_back(workflow.every_iteration_failed() ? "all failed"
                                                        : grouped(workflow.failed_iterations) + " failed");
    }
    std::vector<std::string> lines(1);
    for (std::size_t i = 0; i != facts.size(); ++i) {
      if (i + 1 != facts.size()) facts[i] += ',';
      if (!lines.back().empty() && width(lines.back()) + 1 + width(facts[i]) > room) lines.emplace_back();
      if (!lines.back().empty()) lines.back() += ' ';
      lines.back() += facts[i];
    }
    return lines;
  }

  void heading(const WorkflowResult& workflow) {
    const std::size_t room = page_.columns() - 2;
    const std::string before(indent(), ' ');
    const std::size_t inside = page_.columns() - indent();
    const std::string name = page_.cut(workflow.name, room / 3);
    std::string line = "  " + page_.ink(name, Ink::kBold) + "  ";
    // Between facts only: one that is cut would be false.
    for (const std::string& part : fact_lines(workflow, room - width(name) - 2)) {
      page_.line(line + page_.ink(part, Ink::kDim));
      line = before;
    }
    for (const std::string& part : wrapped(page_.safe(workflow.reason), inside)) {
      page_.line(before + page_.ink(part, Ink::kWarn));
    }
    if (!workflow.open || workflow.arrivals == 0) return;
    for (const std::string& part : wrapped("arrivals: " + arrivals_text(page_, workflow), inside)) {
      page_.line(before + page_.ink(part, Ink::kDim));
    }
  }

  void rows(const WorkflowResult& workflow) {
    std::size_t shown = 0;
    std::size_t hidden = 0;
    for (const StepResult& step : workflow.steps) {
      if (!worth_a_row(workflow, step)) continue;
      if (shown == most_rows_) {
        ++hidden;
        continue;
      }
      row(step, workflow.elapsed);
      ++shown;
    }
    if (hidden > 0) {
      page_.line(std::string(indent(), ' ') +
                 page_.ink(fmt::format("and {} more, in the JSON summary", plural(hidden, "step")), Ink::kDim));
    }
  }

  void row(const StepResult& step, base::Duration counted) {
    const Totals sum = totals(step, counted);
    const auto cell = [&](double q) {
      if (sum.latency.empty()) return right(page_.signs().none, 8);
      return right(short_time(sum.latency.quantile(q), page_.unicode()), 8);
    };
    std::string failed = percentage(sum.failed, sum.requests);
    page_.line(std::string(indent(), ' ') + left(page_.cut(step.name, name_), name_) +
               right(short_count(sum.requests), 9) + right(short_rate(sum.rate()), 8) +
               page_.ink(right(failed, 8), sum.failed > 0 ? Ink::kBad : Ink::kPlain) + cell(0.5) + cell(0.95) +
               cell(0.99) + cell(1.0));
  }

  Page& page_;
  const RunResult& run_;
  std::size_t most_rows_;
  bool several_;
  std::size_t name_ = 0;
};

}  // namespace

std::string summary(const RunResult& run, const SummaryOptions& options) {
  Page page(options.colour, options.unicode, std::max<std::size_t>(options.columns, 80));
  const Totals sum = totals(run);
  put_verdict(page, run);
  if (sum.counted == base::Duration::zero() && sum.requests == 0) {
    page.fact("run",
              fmt::format("{}{}nothing was measured", short_time(run.elapsed, options.unicode), page.separator()));
    put_findings(page, run, options.most_rows);
    return page.take();
  }
  put_run(page, run, sum);
  put_load(page, run);
  put_times(page, sum);
  if (!run.workflows.empty()) StepTable(page, run, options.most_rows).put();
  put_findings(page, run, options.most_rows);
  return page.take();
}

}  // namespace muster::report
