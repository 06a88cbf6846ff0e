// The plan for scripts. Times are seconds, sizes bytes.
#include <cmath>
#include <nlohmann/json.hpp>

#include "console/plan.h"
#include "console/plan_words.h"
#include "engine/redaction.h"
#include "engine/selection.h"

namespace muster::console {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kPriorities[] = {"auto", "low", "normal", "high", "exclusive"};
constexpr std::string_view kPickNames[] = {"sequential", "random", "unique", "per_vu"};
constexpr std::string_view kKeepNames[] = {"last", "first", "all"};

ordered_json time_or_null(base::Duration duration) {
  return duration == base::Duration::max() ? ordered_json() : ordered_json(base::seconds(duration));
}

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json bounds_json(const Bounds& bounds) {
  return {{"least", number_or_null(bounds.least)}, {"most", number_or_null(bounds.most)}};
}

ordered_json load_json(const PlannedWorkflow& each) {
  const model::Load& load = each.workflow->load;
  ordered_json out;
  out["shape"] = load.shape;
  out["open"] = each.shape->open();
  out["words"] = load_words(load, *each.shape);
  out["peak_vus"] = each.shape->peak_vus();
  out["seconds"] = time_or_null(each.shape->length());
  out["warm_up"] = base::seconds(load.warm_up);
  out["grace"] = base::seconds(load.grace);
  return out;
}

ordered_json request_json(const PlannedCall& call) {
  ordered_json out;
  out["constant"] = true;
  out["wire"] = ordered_json::array();
  for (const authoring::TextPiece& piece : call.outline.wire) {
    ordered_json part;
    part[piece.hole ? "hole" : "bytes"] = piece.text;
    out["wire"].push_back(std::move(part));
    if (piece.hole) out["constant"] = false;
  }
  if (!call.outline.connections.empty()) out["connections"] = call.outline.connections;
  return out;
}

class StepJson {
 public:
  StepJson(const PlannedWorkflow& workflow, const model::StepKinds& kinds) : workflow_(workflow), kinds_(kinds) {}

  ordered_json list(const std::vector<model::Step>& steps) const {
    ordered_json out = ordered_json::array();
    for (const model::Step& step : steps) out.push_back(one(step));
    return out;
  }

 private:
  ordered_json one(const model::Step& step) const {
    ordered_json out;
    out["name"] = step.name;
    out["kind"] = step.kind;
    if (const model::StepKind* kind = kinds_.find(step.kind)) out["role"] = to_text(kind->role);
    const model::Script* const script = workflow_.program->script.get();
    if (script != nullptr && script->profile == "wrk") {
      // Its place and its request are those of a step that only stands in for what the script sends.
      out["does"] = "sends what the script makes: " + script->file;
      return out;
    }
    if (step.where.line > 0) out["line"] = step.where.line;
    out["does"] = step_action(step, kinds_);
    const std::vector<std::string> details = step_details(step, kinds_);
    if (!details.empty()) out["details"] = details;
    for (const model::Check& check : step.checks) out["checks"].push_back(check.label);
    for (const PlannedCall& call : workflow_.calls) {
      if (call.step == step.name && !call.outline.wire.empty()) out["request"] = request_json(call);
    }
    for (const model::Branch& branch : step.branches) {
      ordered_json each;
      if (const std::string label = branch_label(step, branch); !label.empty()) each["label"] = label;
      each["steps"] = list(branch.steps);
      out["branches"].push_back(std::move(each));
    }
    return out;
  }

