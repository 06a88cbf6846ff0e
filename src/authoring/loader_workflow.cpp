#include "authoring/loader_workflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "authoring/loader_load.h"
#include "authoring/loader_step_parts.h"
#include "authoring/loader_steps.h"

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 12> kWorkflowKeys{"name",  "load",  "priority", "depends", "timeout", "reset",
                                                         "start", "steps", "stop",     "provide", "use",     "tags"};
constexpr std::array<std::string_view, 13> kScriptedKeys{"name",  "load",  "priority", "depends", "timeout",
                                                         "reset", "start", "steps",    "stop",    "provide",
                                                         "use",   "tags",  "functions"};
constexpr std::array<std::string_view, 4> kProvideKeys{"from", "keep", "max", "to"};
constexpr std::array<std::string_view, 2> kUseKeys{"from", "default"};
constexpr std::array<std::string_view, 5> kPriorities{"auto", "low", "normal", "high", "exclusive"};
constexpr std::array<std::string_view, 2> kResets{"never", "iteration"};
constexpr std::array<std::string_view, 3> kKeeps{"last", "first", "all"};
constexpr std::uint64_t kMostKept = 10'000'000;

std::vector<model::Where> places_of(const YamlNode& node, std::size_t count) {
  std::vector<model::Where> places;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(node.is_list() && i < node.list.size() ? node.list[i].where : node.where);
  }
  return places;
}

void read_provide(LoaderContext& context, const YamlEntry& entry, model::Workflow& workflow, WorkflowPlaces& places) {
  model::Provide provide;
  provide.key = entry.key;
  provide.from = {entry.key, entry.key_where};
  std::vector<model::Where> receivers;
  if (entry.value.is_scalar()) {
    provide.from = {entry.value.text, entry.value.where};
  } else if (entry.value.is_map()) {
    context.check_keys(entry.value, kProvideKeys, "'provide'");
    if (const YamlNode* from = entry.value.find("from")) {
      if (from->is_scalar()) {
        provide.from = {from->text, from->where};
      } else {
        context.report(from->where,
                       fmt::format("'from' must be an expression such as token, found {}", describe(*from)));
      }
    }
    if (const YamlNode* keep = entry.value.find("keep")) {
      if (const auto chosen = context.choice(*keep, "'keep'", kKeeps)) provide.keep = static_cast<model::Keep>(*chosen);
    }
    if (const YamlEntry* max = entry.value.entry("max")) {
      if (provide.keep != model::Keep::kAll) context.report(max->key_where, "'max' goes with `keep: all`");
      if (const auto most = context.whole_number(max->value, "'max'", 1, kMostKept)) provide.max = *most;
    }
    if (const YamlNode* to = entry.value.find("to")) {
      provide.to = context.text_list(*to, "'to'");
      receivers = places_of(*to, provide.to.size());
    }
  } else if (!entry.value.null()) {
    context.report(entry.value.where, fmt::format("'{}' must say where its value comes from, such as `{{ from: token "
                                                  "}}`, found {}",
                                                  entry.key, describe(entry.value)));
    return;
  }
  workflow.provides.push_back(std::move(provide));
  places.provides.push_back(std::move(receivers));
}

void read_use(LoaderContext& context, const YamlEntry& entry, model::Workflow& workflow) {
  model::Use use;
  use.key = entry.key;
  use.where = entry.key_where;
  const YamlNode* source = &entry.value;
  if (entry.value.is_map()) {
    context.check_keys(entry.value, kUseKeys, "'use'");
    source = entry.value.find("from");
    if (const YamlNode* fallback = entry.value.find("default")) use.fallback = to_tree(*fallback);
    if (source == nullptr) {
      context.report(entry.value.where, fmt::format("'{}' needs 'from', the workflow that provides it", entry.key));
      return;
    }
  }
  const auto text = context.constant_text(*source, fmt::format("the source of '{}'", entry.key));
  if (!text) return;
  use.source = *text;
  workflow.uses.push_back(std::move(use));
}

void read_exchange(LoaderContext& context, const YamlNode& node, model::Workflow& workflow, WorkflowPlaces& places) {
  const YamlNode* provide = node.find("provide");
  if (provide != nullptr && context.expect_map(*provide, "'provide'", "{ token: { from: token } }")) {
    for (const YamlEntry& entry : provide->map) {
      if (context.expect_value_name(entry)) read_provide(context, entry, workflow, places);
    }
  }
  const YamlNode* use = node.find("use");
  if (use != nullptr && context.expect_map(*use, "'use'", "{ token: login }")) {
    for (const YamlEntry& entry : use->map) {
      if (context.expect_value_name(entry)) read_use(context, entry, workflow);
    }
  }
}

