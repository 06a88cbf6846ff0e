#include "authoring/loader_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "authoring/loader_fields.h"
#include "authoring/loader_step_parts.h"
#include "authoring/loader_synonyms.h"
#include "authoring/paths.h"
#include "authoring/threshold_parser.h"
#include "authoring/yaml_include.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 14> kJobKeys{"muster",      "name",    "target",     "targets",   "data",
                                                    "secrets",     "env",     "thresholds", "workflows", "tags",
                                                    "datacenters", "timeout", "seed",       "include"};
constexpr std::array<std::string_view, 5> kThresholdKeys{"that", "where", "window", "min_samples", "abort"};
constexpr std::array<std::string_view, 4> kPicks{"sequential", "random", "unique", "per_vu"};
constexpr std::array<std::string_view, 2> kFormats{"csv", "json"};
// Words for the address of a target whose kind needs no saying.
constexpr std::array<std::string_view, 2> kAddressKeys{"url", "address"};

// Kinds that connect somewhere.
std::vector<std::string_view> target_kinds(const LoaderContext& context) {
  std::vector<std::string_view> names;
  for (const model::StepKind& kind : context.languages.kinds.all()) {
    if (kind.role == model::StepRole::kTest) names.push_back(kind.name);
  }
  return names;
}

bool names_address(const LoaderContext& context, std::string_view key) {
  const std::vector<std::string_view> kinds = target_kinds(context);
  return std::ranges::find(kAddressKeys, key) != kAddressKeys.end() || std::ranges::find(kinds, key) != kinds.end();
}

const YamlEntry* address_entry(LoaderContext& context, const YamlNode& node, model::Target& target) {
  const YamlEntry* found = nullptr;
  for (const YamlEntry& entry : node.map) {
    if (!names_address(context, entry.key)) continue;
    if (found != nullptr) {
      context.report(entry.key_where,
                     fmt::format("a target has one address, but both '{}' and '{}' stand here", found->key, entry.key));
      continue;
    }
    found = &entry;
    if (std::ranges::find(kAddressKeys, entry.key) == kAddressKeys.end()) target.kind = entry.key;
  }
  return found;
}

// Protocols that workflows may use one day: not a slip of the user's.
bool report_foreign_kind(LoaderContext& context, const YamlNode& node, std::string_view what) {
  for (const YamlEntry& entry : node.map) {
    if (!known_protocol(entry.key)) continue;
    context.report(entry.key_where, fmt::format("{} is for '{}', which this version of muster cannot call; it has {}",
                                                what, entry.key, quoted_list(target_kinds(context), "and")));
    return true;
  }
  return false;
}

void read_target(LoaderContext& context, const std::string& name, const YamlNode& node, model::Job& job) {
  model::Target target;
  target.name = name;
  target.where = node.where;
  const std::string what = name.empty() ? std::string("'target'") : fmt::format("target '{}'", name);
  if (node.is_map()) {
    const YamlEntry* address = address_entry(context, node, target);
    if (address == nullptr && report_foreign_kind(context, node, what)) return;
    if (address == nullptr) {
      context.report(node.where, fmt::format("{} needs an address, such as `{}: https://shop.test`", what,
                                             name.empty() ? kAddressKeys[0] : std::string_view(target.kind)));
    } else if (auto text = context.constant_text(address->value, "an address")) {
      target.address = std::move(*text);
      target.where = address->value.where;
    }
    std::vector<GivenField> given;
    for (const YamlEntry& entry : node.map) {
      if (!names_address(context, entry.key)) given.push_back({entry.key, entry.key_where, &entry.value});
    }
    if (const model::StepKind* kind = context.languages.kinds.find(target.kind)) {
      target.options = read_fields(context, kind->target_fields, given, node.where, what);
    }
  } else if (auto text = context.constant_text(node, what)) {
    if (text->empty()) context.report(node.where, what + " is empty");
    target.address = std::move(*text);
    if (const model::StepKind* kind = context.languages.kinds.find(target.kind)) {
      target.options = read_fields(context, kind->target_fields, {}, node.where, what);
    }
  }
  job.targets.push_back(std::move(target));
}

