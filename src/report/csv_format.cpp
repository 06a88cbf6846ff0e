#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "report/clean_text.h"
#include "report/point_format.h"
#include "report/rfc3339.h"

namespace muster::report {
namespace {

enum class Column : std::uint8_t {
  kType,
  kTime,
  kSecond,
  kLate,
  kWorkflow,
  kStep,
  kKind,
  kRole,
  kRequests,
  kFailed,
  kRate,
  kBytesIn,
  kBytesOut,
  kMin,
  kMean,
  kP50,
  kP90,
  kP95,
  kP99,
  kMax,
  kVus,
  kIterations,
  kDropped,
  kLabel,  // of a check, or a threshold's text
  kOk,
  kWhere,
  kWindow,
  kValue,
  kSamples,
  kJudged,
  kPassed,
  kErrors,  // and the classes behind it
};

constexpr std::size_t kFirstError = static_cast<std::size_t>(Column::kErrors);
constexpr std::size_t kColumns = kFirstError + model::kErrorClasses;
constexpr std::array<std::string_view, kFirstError> kNames = {
    "type",     "time",   "second",   "late",     "workflow",  "step",       "kind",    "role",
    "requests", "failed", "rate",     "bytes_in", "bytes_out", "min_us",     "mean_us", "p50_us",
    "p90_us",   "p95_us", "p99_us",   "max_us",   "vus",       "iterations", "dropped", "label",
    "ok",       "where",  "window_s", "value",    "samples",   "judged",     "passed"};

class Row {
 public:
  Row(std::string_view type, const SecondPoints& points) {
    set(Column::kType, type);
    if (points.late) set(Column::kLate, "true");
    if (!points.second) return;
    set(Column::kTime, rfc3339(points.run->started + std::chrono::seconds(*points.second)));
    number(Column::kSecond, std::uint64_t{*points.second});
  }

  void set(Column column, std::string_view text) { cell(column) = csv_text(text); }
  void number(Column column, std::uint64_t value) { cell(column) = fmt::format("{}", value); }
  void number(Column column, double value) { cell(column) = fmt::format("{}", std::isfinite(value) ? value : 0.0); }
  void time(Column column, base::Duration value) { number(column, static_cast<double>(value.count()) / 1000.0); }
  void truth(Column column, bool value) { cell(column) = value ? "true" : "false"; }

  void put(const Measures& measures, const metrics::CoarseHistogram* latency) {
    number(Column::kRequests, measures.added.requests);
    number(Column::kFailed, measures.added.failed);
    number(Column::kRate, std::round(measures.rate * 1e3) / 1e3);
    number(Column::kBytesIn, measures.added.bytes_in);
    number(Column::kBytesOut, measures.added.bytes_out);
    for (std::size_t i = 0; i != measures.errors.size(); ++i) {
      cells_[kFirstError + i] = fmt::format("{}", measures.errors[i]);
    }
    if (latency == nullptr || latency->empty()) return;
    time(Column::kMin, latency->min());
    time(Column::kMean, latency->mean());
    time(Column::kP50, latency->quantile(0.50));
    time(Column::kP90, latency->quantile(0.90));
    time(Column::kP95, latency->quantile(0.95));
    time(Column::kP99, latency->quantile(0.99));
    time(Column::kMax, latency->max());
  }

  std::string line() const { return fmt::format("{}\n", fmt::join(cells_, ",")); }

 private:
  std::string& cell(Column column) { return cells_[static_cast<std::size_t>(column)]; }

  std::array<std::string, kColumns> cells_;
};

class CsvFormat final : public PointFormat {
 public:
  std::string first(const RunInfo& /*run*/) const override {
    std::string header = fmt::format("{}", fmt::join(kNames, ","));
    for (std::size_t i = 0; i != model::kErrorClasses; ++i) {
      header += fmt::format(",errors_{}", model::to_text(static_cast<model::ErrorClass>(i)));
    }
    return header + "\n";
  }

  std::vector<std::string> lines(const SecondPoints& points) const override {
    std::vector<std::string> made;
    for (const WorkflowPoint& workflow : points.workflows) {
      for (const StepPoint& step : workflow.steps) add_step(made, points, workflow, step);
      Row row("workflow", points);
      row.set(Column::kWorkflow, workflow.workflow->name);
      row.put(workflow.measures, points.second ? &workflow.latency : nullptr);
      row.number(Column::kVus, workflow.vus);
      row.number(Column::kIterations, workflow.iterations);
      row.number(Column::kDropped, workflow.dropped);
      made.push_back(row.line());
    }
    if (points.late) return made;
    for (const model::ThresholdVerdict& verdict : points.run->thresholds) {
      Row row("threshold", points);
      row.set(Column::kLabel, verdict.text);
      row.set(Column::kWhere, verdict.where);
      if (verdict.window > base::Duration::zero()) row.number(Column::kWindow, base::seconds(verdict.window));
      row.number(Column::kValue, verdict.value);
      row.number(Column::kSamples, verdict.samples);
      row.truth(Column::kJudged, verdict.judged);
      row.truth(Column::kPassed, verdict.passed);
      made.push_back(row.line());
    }
    return made;
  }

  std::string last(const model::RunResult& /*result*/, const Comparison* /*comparison*/) const override { return {}; }

 private:
  static void add_step(std::vector<std::string>& made, const SecondPoints& points, const WorkflowPoint& workflow,
                       const StepPoint& step) {
    Row row("step", points);
    row.set(Column::kWorkflow, workflow.workflow->name);
    row.set(Column::kStep, step.step->name);
    row.set(Column::kKind, step.step->kind);
    row.set(Column::kRole, to_text(step.step->role));
    row.put(step.measures, step.latency);
    made.push_back(row.line());
    for (const CheckPoint& check : step.checks) {
      Row one("check", points);
      one.set(Column::kWorkflow, workflow.workflow->name);
      one.set(Column::kStep, step.step->name);
      one.set(Column::kLabel, check.check->label);
      one.number(Column::kOk, check.ok);
      one.number(Column::kFailed, check.failed);
      made.push_back(one.line());
    }
  }
};

}  // namespace

std::unique_ptr<PointFormat> csv_format() {
  return std::make_unique<CsvFormat>();
}

}  // namespace muster::report