void read_options(LoaderContext& context, const YamlNode& node, model::Workflow& workflow, WorkflowPlaces& places) {
  const YamlNode* load = node.find("load");
  workflow.load = load == nullptr ? default_load(node.where) : read_load(context, *load);
  if (const YamlNode* priority = node.find("priority")) {
    if (const auto chosen = context.choice(*priority, "'priority'", kPriorities)) {
      workflow.priority = static_cast<model::Priority>(*chosen);
    }
  }
  if (const YamlNode* depends = node.find("depends")) {
    workflow.depends = context.text_list(*depends, "'depends'");
    places.depends = places_of(*depends, workflow.depends.size());
  }
  if (const YamlNode* timeout = node.find("timeout")) {
    workflow.timeout = context.duration(*timeout, "'timeout'", 1ms, kLongest);
  }
  if (const YamlNode* reset = node.find("reset")) {
    if (const auto chosen = context.choice(*reset, "'reset'", kResets)) {
      workflow.reset = static_cast<model::Reset>(*chosen);
    }
  }
  if (const YamlNode* tags = node.find("tags")) workflow.tags = read_tags(context, *tags);
}

std::optional<model::ScriptedLists> scripted_lists(const YamlNode& node) {
  const YamlNode* functions = node.find("functions");
  if (functions == nullptr) return std::nullopt;
  model::ScriptedLists lists;
  for (const YamlNode& each : functions->list) {
    lists.start = lists.start || each.text == "start";
    lists.loop = lists.loop || each.text == "run";
    lists.stop = lists.stop || each.text == "stop";
  }
  return lists;
}

void read_workflow(LoaderContext& context, const YamlNode& node, std::size_t index, model::Job& job) {
  if (!context.expect_map(node, "a workflow", "name: browse")) return;
  const auto keys = context.script != nullptr ? std::span<const std::string_view>(kScriptedKeys) : kWorkflowKeys;
  const bool known = context.check_keys(node, keys, "a workflow");
  model::Workflow workflow;
  WorkflowPlaces places;
  workflow.where = node.where;
  workflow.name = fmt::format("workflow-{}", index + 1);
  places.name = node.where;
  if (const YamlNode* name = node.find("name")) {
    places.name = name->where;
    const auto text = context.shown_text(*name, "'name'");
    if (text && !text->empty()) workflow.name = *text;
    if (text && text->empty()) context.report(name->where, "'name' is empty; leave it out or give one");
  }
  for (const model::Workflow& other : job.workflows) {
    if (other.name != workflow.name) continue;
    const bool elsewhere = other.where.file != nullptr && other.where.file != places.name.file;
    context.report(places.name,
                   fmt::format("workflow '{}' is there twice, first {}on line {}", workflow.name,
                               elsewhere ? fmt::format("in {} ", *other.where.file) : std::string(), other.where.line));
  }
  read_options(context, node, workflow, places);
  read_exchange(context, node, workflow, places);
  if (const YamlNode* start = node.find("start")) workflow.start = read_steps(context, *start, "'start'");
  if (const YamlNode* stop = node.find("stop")) workflow.stop = read_steps(context, *stop, "'stop'");
  workflow.scripted = scripted_lists(node);
  const YamlNode* steps = node.find("steps");
  const bool nothing_to_call = workflow.scripted && (steps == nullptr || steps->list.empty());
  if (steps != nullptr && !nothing_to_call) {
    workflow.steps = read_steps(context, *steps, "'steps'");
  } else if (known && !nothing_to_call) {
    context.report(node.where, fmt::format("workflow '{}' needs 'steps'", workflow.name));
  }
  name_steps(context, workflow);
  workflow.graph =
      std::ranges::any_of(workflow.steps, [&](const model::Step& step) { return context.places(step).has_after; });
  job.workflows.push_back(std::move(workflow));
  context.workflow_places.push_back(std::move(places));
}

}  // namespace

void read_workflows(LoaderContext& context, const YamlNode& node, model::Job& job) {
  if (!context.expect_list(node, "'workflows'", "[ { name: browse, steps: … } ]")) return;
  if (node.list.empty()) context.report(node.where, "'workflows' is empty; a job needs at least one workflow");
  if (node.list.size() > context.limits.workflows) {
    context.report(node.where, fmt::format("{} workflows are more than the {} that a job may have", node.list.size(),
                                           context.limits.workflows));
    return;
  }
  for (std::size_t i = 0; i < node.list.size(); ++i) read_workflow(context, node.list[i], i, job);
}

}  // namespace muster::authoring