void read_data_source(LoaderContext& context, const YamlEntry& entry, model::Job& job) {
  model::DataSource source;
  source.name = entry.key;
  const std::string what = fmt::format("data '{}'", entry.key);
  const YamlNode* file = &entry.value;
  context.expect_name(entry);
  if (entry.value.is_map()) {
    static constexpr std::array<std::string_view, 4> kKeys{"csv", "json", "pick", "delimiter"};
    const bool known = context.check_keys(entry.value, kKeys, what);
    file = nullptr;
    for (const std::string_view format : kFormats) {
      if (const YamlNode* node = entry.value.find(format)) {
        if (file != nullptr)
          context.report(node->where, fmt::format("{} comes from one file, but two are named", what));
        file = node;
        source.format = format;
      }
    }
    if (file == nullptr) {
      if (known)
        context.report(entry.value.where, fmt::format("{} needs a file: `csv: users.csv` or `json: users.json`", what));
      return;
    }
    if (const YamlNode* pick = entry.value.find("pick")) {
      if (const auto chosen = context.choice(*pick, "'pick'", kPicks)) source.pick = static_cast<model::Pick>(*chosen);
    }
    if (const YamlNode* delimiter = entry.value.find("delimiter")) {
      const auto text = context.constant_text(*delimiter, "'delimiter'");
      if (text && text->size() == 1) {
        source.delimiter = *text;
      } else if (text) {
        context.report(
            delimiter->where,
            fmt::format("'delimiter' must be one ASCII character (one byte) such as ';', found '{}'", *text));
      }
    }
  }
  const auto path = context.constant_text(*file, what);
  if (!path) return;
  if (source.format.empty()) source.format = path->ends_with(".json") || path->ends_with(".jsonl") ? "json" : "csv";
  source.path = resolve_path(file->where, *path);
  source.where = file->where;
  job.data.push_back(std::move(source));
}

void read_threshold(LoaderContext& context, const YamlNode& node, model::Job& job) {
  const YamlNode* that = &node;
  if (node.is_map()) {
    const bool known = context.check_keys(node, kThresholdKeys, "a threshold");
    that = node.find("that");
    if (that == nullptr) {
      if (known) context.report(node.where, "a threshold needs 'that', such as `that: latency p95 < 300ms`");
      return;
    }
  }
  const auto text = context.shown_text(*that, "a threshold");
  if (!text) return;
  auto parsed = parse_threshold(*text);
  if (!parsed) {
    context.reporter.report_inside({*text, that->where}, parsed.error().offset, parsed.error().message);
    return;
  }
  model::Threshold threshold = std::move(*parsed);
  threshold.text = *text;
  threshold.place = that->where;
  ThresholdPlaces places;
  if (const YamlNode* where = node.find("where");
      where != nullptr && context.expect_map(*where, "'where'", "{ step: login }")) {
    for (const YamlEntry& entry : where->map) {
      if (auto value = context.shown_text(entry.value, fmt::format("'{}'", entry.key))) {
        threshold.where.emplace_back(entry.key, std::move(*value));
        places.where.push_back(entry.key == "workflow" || entry.key == "step" ? entry.value.where : entry.key_where);
      }
    }
  }
  if (const YamlNode* window = node.find("window")) {
    threshold.window = context.duration(*window, "'window'", 1s, std::chrono::hours(1));
    if (threshold.window && *threshold.window % 1s != base::Duration::zero()) {
      context.report(
          window->where,
          fmt::format("'window' must be whole seconds, found {}; figures are kept by the second", describe(*window)));
    }
    places.window = window->where;
  }
  if (const YamlNode* least = node.find("min_samples")) {
    threshold.min_samples = context.whole_number(*least, "'min_samples'", 1, 1'000'000'000).value_or(1);
  }
  if (const YamlNode* abort = node.find("abort")) {
    static const model::Field kAbort{.name = "abort", .type = model::FieldType::kBool, .doc = "Ends the run."};
    if (const auto read = read_field(context, kAbort, *abort)) threshold.abort = *read->boolean();
  }
  job.thresholds.push_back(std::move(threshold));
  context.threshold_places.push_back(std::move(places));
}

void read_datacenters(LoaderContext& context, const YamlNode& node, model::Job& job) {
  if (!context.expect_list(node, "'datacenters'", "[ north, south ]")) return;
  for (const YamlNode& each : node.list) {
    const model::Tree tree = to_tree(each);
    if (tree.text() == nullptr) {
      context.report(each.where, fmt::format("each of 'datacenters' must be a name, found {}", describe(each)));
    } else if (auto name = context.constant_text(each, "each of 'datacenters'")) {
      job.datacenters.push_back(std::move(*name));
    }
  }
}

void read_variable(LoaderContext& context, const YamlEntry& entry) {
  if (!identifier(entry.key)) {
    context.report(entry.key_where,
                   fmt::format("'{}' cannot be the name of an environment variable; names are letters, "
                               "digits and '_', and do not begin with a digit",
                               entry.key));
    return;
  }
  context.named_environment.insert(entry.key);
  if (entry.value.null()) {
    context.valueless_environment.insert(entry.key);
    context.report(entry.key_where, fmt::format("'{0}' has no default here; write {0}: \"\" for an empty one, or leave "
                                                "it out: ${{env.{0}}} needs no declaration",
                                                entry.key));
  } else if (auto text = context.constant_text(entry.value, fmt::format("'{}'", entry.key))) {
    context.environment.emplace(entry.key, std::move(*text));
  }
}

void read_version(LoaderContext& context, const YamlNode& root) {
  const YamlNode* version = root.find("muster");
  if (version == nullptr) {
    context.report(root.where, "the file does not say which format it has; put `muster: 1` at its top");
    return;
  }
  if (!version->is_scalar() || version->text != "1") {
    context.report(version->where, fmt::format("this muster reads format 1, found {}", describe(*version)));
  }
}

void read_collections(LoaderContext& context, const YamlNode& root, model::Job& job) {
  if (const YamlNode* target = root.find("target")) read_target(context, "", *target, job);
  if (const YamlNode* targets = root.find("targets");
      targets != nullptr && context.expect_map(*targets, "'targets'", "{ shop: https://shop.test }")) {
    for (const YamlEntry& entry : targets->map) {
      if (entry.key.empty()) {
        context.report(entry.key_where, "a target's name must not be empty");
      } else {
        read_target(context, entry.key, entry.value, job);
      }
    }
  }
  context.targets = job.targets;
  if (const YamlNode* data = root.find("data");
      data != nullptr && context.expect_map(*data, "'data'", "{ users: { csv: users.csv } }")) {
    for (const YamlEntry& entry : data->map) read_data_source(context, entry, job);
  }
  if (const YamlNode* thresholds = root.find("thresholds")) {
    if (thresholds->is_list()) {
      for (const YamlNode& each : thresholds->list) read_threshold(context, each, job);
    } else if (thresholds->is_map() && std::ranges::none_of(thresholds->map, [](const YamlEntry& entry) {
                 return std::ranges::find(kThresholdKeys, entry.key) != kThresholdKeys.end();
               })) {
      context.report(thresholds->where,
                     "'thresholds' is a list of conditions such as `- latency p95 < 300ms` and "
                     "`- failed rate < 1%`, not a map of metrics");
    } else {
      read_threshold(context, *thresholds, job);
    }
  }
}

}  // namespace