  const PlannedWorkflow& workflow_;
  const model::StepKinds& kinds_;
};

ordered_json data_json(const engine::FeederUse& use) {
  return {{"name", use.name},
          {"rows", use.feeder->rows()},
          {"columns", use.feeder->columns()},
          {"pick", kPickNames[static_cast<std::size_t>(use.pick)]}};
}

ordered_json workflow_json(const PlannedWorkflow& each, const model::StepKinds& kinds) {
  const model::Workflow& flow = *each.workflow;
  ordered_json out;
  out["name"] = flow.name;
  out["layer"] = each.layer + 1;
  out["batch"] = each.batch + 1;
  out["priority"] = kPriorities[static_cast<std::size_t>(flow.priority)];
  if (!flow.depends.empty()) out["depends"] = flow.depends;
  out["load"] = load_json(each);
  out[each.shape->open() ? "arrivals" : "iterations"] =
      each.iterations ? ordered_json(*each.iterations) : ordered_json();
  if (flow.scripted) out["scripted"] = true;
  out["requests_per_iteration"] = bounds_json(each.requests);
  out["thinking_per_iteration"] = bounds_json(each.thinking);
  out["cores"] = ordered_json::array();
  for (const engine::Slice& core : each.cores) {
    const ordered_json part = {{"first_vu", core.first_vu}, {"vus", core.vus}};
    out["cores"].push_back(part);
  }
  for (const engine::FeederUse& use : each.program->feeders) out["data"].push_back(data_json(use));
  for (const model::Use& use : flow.uses) {
    const ordered_json part = {{"key", use.key}, {"from", use.source}};
    out["uses"].push_back(part);
  }
  for (const model::Provide& provide : flow.provides) {
    const std::string_view keep = kKeepNames[static_cast<std::size_t>(provide.keep)];
    const ordered_json part = {{"key", provide.key}, {"keep", keep}, {"to", provide.to}};
    out["provides"].push_back(part);
  }
  const StepJson steps(each, kinds);
  if (!flow.start.empty()) out["start"] = steps.list(flow.start);
  out["steps"] = steps.list(flow.steps);
  if (!flow.stop.empty()) out["stop"] = steps.list(flow.stop);
  out["memory_bytes"] = each.memory;
  return out;
}

ordered_json threshold_json(const PlannedThreshold& each) {
  const model::Threshold& threshold = *each.threshold;
  ordered_json out;
  out["that"] = threshold.text;
  if (!threshold.where.empty()) out["where"] = engine::where_text(threshold);
  if (threshold.window) out["window"] = base::seconds(*threshold.window);
  out["abort"] = threshold.abort;
  out["judgeable"] = each.problem.empty();
  if (!each.problem.empty()) out["problem"] = each.problem;
  return out;
}

// In the values only: a secret such as "1" must not break the JSON around them.
void redact_texts(ordered_json& json, const std::vector<std::string>& spelled) {
  if (auto* text = json.get_ptr<std::string*>()) engine::redact(*text, spelled);
  if (!json.is_structured()) return;
  for (ordered_json& each : json) redact_texts(each, spelled);
}

}  // namespace

std::string plan_json(const JobPlan& plan, const model::StepKinds& kinds) {
  ordered_json out;
  out["job"] = plan.job->name;
  out["cores"] = plan.pool;
  out["seconds"] = time_or_null(plan.length);
  out["memory_bytes"] = plan.memory;
  out["layers"] = ordered_json::array();
  for (const auto& layer : plan.layers) {
    ordered_json batches = ordered_json::array();
    for (const std::vector<std::size_t>& batch : layer) {
      ordered_json names = ordered_json::array();
      for (const std::size_t index : batch) names.push_back(plan.workflows[index].workflow->name);
      batches.push_back(std::move(names));
    }
    out["layers"].push_back(std::move(batches));
  }
  out["workflows"] = ordered_json::array();
  for (const PlannedWorkflow& each : plan.workflows) out["workflows"].push_back(workflow_json(each, kinds));
  out["thresholds"] = ordered_json::array();
  for (const PlannedThreshold& each : plan.thresholds) out["thresholds"].push_back(threshold_json(each));
  out["secrets"] = secret_names(*plan.job);
  out["warnings"] = plan.warnings;
  redact_texts(out, engine::spellings(plan.job->secrets));
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace muster::console
