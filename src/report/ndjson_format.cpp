#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/json_figures.h"
#include "report/point_format.h"
#include "report/rfc3339.h"
#include "report/summary_json.h"

namespace muster::report {
namespace {

using Json = nlohmann::ordered_json;

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json begin(std::string_view type, const SecondPoints& points) {
  Json made = {{"type", type}};
  if (points.second) {
    made["time"] = rfc3339(points.run->started + std::chrono::seconds(*points.second));
    made["second"] = *points.second;
  }
  if (points.late) made["late"] = true;
  return made;
}

void put(Json& into, const Measures& measures, const metrics::CoarseHistogram* latency) {
  into["requests"] = measures.added.requests;
  into["failed"] = measures.added.failed;
  into["rate"] = std::round(measures.rate * 1e3) / 1e3;
  into["bytes_in"] = measures.added.bytes_in;
  into["bytes_out"] = measures.added.bytes_out;
  if (latency != nullptr && !latency->empty()) {
    into["min_us"] = microseconds_of(latency->min());
    into["mean_us"] = microseconds_of(latency->mean());
    into["p50_us"] = microseconds_of(latency->quantile(0.50));
    into["p90_us"] = microseconds_of(latency->quantile(0.90));
    into["p95_us"] = microseconds_of(latency->quantile(0.95));
    into["p99_us"] = microseconds_of(latency->quantile(0.99));
    into["max_us"] = microseconds_of(latency->max());
  }
  into["errors"] = Json::object();
  for (std::size_t i = 0; i != measures.errors.size(); ++i) {
    if (measures.errors[i] == 0) continue;
    into["errors"][std::string(model::to_text(static_cast<model::ErrorClass>(i)))] = measures.errors[i];
  }
}

class NdjsonFormat final : public PointFormat {
 public:
  std::string first(const RunInfo& run) const override {
    return line({{"type", "start"},
                 {"schema", kPointsSchema},
                 {"version", run.version},
                 {"job", run.job},
                 {"seed", run.seed},
                 {"started", rfc3339(run.started)}});
  }

  std::vector<std::string> lines(const SecondPoints& points) const override {
    std::vector<std::string> made;
    for (const WorkflowPoint& workflow : points.workflows) {
      for (const StepPoint& step : workflow.steps) add_step(made, points, workflow, step);
      Json json = begin("workflow", points);
      json["workflow"] = workflow.workflow->name;
      put(json, workflow.measures, points.second ? &workflow.latency : nullptr);
      json["vus"] = workflow.vus;
      json["iterations"] = workflow.iterations;
      json["dropped"] = workflow.dropped;
      made.push_back(line(json));
    }
    if (points.late) return made;
    for (const model::ThresholdVerdict& verdict : points.run->thresholds) {
      Json json = begin("threshold", points);
      json["text"] = verdict.text;
      json["where"] = verdict.where;
      if (verdict.window > base::Duration::zero()) json["window_s"] = base::seconds(verdict.window);
      json["value"] = finite_or_zero(verdict.value);
      json["samples"] = verdict.samples;
      json["judged"] = verdict.judged;
      json["passed"] = verdict.passed;
      made.push_back(line(json));
    }
    return made;
  }

  std::string last(const model::RunResult& result, const Comparison* comparison) const override {
    return R"({"type":"summary","summary":)" + summary_json_line(result, comparison) + "}\n";
  }

 private:
  static void add_step(std::vector<std::string>& made, const SecondPoints& points, const WorkflowPoint& workflow,
                       const StepPoint& step) {
    Json json = begin("step", points);
    json["workflow"] = workflow.workflow->name;
    json["step"] = step.step->name;
    json["kind"] = step.step->kind;
    json["role"] = to_text(step.step->role);
    put(json, step.measures, step.latency);
    made.push_back(line(json));
    for (const CheckPoint& check : step.checks) {
      Json one = begin("check", points);
      one["workflow"] = workflow.workflow->name;
      one["step"] = step.step->name;
      one["label"] = check.check->label;
      one["ok"] = check.ok;
      one["failed"] = check.failed;
      made.push_back(line(one));
    }
  }
};

}  // namespace

std::unique_ptr<PointFormat> ndjson_format() {
  return std::make_unique<NdjsonFormat>();
}

}  // namespace muster::report