std::span<const std::string_view> job_keys() {
  return kJobKeys;
}

void read_environment(LoaderContext& context, const YamlNode& root, model::Job& job) {
  const YamlNode* secrets = root.find("secrets");
  if (secrets != nullptr && secrets->is_map()) {
    context.report(secrets->where,
                   "'secrets' is a list of names such as [ PASSWORD ]; their values come from the environment");
  } else if (secrets != nullptr) {
    const std::vector<YamlNode> single{*secrets};
    for (const YamlNode& each : secrets->is_list() ? secrets->list : single) {
      const auto name = context.constant_text(each, "each item of 'secrets'");
      if (!name) continue;
      const auto found = context.environment.find(*name);
      if (found == context.environment.end()) {
        context.report(each.where,
                       fmt::format("secret '{0}' is not in the environment; run `export {0}=…` first", *name));
        // Later mentions would only repeat this.
        context.environment.emplace(*name, "");
        continue;
      }
      if (found->second.empty()) {
        context.report(each.where,
                       fmt::format("secret '{0}' is empty in the environment; run `export {0}=…` first", *name));
      }
      context.reporter.add_secret(found->second);
      context.named_environment.insert(*name);
      job.secrets.emplace_back(*name, found->second);
      context.secrets = job.secrets;
    }
  }
  if (const YamlNode* env = root.find("env");
      env != nullptr && context.expect_map(*env, "'env'", "{ BASE: https://shop.test }")) {
    for (const YamlEntry& entry : env->map) read_variable(context, entry);
  }
}

bool read_job_options(LoaderContext& context, const YamlNode& root, model::Job& job) {
  // A file with one workflow has that one's keys at its top; they have been moved by now.
  std::vector<std::string_view> known(kJobKeys.begin(), kJobKeys.end());
  known.insert(known.end(), workflow_keys().begin(), workflow_keys().end());
  const bool good = context.check_keys(root, known, "the file");
  read_version(context, root);
  if (const YamlNode* name = root.find("name")) job.name = context.shown_text(*name, "'name'").value_or("");
  if (const YamlNode* tags = root.find("tags")) job.tags = read_tags(context, *tags);
  if (const YamlNode* datacenters = root.find("datacenters")) {
    read_datacenters(context, *datacenters, job);
  }
  if (const YamlNode* timeout = root.find("timeout")) {
    job.timeout = context.duration(*timeout, "'timeout'", 1ms, kLongest);
  }
  if (const YamlNode* seed = root.find("seed")) {
    job.seed = context.whole_number(*seed, "'seed'", 1, std::numeric_limits<std::int64_t>::max()).value_or(0);
  }
  read_collections(context, root, job);
  return good;
}

}  // namespace muster::authoring
