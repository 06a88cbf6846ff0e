#include "authoring/yaml_include.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "authoring/loader_job.h"
#include "authoring/paths.h"
#include "authoring/yaml_tree.h"

namespace muster::authoring {
namespace {

constexpr std::array<std::string_view, 3> kLists{"workflows", "thresholds", "secrets"};
constexpr std::array<std::string_view, 4> kMaps{"data", "targets", "env", "tags"};
constexpr std::array<std::string_view, 9> kWorkflowOnly{"load",  "priority", "depends", "reset", "start",
                                                        "steps", "stop",     "provide", "use"};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string joined(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : " → ") + file;
  return text;
}

class Includer {
 public:
  explicit Includer(LoaderContext& context) : context_(context) {}

  void merge(YamlNode& root, const std::string& file) {
    const YamlNode* include = root.find("include");
    if (include == nullptr) return;
    stack_.push_back(std::filesystem::path(file).lexically_normal().string());
    seen_.insert(stack_.back());
    const YamlNode named = *include;
    const std::vector<YamlNode> single{named};
    for (const YamlNode& each : named.is_list() ? named.list : single) {
      if (const auto path = context_.constant_text(each, "each item of 'include'")) add(root, each, *path);
    }
    stack_.pop_back();
  }

 private:
  void add(YamlNode& root, const YamlNode& place, const std::string& written) {
    const std::string path = resolve_path(place.where, written);
    if (std::ranges::find(stack_, path) != stack_.end()) {
      std::vector<std::string> cycle(std::ranges::find(stack_, path), stack_.end());
      cycle.push_back(path);
      context_.report(place.where, fmt::format("the files include each other in a circle: {}", joined(cycle)));
      return;
    }
    if (stack_.size() >= context_.limits.include_depth) {
      context_.report(place.where, fmt::format("included more than {} levels deep", context_.limits.include_depth));
      return;
    }
    if (!seen_.insert(path).second) return;
    if (seen_.size() > context_.limits.includes) {
      context_.report(place.where, fmt::format("more than {} files are included", context_.limits.includes));
      return;
    }
    if (!context_.input.read_file) {
      context_.report(place.where, "files cannot be included here");
      return;
    }
    auto text = context_.input.read_file(path);
    if (!text) {
      context_.report(place.where, fmt::format("cannot read '{}': {}", path, text.error().message));
      return;
    }
    const auto name = context_.reporter.add_source(path, *text);
    std::optional<YamlNode> included = parse_yaml(*text, name, context_.limits, context_.reporter);
    if (!included || !context_.expect_map(*included, "an included file", "workflows: […]")) return;
    context_.check_keys(*included, known_keys(), "an included file");
    wrap_single_workflow(context_, *included, path);
    merge(*included, path);
    join(root, std::move(*included));
  }

  static std::vector<std::string_view> known_keys() {
    std::vector<std::string_view> keys(job_keys().begin(), job_keys().end());
    keys.insert(keys.end(), kWorkflowOnly.begin(), kWorkflowOnly.end());
    return keys;
  }

  void join(YamlNode& root, YamlNode included) {
    for (YamlEntry& entry : included.map) {
      if (entry.key == "include" || entry.key == "muster") continue;
      YamlNode* own = root.find(entry.key);
      if (own == nullptr) {
        if (std::ranges::find(job_keys(), entry.key) != job_keys().end()) root.map.push_back(std::move(entry));
      } else if (contains(kLists, entry.key)) {
        make_list(*own);
        make_list(entry.value);
        std::ranges::move(entry.value.list, std::back_inserter(own->list));
      } else if (contains(kMaps, entry.key) && own->is_map() && entry.value.is_map()) {
        join_map(*own, std::move(entry.value), entry.key);
      }
    }
  }

  static void make_list(YamlNode& node) {
    if (node.is_list()) return;
    YamlNode list;
    list.kind = YamlNode::Kind::kList;
    list.where = node.where;
    list.list.push_back(std::move(node));
    node = std::move(list);
  }

  void join_map(YamlNode& own, YamlNode included, std::string_view key) {
    const bool replaceable = key == "env" || key == "tags";
    std::unordered_map<std::string, model::Where> there;
    for (const YamlEntry& each : own.map) there.emplace(each.key, each.key_where);
    for (YamlEntry& each : included.map) {
      const auto first = there.find(each.key);
      if (first == there.end()) {
        own.map.push_back(std::move(each));
      } else if (!replaceable) {
        context_.report(each.key_where, fmt::format("'{}' is already under '{}' in {} on line {}", each.key, key,
                                                    *first->second.file, first->second.line));
      }
    }
  }

  LoaderContext& context_;
  std::vector<std::string> stack_;
  std::set<std::string> seen_;
};

}  // namespace

std::span<const std::string_view> workflow_keys() {
  return kWorkflowOnly;
}

void merge_includes(LoaderContext& context, YamlNode& root, const std::string& file) {
  Includer(context).merge(root, file);
  // An included file may be one workflow too: with a second one, load.vus does not say whose.
  const YamlNode* workflows = root.find("workflows");
  if (workflows != nullptr && workflows->list.size() != 1) context.single_workflow = false;
}

void wrap_single_workflow(LoaderContext& context, YamlNode& root, const std::string& file) {
  const YamlEntry* first = nullptr;
  for (const YamlEntry& entry : root.map) {
    if (contains(kWorkflowOnly, entry.key)) {
      first = &entry;
      break;
    }
  }
  if (first == nullptr) return;
  if (root.find("workflows") != nullptr) {
    for (const YamlEntry& entry : root.map) {
      if (!contains(kWorkflowOnly, entry.key)) continue;
      context.report(entry.key_where, fmt::format("'{}' belongs inside one of the 'workflows'", entry.key));
    }
    std::erase_if(root.map, [](const YamlEntry& entry) { return contains(kWorkflowOnly, entry.key); });
    return;
  }
  YamlEntry workflows{"workflows", first->key_where, {}};
  YamlNode workflow;
  workflow.kind = YamlNode::Kind::kMap;
  workflow.where = first->key_where;
  YamlEntry name{"name", first->key_where, {}};
  if (const YamlNode* given = root.find("name"); given != nullptr && given->is_scalar()) {
    name.value = *given;
  } else {
    name.value.kind = YamlNode::Kind::kScalar;
    name.value.where = first->key_where;
    name.value.text = std::filesystem::path(file).stem().string();
    if (name.value.text.empty()) name.value.text = "workflow";
  }
  workflow.map.push_back(std::move(name));
  for (YamlEntry& entry : root.map) {
    if (contains(kWorkflowOnly, entry.key)) workflow.map.push_back(entry);
  }
  std::erase_if(root.map, [](const YamlEntry& entry) { return contains(kWorkflowOnly, entry.key); });
  workflows.value.kind = YamlNode::Kind::kList;
  workflows.value.where = workflow.where;
  workflows.value.list.push_back(std::move(workflow));
  root.map.push_back(std::move(workflows));
  context.single_workflow = true;
}

}  // namespace muster::authoring
