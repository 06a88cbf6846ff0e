#include "authoring/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "authoring/holes.h"
#include "authoring/loader_steps.h"
#include "authoring/paths.h"
#include "base/closest.h"
#include "model/options.h"
#include "model/threshold_reach.h"

namespace muster::authoring {
namespace {

constexpr std::array<std::string_view, 9> kBuiltInMetrics{
    "latency", "service", "lateness", "failed", "requests", "checks", "dropped", "iterations", "failed_iterations"};

struct OwnMetric {
  std::string_view type;
  model::Where where;
};

struct Names {
  std::set<std::string_view> workflows;
  std::set<std::string_view> steps;
  std::set<std::string_view> tags;
  std::set<std::string_view> metrics;
  std::map<std::string_view, OwnMetric> own;  // those of the user
};

// What can be asked of a metric of the user's own. Percentiles stand for all of p50 … p99.99.
struct Offer {
  std::string_view type;
  std::string_view text;
  std::vector<std::string_view> aggregates;
  bool percentiles = false;
};

const Offer* offer_of(std::string_view type) {
  static const std::array<Offer, 4> kOffers{
      {{.type = "counter", .text = "count and rate", .aggregates = {"count", "rate"}},
       {.type = "rate", .text = "rate and count", .aggregates = {"rate", "count"}},
       {.type = "gauge", .text = "value, min and max", .aggregates = {"value", "min", "max"}},
       {.type = "trend",
        .text = "min, mean, std, max, count and p50 … p99.99",
        .aggregates = {"min", "mean", "std", "max", "count"},
        .percentiles = true}}};
  const auto* const found = std::ranges::find(kOffers, type, &Offer::type);
  return found == kOffers.end() ? nullptr : found;
}

void add_metric(LoaderContext& context, const model::StepKind& kind, const model::Step& step, Names& names) {
  const model::Tree* metric = step.field(kind.primary);
  const model::Tree* type = step.field("type");
  if (metric == nullptr || metric->text() == nullptr) return;
  const std::string& name = *metric->text();
  if (std::ranges::find(kBuiltInMetrics, name) != kBuiltInMetrics.end()) {
    context.report(metric->where, fmt::format("'{}' is measured by muster itself; choose another name", name));
    return;
  }
  if (name.find_first_of(" \t\r\n") != std::string::npos) {
    context.report(metric->where,
                   fmt::format("'{}' has a blank, so no threshold could name it; write it with '_'", name));
  }
  names.metrics.insert(name);
  if (type == nullptr || type->text() == nullptr) return;
  const auto [first, fresh] = names.own.emplace(name, OwnMetric{*type->text(), metric->where});
  if (fresh || first->second.type == *type->text()) return;
  context.report(type->where.line == 0 ? metric->where : type->where,
                 fmt::format("metric '{}' is a {} on line {} and a {} here; a metric has one type", name,
                             first->second.type, first->second.where.line, *type->text()));
}

void check_aggregate(LoaderContext& context, const model::Threshold& threshold, const Names& names) {
  const auto metric = names.own.find(threshold.metric);
  const Offer* offer = metric == names.own.end() ? nullptr : offer_of(metric->second.type);
  if (offer == nullptr || std::ranges::find(offer->aggregates, threshold.aggregate) != offer->aggregates.end()) return;
  if (offer->percentiles && threshold.aggregate.starts_with('p')) return;
  context.report(threshold.place,
                 fmt::format("'{}' is a {} (line {}): it has {}, not {}", threshold.metric, offer->type,
                             metric->second.where.line, offer->text, threshold.aggregate));
}

Names collect(LoaderContext& context, const model::Job& job) {
  Names names;
  const auto add_tags = [&](const std::vector<model::Tag>& tags) {
    for (const model::Tag& tag : tags) names.tags.insert(tag.name);
  };
  names.metrics.insert(kBuiltInMetrics.begin(), kBuiltInMetrics.end());
  add_tags(job.tags);
  for (const model::Workflow& workflow : job.workflows) {
    names.workflows.insert(workflow.name);
    add_tags(workflow.tags);
    const auto add_step = [&](const model::Step& step) {
      names.steps.insert(step.name);
      add_tags(step.tags);
      const model::StepKind* kind = context.languages.kinds.find(step.kind);
      if (kind->role == model::StepRole::kMetric) add_metric(context, *kind, step, names);
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

void check_metric(LoaderContext& context, const model::Threshold& threshold, const Names& names) {
  const std::string_view metric = threshold.metric;
  if (!names.metrics.contains(metric) && (metric == "error" || metric == "errors" || metric == "failures")) {
    context.report(threshold.place, fmt::format("this threshold asks for the metric '{}', and there is none; failures "
                                                "are 'failed': write `failed {} …`",
                                                metric, threshold.aggregate));
    return;
  }
  check_name(context, threshold.place, "metric", metric, names.metrics);
  check_aggregate(context, threshold, names);
}

void check_tag(LoaderContext& context, const model::Where& place, std::string_view tag, const Names& names) {
  if (names.tags.contains(tag) || context.reporter.full()) return;
  std::vector<std::string_view> known(names.tags.begin(), names.tags.end());
  known.insert(known.end(), {"workflow", "step"});
  const std::string hint = base::did_you_mean(tag, known);
  context.report(place, fmt::format("'where' takes 'workflow', 'step' or the name of a tag, and there is no tag '{}'{}",
                                    tag, hint));
}

bool has_hole(const std::vector<model::Tag>& tags, std::string_view name) {
  return std::ranges::any_of(tags, [&](const model::Tag& tag) {
    if (tag.name != name) return false;
    const auto pieces = split_holes(tag.value.text);
    return pieces && std::ranges::any_of(*pieces, &TextPiece::hole);
  });
}

// Whether a step that the threshold is about has the tag with a value that only a run can tell.
bool told_by_the_run(const model::Job& job, const model::Threshold& threshold, std::string_view tag) {
  const auto asked = [&](std::string_view key, std::string_view name) {
    return std::ranges::all_of(threshold.where,
                               [&](const auto& each) { return each.first != key || each.second == name; });
  };
  bool found = false;
  for (const model::Workflow& workflow : job.workflows) {
    if (!asked("workflow", workflow.name)) continue;
    const bool around = has_hole(job.tags, tag) || has_hole(workflow.tags, tag);
    const auto look = [&](const model::Step& step) {
      found = found || (asked("step", step.name) && (around || has_hole(step.tags, tag)));
    };
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, look);
  }
  return found;
}

// True: reported.
bool check_reach(LoaderContext& context, const model::Job& job, const model::Threshold& threshold,
                 const ThresholdPlaces& places) {
  const auto wrong =
      model::misfit(threshold, [&](std::string_view tag) { return told_by_the_run(job, threshold, tag); });
  if (!wrong) return false;
  const bool window = wrong->part == model::ThresholdMisfit::Part::kWindow;
  context.report(window ? places.window : places.where[wrong->condition], wrong->message);
  return true;
}

// Whether a step that the threshold is about has a check.
bool has_check(const LoaderContext& context, const model::Job& job, const model::Threshold& threshold) {
  const bool tagged = std::ranges::any_of(
      threshold.where, [](const auto& each) { return each.first != "workflow" && each.first != "step"; });
  bool found = false;
  for (const model::Workflow& workflow : job.workflows) {
    const auto has_tag = [](const std::vector<model::Tag>& tags, const auto& asked) {
      return std::ranges::any_of(
          tags, [&](const model::Tag& tag) { return tag.name == asked.first && tag.value.text == asked.second; });
    };
    const auto look = [&](const model::Step& step) {
      if (found || step.checks.empty()) return;
      // Tags are kept of requests.
      if (tagged && context.languages.kinds.find(step.kind)->role != model::StepRole::kTest) return;
      found = std::ranges::all_of(threshold.where, [&](const auto& asked) {
        if (asked.first == "workflow") return asked.second == workflow.name;
        if (asked.first == "step") return asked.second == step.name;
        return has_tag(job.tags, asked) || has_tag(workflow.tags, asked) || has_tag(step.tags, asked);
      });
    };
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, look);
  }
  return found;
}

// Only where all else is right: a check that could not be read is no missing one.
void check_checks(LoaderContext& context, const model::Job& job) {
  if (!context.reporter.clean()) return;
  for (const model::Threshold& threshold : job.thresholds) {
    if (threshold.metric != "checks" || has_check(context, job, threshold)) continue;
    context.report(threshold.place,
                   fmt::format("{} has a `check`, so there is nothing to judge; give one to a step, or leave this "
                               "threshold out",
                               threshold.where.empty() ? "no step" : "no step that 'where' picks"));
  }
}

// Whether arrivals could be dropped: a shape from outside may have some, those of ours only with `rate`.
bool may_drop(const model::Load& load) {
  constexpr std::array<std::string_view, 4> kClosed{"constant-vus", "ramping-vus", "shared-iterations",
                                                    "iterations-each"};
  return std::ranges::find(kClosed, load.shape) == kClosed.end();
}

// A share of arrivals where there are none. With a window it is a share of iterations, and a count is 0: both are
// judged.
void check_dropped(LoaderContext& context, const model::Job& job) {
  if (!context.reporter.clean()) return;
  for (const model::Threshold& threshold : job.thresholds) {
    if (threshold.metric != "dropped" || threshold.aggregate != "rate" || threshold.window) continue;
    const bool any = std::ranges::any_of(job.workflows, [&](const model::Workflow& workflow) {
      return may_drop(workflow.load) && std::ranges::all_of(threshold.where, [&](const auto& asked) {
               return asked.first != "workflow" || asked.second == workflow.name;
             });
    });
    if (any) continue;
    context.report(
        threshold.place,
        fmt::format("{} has a load with `rate`, so no arrivals can be dropped and there is nothing to judge; "
                    "leave this threshold out",
                    threshold.where.empty() ? "no workflow" : "no workflow that 'where' picks"));
  }
}

}  // namespace

// What a result holds: more would be measured and could not be read.
void validate_sizes(LoaderContext& context, const model::Job& job) {
  const auto too_many = [&](const model::Where& where, std::string_view what, std::size_t count, std::size_t most) {
    if (count > most)
      context.report(where, fmt::format("{} {}; at most {} can be told in a result", count, what, most));
  };
  if (!job.thresholds.empty()) {
    too_many(job.thresholds.back().place, "thresholds", job.thresholds.size(), model::kMaxResultDetails);
  }
  for (const model::Workflow& workflow : job.workflows) {
    std::size_t steps = 0;
    model::Where last;
    const auto look = [&](const model::Step& step) {
      if (++steps == model::kMaxResultSteps + 1) last = step.where;
      too_many(step.where, "checks", step.checks.size(), model::kMaxResultDetails);
      too_many(step.where, "tags", step.tags.size(), model::kMaxResultDetails);
    };
    for (const auto* part : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*part, look);
    too_many(last, "steps in one workflow", steps, model::kMaxResultSteps);
  }
}

void validate_kinds(LoaderContext& context, const model::Job& job) {
  const model::Inspection inspection{
      .report = [&](const model::Where& where, std::string message) { context.report(where, std::move(message)); },
      .file_problem =
          [&](const model::Where& where, const std::string& path) {
            const bool look = context.input.file_problem && path.find("${") == std::string::npos;
            return look ? context.input.file_problem(resolve_path(where, path)) : std::string();
          }};
  for (const model::Target& target : job.targets) {
    const model::StepKind* kind = context.languages.kinds.find(target.kind);
    if (kind != nullptr && kind->inspect_target != nullptr) kind->inspect_target(target, inspection);
  }
  const auto look = [&](const model::Step& step) {
    const model::StepKind* kind = context.languages.kinds.find(step.kind);
    if (kind->inspect_step != nullptr && !context.reporter.full()) kind->inspect_step(step, inspection);
  };
  for (const model::Workflow& workflow : job.workflows) {
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, look);
  }
}

void validate(LoaderContext& context, const model::Job& job) {
  validate_graph(context, job);
  validate_sizes(context, job);
  validate_kinds(context, job);
  validate_names(context, job);
  validate_thresholds(context, job);
}

void validate_thresholds(LoaderContext& context, const model::Job& job) {
  const Names names = collect(context, job);
  for (std::size_t i = 0; i < job.thresholds.size(); ++i) {
    const model::Threshold& threshold = job.thresholds[i];
    const ThresholdPlaces& places = context.threshold_places[i];
    check_metric(context, threshold, names);
    if (names.metrics.contains(threshold.metric) && check_reach(context, job, threshold, places)) continue;
    for (std::size_t j = 0; j < threshold.where.size(); ++j) {
      const auto& [key, value] = threshold.where[j];
      const model::Where& place = places.where[j];
      if (key == "workflow") {
        check_name(context, place, "workflow", value, names.workflows);
      } else if (key == "step") {
        check_name(context, place, "step", value, names.steps);
      } else {
        check_tag(context, place, key, names);
      }
    }
  }
  check_checks(context, job);
  check_dropped(context, job);
}

}  // namespace muster::authoring
