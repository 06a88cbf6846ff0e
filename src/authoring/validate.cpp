#include "authoring/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "authoring/loader_steps.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

constexpr std::array<std::string_view, 8> kMetrics{"latency",  "service", "lateness", "failed",
                                                   "requests", "checks",  "dropped",  "iterations"};

struct Names {
  std::set<std::string_view> workflows;
  std::set<std::string_view> steps;
  std::set<std::string_view> tags;
  std::set<std::string_view> metrics;
};

Names collect(const LoaderContext& context, const model::Job& job) {
  Names names;
  const auto add_tags = [&](const std::vector<model::Tag>& tags) {
    for (const model::Tag& tag : tags) names.tags.insert(tag.name);
  };
  names.metrics.insert(kMetrics.begin(), kMetrics.end());
  add_tags(job.tags);
  for (const model::Workflow& workflow : job.workflows) {
    names.workflows.insert(workflow.name);
    add_tags(workflow.tags);
    const auto add_step = [&](const model::Step& step) {
      names.steps.insert(step.name);
      add_tags(step.tags);
      const model::StepKind* kind = context.languages.kinds.find(step.kind);
      if (kind->role != model::StepRole::kMetric) return;
      const model::Tree* metric = step.field(kind->primary);
      if (metric != nullptr && metric->text() != nullptr) names.metrics.insert(*metric->text());
    };
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, add_step);
  }
  return names;
}

void check_name(LoaderContext& context, const model::Where& place, std::string_view what, std::string_view name,
                const std::set<std::string_view>& known) {
  if (known.contains(name) || context.reporter.full()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  context.report(place, fmt::format("this threshold asks for the {} '{}', and there is none{}", what, name,
                                    base::did_you_mean(name, names)));
}

}  // namespace

void validate(LoaderContext& context, const model::Job& job) {
  validate_graph(context, job);
  validate_names(context, job);
  validate_thresholds(context, job);
}

void validate_thresholds(LoaderContext& context, const model::Job& job) {
  if (job.thresholds.empty()) return;
  const Names names = collect(context, job);
  for (std::size_t i = 0; i < job.thresholds.size(); ++i) {
    const model::Threshold& threshold = job.thresholds[i];
    check_name(context, threshold.place, "metric", threshold.metric, names.metrics);
    for (std::size_t j = 0; j < threshold.where.size(); ++j) {
      const auto& [key, value] = threshold.where[j];
      const model::Where& place = context.threshold_places[i][j];
      if (key == "workflow") {
        check_name(context, place, "workflow", value, names.workflows);
      } else if (key == "step") {
        check_name(context, place, "step", value, names.steps);
      } else {
        check_name(context, place, "tag", key, names.tags);
      }
    }
  }
}

}  // namespace muster::authoring
