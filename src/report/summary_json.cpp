#include "report/summary_json.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "report/comparison_json.h"
#include "report/json_figures.h"
#include "report/rfc3339.h"
#include "report/totals.h"

namespace muster::report {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value, double steps) {
  return std::isfinite(value) ? std::round(value * steps) / steps : 0.0;
}

double seconds(base::Duration duration) {
  return rounded(base::seconds(duration), 1e6);
}

template <class Histogram>
Json times(const Histogram& histogram) {
  return {{"min", microseconds_of(histogram.min())},
          {"mean", microseconds_of(histogram.mean())},
          {"std", microseconds_of(histogram.stddev())},
          {"p50", microseconds_of(histogram.quantile(0.50))},
          {"p90", microseconds_of(histogram.quantile(0.90))},
          {"p95", microseconds_of(histogram.quantile(0.95))},
          {"p99", microseconds_of(histogram.quantile(0.99))},
          {"p999", microseconds_of(histogram.quantile(0.999))},
          {"p9999", microseconds_of(histogram.quantile(0.9999))},
          {"max", microseconds_of(histogram.max())}};
}

Json errors_of(const std::array<std::uint64_t, model::kErrorClasses>& errors) {
  Json made = Json::object();
  for (std::size_t i = 0; i != errors.size(); ++i) {
    if (errors[i] > 0) made[std::string(model::to_text(static_cast<model::ErrorClass>(i)))] = errors[i];
  }
  return made;
}

void put_totals(Json& into, const Totals& sum) {
  into["requests"] = sum.requests;
  into["failed"] = sum.failed;
  into["rate"] = rounded(sum.rate(), 1e3);
  into["bytes_in"] = sum.bytes_in;
  into["bytes_out"] = sum.bytes_out;
  into["latency_us"] = times(sum.latency);
  if (!sum.service.empty()) into["service_us"] = times(sum.service);
  if (!sum.lateness.empty()) into["lateness_us"] = times(sum.lateness);
}

void put_checks(Json& into, const model::StepResult& step) {
  for (const model::CheckResult& check : step.checks) {
    into.push_back({{"step", step.name}, {"label", check.label}, {"ok", check.ok}, {"failed", check.failed}});
  }
}

Json checks_of(const model::RunResult& run) {
  Json made = Json::array();
  for (const model::WorkflowResult& workflow : run.workflows) {
    for (const model::StepResult& step : workflow.steps) put_checks(made, step);
  }
  return made;
}

Json thresholds_of(const model::RunResult& run) {
  Json made = Json::array();
  for (const model::ThresholdVerdict& verdict : run.thresholds) {
    Json one = {{"text", verdict.text},       {"where", verdict.where},   {"value", verdict.value},
                {"samples", verdict.samples}, {"judged", verdict.judged}, {"passed", verdict.passed},
                {"aborted", verdict.aborted}};
    if (!std::isfinite(verdict.value)) one["value"] = 0;
    if (verdict.window > base::Duration::zero()) one["window_s"] = seconds(verdict.window);
    if (!verdict.passed) one["failed_at_s"] = seconds(verdict.failed_at);
    made.push_back(std::move(one));
  }
  return made;
}

Json samples_of(const model::StepResult& step) {
  Json made = Json::array();
  for (const model::ErrorSample& sample : step.samples) {
    made.push_back({{"class", model::to_text(sample.error)},
                    {"at_s", seconds(sample.at)},
                    {"detail", sample.detail},
                    {"request", sample.request},
                    {"response", sample.response}});
  }
  return made;
}

Json step_json(const model::StepResult& step, base::Duration counted) {
  const Totals sum = totals(step, counted);
  Json made = {{"name", step.name}, {"kind", step.kind}, {"role", to_text(step.role)}};
  put_totals(made, sum);
  made["skipped"] = sum.skipped;
  made["retried"] = sum.retried;
  made["connections"] = sum.connections;
  made["errors"] = errors_of(sum.errors);
  made["checks"] = Json::array();
  put_checks(made["checks"], step);
  made["phases_us"] = Json::object();
  for (std::size_t i = 0; i != step.phases.size(); ++i) {
    if (step.phases[i].empty()) continue;
    Json phase = {{"count", step.phases[i].count()}};
    phase.update(times(step.phases[i]));
    made["phases_us"][std::string(model::to_text(static_cast<model::Phase>(i)))] = std::move(phase);
  }
  made["statuses"] = Json::object();
  for (const auto& [status, count] : step.statuses) made["statuses"][std::to_string(status)] = count;
  made["samples"] = samples_of(step);
  made["tags"] = Json::object();
  for (const auto& [name, value] : step.tags) made["tags"][name] = value;
  return made;
}

