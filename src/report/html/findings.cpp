#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "report/figures.h"
#include "report/html/options.h"
#include "report/html/sections.h"
#include "report/source_mask.h"
#include "report/totals.h"

namespace muster::report::html {
namespace {

using model::StepResult;
using model::WorkflowResult;

struct ClassSum {
  std::uint64_t count = 0;
  std::size_t steps = 0;
  std::string_view first_step;
};

// Control steps fail because a step inside them failed: counting both would tell each failure twice.
std::array<ClassSum, model::kErrorClasses> class_sums(const model::RunResult& run) {
  std::array<ClassSum, model::kErrorClasses> sums;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      if (step.role == model::StepRole::kControl) continue;
      for (std::size_t i = 0; i != sums.size(); ++i) {
        if (step.errors[i] == 0) continue;
        sums[i].count += step.errors[i];
        if (sums[i].steps++ == 0) sums[i].first_step = step.name;
      }
    }
  }
  return sums;
}

void put_bytes(Markup& page, std::string_view label, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view cut = bytes.substr(0, kMaxExampleBytes);
  page.put("<h4>{}</h4>\n<pre tabindex=\"0\">{}</pre>\n", label, Safe{escaped_lines(cut)});
  if (cut.size() < bytes.size()) {
    page.put("<p class=\"about\">the first {} of {} bytes</p>\n", grouped(cut.size()), grouped(bytes.size()));
  }
}

void put_example(Markup& page, const StepResult& step, const model::ErrorSample& sample) {
  page.put("<details><summary><b class=\"bad\">{}</b> {} <small>at {}</small><br>{}</summary>\n",
           model::to_text(sample.error), step.name, clock_time(sample.at), sample.detail);
  put_bytes(page, "Request", sample.request);
  put_bytes(page, "Response", sample.response);
  if (sample.request.empty() && sample.response.empty()) page.raw("<p>No bytes were exchanged.</p>\n");
  page.raw("</details>\n");
}

// One example of each class and step before a second one of any, so that the limit hides as little as can be.
void put_examples(Markup& page, const model::RunResult& run) {
  std::size_t shown_examples = 0;
  std::size_t left_out = 0;
  for (std::size_t round = 0; round != model::kMaxSamplesPerClass; ++round) {
    for (const WorkflowResult& workflow : run.workflows) {
      for (const StepResult& step : workflow.steps) {
        std::array<std::size_t, model::kErrorClasses> seen{};
        for (const model::ErrorSample& sample : step.samples) {
          if (seen[static_cast<std::size_t>(sample.error)]++ != round) continue;
          if (shown_examples == kMaxExamples) {
            ++left_out;
            continue;
          }
          if (shown_examples++ == 0) page.raw("<h3>Examples</h3>\n");
          put_example(page, step, sample);
        }
      }
    }
  }
  if (left_out > 0) {
    page.put("<p class=\"about\">and {} more; the JSON summary (--out json=FILE) has all of them</p>\n",
             plural(left_out, "example"));
  }
}

void put_statuses(Markup& page, const model::RunResult& run) {
  std::map<std::uint32_t, std::uint64_t> statuses;
  std::uint64_t all = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      for (const auto& [status, count] : step.statuses) {
        statuses[status] += count;
        all += count;
      }
    }
  }
  if (statuses.empty()) return;
  page.raw("<h3>Answers by status</h3>\n");
  put_table(page, "Answers by status", {"#Status", "#Answers", "#Share"});
  std::size_t rows = 0;
  for (const auto& [status, count] : statuses) {
    if (rows++ == kMaxRows) break;
    page.raw("<tr>");
    put_cell(page, status, std::to_string(status));
    put_count(page, count);
    put_cell(page, static_cast<double>(count), percentage(count, all));
    page.raw("</tr>\n");
  }
  end_table(page, statuses.size() - std::min(statuses.size(), kMaxRows));
}

std::string metric_text(const model::UserMetric& metric) {
  const bool measures = metric.type == model::MetricType::kGauge || metric.type == model::MetricType::kTrend;
  if (measures && metric.count == 0) return "no value";
  const auto at = [&](double q) { return plain_number(model::quantile(metric, q)); };
  switch (metric.type) {
    case model::MetricType::kCounter:
      return fmt::format("sum {}", plain_number(metric.sum));
    case model::MetricType::kGauge:
      return fmt::format("last {} · min {} · max {}", plain_number(metric.last), plain_number(metric.min),
                         plain_number(metric.max));
    case model::MetricType::kRate:
      return fmt::format("{} of {} · {}", grouped(metric.trues), grouped(metric.count),
                         percentage(metric.trues, metric.count));
    case model::MetricType::kTrend:
      return fmt::format("p50 {} · p95 {} · p99 {} · min {} · max {}", at(0.5), at(0.95), at(0.99),
                         plain_number(metric.min), plain_number(metric.max));
  }
  return {};
}

void put_fact(Markup& page, std::string_view label, std::string_view text) {
  if (!text.empty()) page.put("<div><dt>{}</dt><dd>{}</dd></div>\n", label, text);
}

}  // namespace

