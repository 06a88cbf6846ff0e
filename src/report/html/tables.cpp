#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "report/figures.h"
#include "report/html/options.h"
#include "report/html/sections.h"
#include "report/totals.h"

namespace muster::report::html {
namespace {

using model::StepResult;
using model::WorkflowResult;

// Counts the rows of a table, and those that would be too many.
class RowLimit {
 public:
  bool take() {
    if (rows_ < kMaxRows) {
      ++rows_;
      return true;
    }
    ++left_out_;
    return false;
  }
  std::size_t left_out() const { return left_out_; }

 private:
  std::size_t rows_ = 0;
  std::size_t left_out_ = 0;
};

// Scripts turn a name with data-scope into a button that shows its charts.
void put_name(Markup& page, std::string_view name, std::optional<std::size_t> scope) {
  if (scope) {
    page.put("<th scope=\"row\" data-scope=\"{}\">{}</th>", *scope, name);
  } else {
    page.put("<th scope=\"row\">{}</th>", name);
  }
}

std::string_view state_kind(model::WorkflowState state) {
  switch (state) {
    case model::WorkflowState::kCompleted:
      return "good";
    case model::WorkflowState::kFailed:
    case model::WorkflowState::kLost:
    case model::WorkflowState::kTimedOut:
      return "bad";
    default:
      return "warn";
  }
}

// How busy the workflow's busiest core was, from 0 to 1; negative where that is not known.
double busiest_core(const WorkflowResult& workflow) {
  double most = -1;
  for (const model::CoreUse& core : workflow.cores) {
    if (core.elapsed <= base::Duration::zero()) continue;
    most = std::max(most, std::min(base::seconds(core.busy) / base::seconds(core.elapsed), 1.0));
  }
  return most;
}

struct WorkflowTable {
  bool several = false;
  bool open = false;  // any of them
};

void put_workflow(Markup& page, const WorkflowTable& table, const WorkflowResult& workflow,
                  std::optional<std::size_t> scope) {
  const Totals sum = totals(workflow);
  page.raw("<tr>");
  put_name(page, workflow.name, scope);
  page.put("<td><span class=\"{}\">{}</span>, {}", state_kind(workflow.state), model::to_text(workflow.state),
           workflow.open ? "open" : "closed");
  if (!workflow.reason.empty()) page.put("<br><small>{}</small>", workflow.reason);
  page.raw("</td>");
  if (table.several) put_cell(page, base::seconds(truly_began(workflow)), clock_time(truly_began(workflow)));
  put_time(page, workflow.elapsed);
  put_count(page, workflow.peak_vus);
  put_count(page, workflow.iterations);
  put_failed(page, workflow.failed_iterations, workflow.iterations);
  put_count(page, sum.requests);
  put_cell(page, sum.rate(), short_rate(sum.rate()));
  put_failed(page, sum.failed, sum.requests);
  put_quantiles(page, sum.latency);
  if (table.open && workflow.open) {
    put_cell(page, static_cast<double>(workflow.dropped), grouped(workflow.dropped), workflow.dropped > 0 ? "bad" : "");
    put_count(page, workflow.queued);
  } else if (table.open) {
    put_cell(page, -1, "–");
    put_cell(page, -1, "–");
  }
  const double busy = busiest_core(workflow);
  put_cell(page, busy, busy < 0 ? "–" : fmt::format("{} × {:.0f}%", workflow.cores.size(), busy * 100));
  page.raw("</tr>\n");
}

bool any_service(const model::RunResult& run) {
  return std::ranges::any_of(run.workflows, [](const WorkflowResult& workflow) {
    return std::ranges::any_of(workflow.steps, [](const StepResult& step) { return !step.service.empty(); });
  });
}

// Columns that not every run needs.
struct StepColumns {
  bool several = false;  // workflows
  bool service = false;
  bool skipped = false;
  bool retried = false;
};

StepColumns table_of(const model::RunResult& run) {
  StepColumns table{.several = run.workflows.size() > 1, .service = any_service(run)};
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      table.skipped = table.skipped || (shown(step) && step.skipped > 0);
      table.retried = table.retried || (shown(step) && step.retried > 0);
    }
  }
  return table;
}