Json metric_json(const model::UserMetric& metric) {
  Json made = {{"name", metric.name}, {"type", model::to_text(metric.type)}, {"count", metric.count}};
  switch (metric.type) {
    case model::MetricType::kCounter:
      made["sum"] = finite_or_zero(metric.sum);
      break;
    case model::MetricType::kGauge:
      made["last"] = finite_or_zero(metric.last);
      made["min"] = finite_or_zero(metric.min);
      made["max"] = finite_or_zero(metric.max);
      break;
    case model::MetricType::kRate:
      made["true"] = metric.trues;
      made["rate"] = metric.count > 0 ? static_cast<double>(metric.trues) / static_cast<double>(metric.count) : 0.0;
      break;
    case model::MetricType::kTrend:
      made["sum"] = finite_or_zero(metric.sum);
      made["mean"] = metric.count > 0 ? finite_or_zero(metric.sum / static_cast<double>(metric.count)) : 0.0;
      made["min"] = finite_or_zero(metric.min);
      made["max"] = finite_or_zero(metric.max);
      made["p50"] = finite_or_zero(model::quantile(metric, 0.50));
      made["p90"] = finite_or_zero(model::quantile(metric, 0.90));
      made["p95"] = finite_or_zero(model::quantile(metric, 0.95));
      made["p99"] = finite_or_zero(model::quantile(metric, 0.99));
      break;
  }
  return made;
}

Json tagged_json(const model::TaggedResult& row) {
  return {{"tags", row.tags},
          {"requests", row.ok + row.failed},
          {"failed", row.failed},
          {"latency_us", times(row.latency)}};
}

Json series_json(const std::vector<SecondTotals>& list) {
  Json made = Json::array();
  for (const SecondTotals& second : list) {
    made.push_back({{"second", second.second},
                    {"requests", second.requests},
                    {"failed", second.failed},
                    {"rate", rounded(second.rate, 1e3)},
                    {"iterations", second.iterations},
                    {"dropped", second.dropped},
                    {"vus", second.vus},
                    {"p50_us", microseconds_of(second.latency.quantile(0.50))},
                    {"p95_us", microseconds_of(second.latency.quantile(0.95))},
                    {"p99_us", microseconds_of(second.latency.quantile(0.99))},
                    {"max_us", microseconds_of(second.latency.max())},
                    {"bytes_in", second.bytes_in},
                    {"bytes_out", second.bytes_out}});
  }
  return made;
}

Json workflow_json(const model::WorkflowResult& workflow) {
  const Totals sum = totals(workflow);
  Json made = {{"name", workflow.name},
               {"state", model::to_text(workflow.state)},
               {"reason", workflow.reason},
               {"model", workflow.open ? "open" : "closed"},
               {"began_s", seconds(truly_began(workflow))},
               {"duration_s", seconds(workflow.elapsed)}};
  put_totals(made, sum);
  made["errors"] = errors_of(sum.errors);
  made["iterations"] = workflow.iterations;
  made["failed_iterations"] = workflow.failed_iterations;
  made["interrupted_iterations"] = workflow.interrupted;
  made["iteration_us"] = times(workflow.iteration_time);
  made["peak_vus"] = workflow.peak_vus;
  if (workflow.open) {
    made["max_vus"] = workflow.max_vus;
    made["arrivals"] = workflow.arrivals;
    made["dropped"] = workflow.dropped;
    made["queued"] = workflow.queued;
  }
  for (const char* list : {"cores", "notes", "steps", "metrics", "tagged"}) made[list] = Json::array();
  for (const model::CoreUse& core : workflow.cores) {
    made["cores"].push_back({{"busy_s", seconds(core.busy)}, {"elapsed_s", seconds(core.elapsed)}});
  }
  for (const auto& [text, count] : workflow.notes) made["notes"].push_back({{"text", text}, {"count", count}});
  for (const model::StepResult& step : workflow.steps) made["steps"].push_back(step_json(step, workflow.elapsed));
  for (const model::UserMetric& metric : workflow.metrics) made["metrics"].push_back(metric_json(metric));
  for (const model::TaggedResult& row : by_tags(workflow)) made["tagged"].push_back(tagged_json(row));
  made["series"] = series_json(seconds_of(workflow));
  return made;
}

std::string_view model_text(LoadModel load) {
  switch (load) {
    case LoadModel::kClosed:
      return "closed";
    case LoadModel::kOpen:
      return "open";
    case LoadModel::kMixed:
      return "mixed";
  }
  return "closed";
}

Json document(const model::RunResult& run, const Comparison* comparison) {
  const Totals sum = totals(run);
  Json made = {{"schema", kSummarySchema},
               {"version", run.version},
               {"job", run.job},
               {"seed", run.seed},
               {"started", rfc3339(run.started)},
               {"duration_s", seconds(run.elapsed)},
               {"verdict", model::to_text(run.verdict)},
               {"exit_code", run.exit_code},
               {"reason", run.reason},
               {"model", model_text(load_model(run))}};
  put_totals(made, sum);
  made["errors"] = errors_of(sum.errors);
  made["checks"] = checks_of(run);
  made["thresholds"] = thresholds_of(run);
  made["marks"] = Json::array();
  for (const model::Mark& mark : run.marks) made["marks"].push_back({{"id", mark.id}, {"text", mark.text}});
  if (!run.id.empty()) made["id"] = run.id;
  if (comparison != nullptr) made["comparison"] = Json::parse(comparison_json(*comparison));
  made["workflows"] = Json::array();
  for (const model::WorkflowResult& workflow : run.workflows) made["workflows"].push_back(workflow_json(workflow));
  made["series"] = series_json(seconds_of(run));
  return made;
}

}  // namespace

std::string summary_json(const model::RunResult& run, const Comparison* comparison) {
  return document(run, comparison).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_json_line(const model::RunResult& run, const Comparison* comparison) {
  return document(run, comparison).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::report