void put_checks(Markup& page, const model::RunResult& run) {
  std::size_t rows = 0;
  std::size_t left_out = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const StepResult& step : workflow.steps) {
      if (never_called(workflow, step)) continue;
      for (const model::CheckResult& check : step.checks) {
        if (rows == kMaxRows) {
          ++left_out;
          continue;
        }
        if (rows++ == 0) {
          put_section(page, "checks", "Checks");
          put_table(page, "Checks", {"Verdict", "Step", "Check", "#Held", "#Failed", "#Share that held"});
        }
        const std::uint64_t all = check.ok + check.failed;
        const bool never = all == 0;
        page.put("<tr><td class=\"{}\">{}</td><th scope=\"row\">{}</th><td><code>{}</code></td>",
                 never ? "warn" : (check.failed > 0 ? "bad" : "good"),
                 never ? "never reached" : (check.failed > 0 ? "failed" : "held"), step.name, check.label);
        put_count(page, check.ok);
        put_count(page, check.failed);
        put_cell(page, never ? -1 : static_cast<double>(check.ok) / static_cast<double>(all),
                 never ? "–" : percentage(check.ok, all));
        page.raw("</tr>\n");
      }
    }
  }
  if (rows == 0) return;
  end_table(page, left_out);
  end_section(page);
}

void put_errors(Markup& page, const model::RunResult& run, const Totals& sum) {
  const auto sums = class_sums(run);
  const bool any = std::ranges::any_of(sums, [](const ClassSum& each) { return each.count > 0; });
  put_section(page, "errors", "Errors");
  if (!any) {
    page.raw(sum.requests > 0 ? "<p class=\"good\">No step failed.</p>\n" : "<p>No requests were made.</p>\n");
  } else {
    put_table(page, "Errors by class", {"Class", "#Failures", "#Share of requests", "Where"});
    for (std::size_t i = 0; i != sums.size(); ++i) {
      if (sums[i].count == 0) continue;
      page.put("<tr><th scope=\"row\" class=\"bad\">{}</th>", model::to_text(static_cast<model::ErrorClass>(i)));
      put_count(page, sums[i].count);
      put_cell(page, static_cast<double>(sums[i].count), percentage(sums[i].count, sum.requests));
      page.put("<td>{}{}</td></tr>\n", sums[i].first_step,
               sums[i].steps > 1 ? fmt::format(" and {}", plural(sums[i].steps - 1, "other step")) : std::string());
    }
    end_table(page);
  }
  put_statuses(page, run);
  put_examples(page, run);
  end_section(page);
}

void put_metrics(Markup& page, const model::RunResult& run) {
  std::size_t rows = 0;
  std::size_t left_out = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const model::UserMetric& metric : workflow.metrics) {
      if (rows == kMaxRows) {
        ++left_out;
        continue;
      }
      if (rows++ == 0) {
        put_section(page, "metrics", "Metrics of your own");
        put_table(page, "Metrics", {"Metric", "Workflow", "Type", "#Recorded", "Value"});
      }
      page.put("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>", metric.name, workflow.name,
               model::to_text(metric.type));
      put_count(page, metric.count);
      page.put("<td>{}</td></tr>\n", metric_text(metric));
    }
  }
  if (rows == 0) return;
  end_table(page, left_out);
  end_section(page);
}

void put_notes(Markup& page, const model::RunResult& run) {
  std::size_t rows = 0;
  for (const WorkflowResult& workflow : run.workflows) {
    for (const auto& [text, count] : workflow.notes) {
      if (rows == kMaxRows) break;
      if (rows++ == 0) {
        put_section(page, "notes", "Notes");
        page.raw("<ul>\n");
      }
      page.put("<li>{}{}{}</li>\n", run.workflows.size() > 1 ? workflow.name + ": " : std::string(), text,
               count > 1 ? fmt::format(" ({} times)", grouped(count)) : std::string());
    }
  }
  if (rows == 0) return;
  page.raw("</ul>\n");
  end_section(page);
}

void put_environment(Markup& page, const RunInfo& info, const model::RunResult& run, const HostFacts& host) {
  put_section(page, "environment", "Environment");
  page.raw("<dl class=\"facts\">\n");
  put_fact(page, "Job", run.job.empty() ? info.job : run.job);
  put_fact(page, "Started", utc_time(run.started));
  put_fact(page, "Ran", short_time(run.elapsed, true));
  put_fact(page, "Exit code", std::to_string(run.exit_code));
  put_fact(page, "muster", run.version.empty() ? info.version : run.version);
  put_fact(page, "Seed", std::to_string(run.seed));
  put_fact(page, "Cores used at once", std::to_string(peak_cores(run)));
  for (const auto& [label, text] : host) put_fact(page, label, text);
  page.raw("</dl>\n");
  end_section(page);
}

void put_source(Markup& page, const RunInfo& info) {
  if (info.source.empty()) return;
  put_section(page, "configuration", "Configuration",
              "As it was run. Secrets are named, never shown; passwords and keys written in place are masked.");
  const std::string text = masked_source(info.source);
  const std::string_view cut = std::string_view(text).substr(0, kMaxSourceBytes);
  page.put("<pre class=\"source\" tabindex=\"0\">{}</pre>\n", Safe{escaped_lines(cut)});
  if (cut.size() < text.size()) {
    page.put("<p class=\"about\">the first {} of {} bytes</p>\n", grouped(cut.size()), grouped(text.size()));
  }
  end_section(page);
}

}  // namespace muster::report::html