void put_step(Markup& page, const StepColumns& table, const WorkflowResult& workflow, const StepResult& step,
              std::optional<std::size_t> scope) {
  const Totals sum = totals(step, workflow.elapsed);
  page.raw("<tr>");
  put_name(page, step.name, scope);
  if (table.several) page.put("<td>{}</td>", workflow.name);
  page.put("<td>{}", step.kind);
  for (const auto& [name, value] : step.tags) page.put("<br><small>{}={}</small>", name, value);
  page.raw("</td>");
  put_count(page, sum.requests);
  put_cell(page, sum.rate(), short_rate(sum.rate()));
  put_failed(page, sum.failed, sum.requests);
  if (table.skipped) put_count(page, sum.skipped);
  if (table.retried) put_count(page, sum.retried);
  if (sum.latency.empty()) {
    put_cell(page, -1, "–");
  } else {
    put_time(page, sum.latency.mean());
  }
  put_quantiles(page, sum.latency);
  if (table.service && sum.service.empty()) put_cell(page, -1, "–");
  if (table.service && !sum.service.empty()) put_time(page, sum.service.quantile(0.95));
  put_count(page, sum.connections);
  put_cell(page, static_cast<double>(sum.bytes_in), size_text(sum.bytes_in));
  put_cell(page, static_cast<double>(sum.bytes_out), size_text(sum.bytes_out));
  page.raw("</tr>\n");
}

bool has_phases(const StepResult& step) {
  return std::ranges::any_of(step.phases, [](const metrics::CoarseHistogram& phase) { return !phase.empty(); });
}

// What each phase adds to the mean request, in seconds: a connection that was kept open adds nothing to connect.
std::array<double, model::kPhases> shares_of(const StepResult& step) {
  std::array<double, model::kPhases> shares{};
  const auto requests = static_cast<double>(std::max<std::uint64_t>(step.ok + step.failed, 1));
  for (std::size_t i = 0; i != shares.size(); ++i) {
    shares[i] = static_cast<double>(step.phases[i].totals().sum) / 1e9 / requests;
  }
  return shares;
}

void put_phase_bar(Markup& page, const std::array<double, model::kPhases>& shares) {
  double all = 0;
  for (const double share : shares) all += share;
  put_cell(page, all, short_time(base::from_seconds(all), true));
  page.raw("<td><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" role=\"img\">");
  std::string title;
  for (std::size_t i = 0; i != shares.size(); ++i) {
    if (shares[i] <= 0) continue;
    title += fmt::format("{}{} {}", title.empty() ? "" : ", ", model::to_text(static_cast<model::Phase>(i)),
                         short_time(base::from_seconds(shares[i]), true));
  }
  page.put("<title>{}</title>", title);
  double at = 0;
  for (std::size_t i = 0; i != shares.size(); ++i) {
    const double width = all > 0 ? 100 * shares[i] / all : 0;
    if (width > 0) page.put("<rect class=\"phase{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"10\"/>", i, at, width);
    at += width;
  }
  page.raw("</svg></td>");
}

void put_phase_row(Markup& page, bool several, const WorkflowResult& workflow, const StepResult& step) {
  page.put("<tr><th scope=\"row\">{}</th>", step.name);
  if (several) page.put("<td>{}</td>", workflow.name);
  put_phase_bar(page, shares_of(step));
  for (const metrics::CoarseHistogram& phase : step.phases) {
    if (phase.empty()) {
      put_cell(page, -1, "–");
    } else {
      put_cell(page, base::seconds(phase.quantile(0.95)),
               fmt::format("{} · {}", short_time(phase.quantile(0.5), true), short_time(phase.quantile(0.95), true)));
    }
  }
  page.raw("</tr>\n");
}

}  // namespace

void put_workflows(Markup& page, const model::RunResult& run, const TimelineData& data) {
  if (run.workflows.empty()) return;
  const WorkflowTable table{.several = run.workflows.size() > 1, .open = load_model(run) != LoadModel::kClosed};
  std::vector<std::string_view> columns = {"Workflow", "State, model"};
  if (table.several) columns.emplace_back("#Began");
  for (const std::string_view column : {"#Counted", "#Peak VUs", "#Iterations", "#Failed", "#Requests", "#Requests/s",
                                        "#Failed", "#p50", "#p95", "#p99", "#Max"}) {
    columns.push_back(column);
  }
  if (table.open) {
    columns.emplace_back("#Dropped");
    columns.emplace_back("#Queued");
  }
  columns.emplace_back("#Cores");

  put_section(page, "workflows", "Workflows");
  put_table(page, "Workflows", columns);
  RowLimit rows;
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    if (rows.take()) put_workflow(page, table, run.workflows[i], data.find(i));
  }
  end_table(page, rows.left_out());
  end_section(page);
}

void put_steps(Markup& page, const model::RunResult& run, const TimelineData& data) {
  const bool any = std::ranges::any_of(
      run.workflows, [](const WorkflowResult& workflow) { return std::ranges::any_of(workflow.steps, shown); });
  if (!any) return;
  const StepColumns table = table_of(run);
  std::vector<std::string_view> columns = {"Step"};
  if (table.several) columns.emplace_back("Workflow");
  for (const std::string_view column : {"Kind", "#Requests", "#Requests/s", "#Failed"}) columns.push_back(column);
  if (table.skipped) columns.emplace_back("#Skipped");
  if (table.retried) columns.emplace_back("#Retried");
  for (const std::string_view column : {"#Mean", "#p50", "#p95", "#p99", "#Max"}) columns.push_back(column);
  if (table.service) columns.emplace_back("#Service p95");
  for (const std::string_view column : {"#Connections", "#Received", "#Sent"}) columns.push_back(column);

  put_section(page, "steps", "Steps");
  put_table(page, "Steps", columns);
  RowLimit rows;
  for (std::size_t i = 0; i != run.workflows.size(); ++i) {
    for (std::size_t j = 0; j != run.workflows[i].steps.size(); ++j) {
      const StepResult& step = run.workflows[i].steps[j];
      if (!shown(step) || never_called(run.workflows[i], step)) continue;
      if (rows.take()) put_step(page, table, run.workflows[i], step, data.find(i, j));
    }
  }
  end_table(page, rows.left_out());
  if (data.steps_left_out > 0) {
    page.put("<p class=\"about\">Charts show the {} busiest steps; {} more are only in this table.</p>\n",
             kMaxChartedSteps, grouped(data.steps_left_out));
  }
  end_section(page);
}

void put_phases(Markup& page, const model::RunResult& run) {
  const bool any = std::ranges::any_of(
      run.workflows, [](const WorkflowResult& workflow) { return std::ranges::any_of(workflow.steps, has_phases); });
  if (!any) return;
  put_section(page, "phases", "Where the time goes",
              "The bar is the mean request; connecting counts only where a connection was opened. Each phase: median · "
              "p95.");
  page.raw("<ul class=\"legend\">");
  for (std::size_t i = 0; i != model::kPhases; ++i) {
    page.put("<li><i class=\"phase{}\"></i>{}</li>", i, model::to_text(static_cast<model::Phase>(i)));
  }
  page.raw("</ul>\n");
  const bool several = run.workflows.size() > 1;
  std::vector<std::string_view> columns = {"Step"};
  if (several) columns.emplace_back("Workflow");
  for (const std::string_view column : {"#Mean", "Share", "#DNS", "#Connect", "#TLS", "#Wait", "#Receive"}) {
    columns.push_back(column);
  }
  put_table(page, "Where the time goes", columns);
  RowLimit rows;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      if (has_phases(step) && rows.take()) put_phase_row(page, several, workflow, step);
    }
  }
  end_table(page, rows.left_out());
  end_section(page);
}

void put_tagged(Markup& page, const model::RunResult& run) {
  const bool any =
      std::ranges::any_of(run.workflows, [](const WorkflowResult& workflow) { return !workflow.tagged.empty(); });
  if (!any) return;
  put_section(page, "tags", "Tags");
  put_table(page, "Tags", {"Tags", "Workflow", "#Requests", "#Failed", "#p50", "#p95", "#p99", "#Max"});
  RowLimit rows;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const model::TaggedResult& row : by_tags(workflow)) {
      if (!rows.take()) continue;
      page.put("<tr><th scope=\"row\">{}</th><td>{}</td>", row.tags, workflow.name);
      put_count(page, row.ok + row.failed);
      put_failed(page, row.failed, row.ok + row.failed);
      put_quantiles(page, row.latency);
      page.raw("</tr>\n");
    }
  }
  end_table(page, rows.left_out());
  end_section(page);
}

}  // namespace muster::report::html
