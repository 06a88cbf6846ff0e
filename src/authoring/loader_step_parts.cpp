#include "authoring/loader_step_parts.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace muster::authoring {
namespace {

constexpr std::array<std::string_view, 3> kConditionKeys{"that", "required", "label"};

// A scalar as a condition reads it; a list is short for `in […]`.
std::string condition_text(const YamlNode& node) {
  if (node.null()) return "null";
  if (node.is_scalar()) return node.text;
  std::string text = "in [";
  for (std::size_t i = 0; i < node.list.size(); ++i) {
    if (i > 0) text += ", ";
    const model::Tree tree = to_tree(node.list[i]);
    text += tree.text() != nullptr ? nlohmann::json(*tree.text()).dump() : node.list[i].text;
  }
  return text + "]";
}

bool read_required(LoaderContext& context, const YamlNode& map) {
  const YamlNode* node = map.find("required");
  if (node == nullptr) return false;
  const model::Tree tree = to_tree(*node);
  if (tree.boolean() == nullptr) {
    context.report(node->where, fmt::format("'required' must be true or false, found {}", describe(*node)));
    return false;
  }
  return *tree.boolean();
}

// How results name a check; if the map does not say, by `otherwise`, of which a readable part is enough.
std::string read_label(LoaderContext& context, const YamlNode& map, std::string otherwise) {
  constexpr std::string_view kCut = "…";
  if (const std::size_t most = context.limits.label_bytes; otherwise.size() > most) {
    otherwise = std::string(base::utf8_beginning(otherwise, most - kCut.size())).append(kCut);
  }
  const YamlNode* node = map.is_map() ? map.find("label") : nullptr;
  if (node == nullptr) return otherwise;
  if (node->is_scalar() && !node->text.empty()) return node->text;
  context.report(node->where, fmt::format("'label' must be a text, found {}", describe(*node)));
  return otherwise;
}

// The value of `that`, or of a condition without further keys; null after reporting.
const YamlNode* condition_node(LoaderContext& context, const YamlNode& node) {
  const YamlNode* that = &node;
  if (node.is_map()) {
    const bool known = context.check_keys(node, kConditionKeys, "a check");
    that = node.find("that");
    if (that == nullptr) {
      if (known) context.report(node.where, "a check written as a map needs 'that', its condition");
      return nullptr;
    }
  }
  if (that->is_map() || (that->is_list() && that->list.empty())) {
    context.report(that->where, fmt::format("a check's condition must be a value, a list of values or text such as "
                                            "'< 5' or 'exists', found {}",
                                            that->is_map() ? "a map" : "an empty list"));
    return nullptr;
  }
  for (const YamlNode& each : that->list) {
    if (each.is_list() || each.is_map()) {
      context.report(each.where, fmt::format("a list of values cannot hold {}", describe(each)));
      return nullptr;
    }
  }
  return that;
}

void read_whole(LoaderContext& context, const YamlNode& node, std::vector<model::Check>& checks) {
  const YamlNode* that = condition_node(context, node);
  if (that == nullptr) return;
  if (!that->is_scalar()) {
    context.report(that->where, fmt::format("'check' must be a map of path to condition, or an expression, found {}",
                                            describe(*that)));
    return;
  }
  model::Check check;
  check.label = read_label(context, node, that->text);
  check.condition = {that->text, that->where};
  check.required = node.is_map() && read_required(context, node);
  checks.push_back(std::move(check));
}

void read_pairs(LoaderContext& context, const YamlNode& node, std::vector<model::Check>& checks) {
  for (const YamlEntry& entry : node.map) {
    if (entry.key.empty()) {
      context.report(entry.key_where, "a check must say what it looks at, such as `status` or `json.id`");
      continue;
    }
    const YamlNode* that = condition_node(context, entry.value);
    if (that == nullptr) continue;
    model::Check check;
    check.subject = {entry.key, entry.key_where};
    check.condition = {condition_text(*that), that->where};
    check.label = read_label(context, entry.value, fmt::format("{}: {}", entry.key, check.condition.text));
    check.required = entry.value.is_map() && read_required(context, entry.value);
    checks.push_back(std::move(check));
  }
}

void read_one(LoaderContext& context, const YamlNode& node, std::vector<model::Check>& checks) {
  if (node.is_map() && node.find("that") == nullptr) {
    read_pairs(context, node, checks);
  } else {
    read_whole(context, node, checks);
  }
}

}  // namespace

std::vector<model::Check> read_checks(LoaderContext& context, const YamlNode& node) {
  std::vector<model::Check> checks;
  if (node.null() || (node.is_map() && node.map.empty()) || (node.is_list() && node.list.empty())) {
    context.report(node.where, "'check' is empty; write a map such as `{ status: 200 }`, or an expression");
    return checks;
  }
  if (node.is_list()) {
    for (const YamlNode& each : node.list) read_one(context, each, checks);
  } else {
    read_one(context, node, checks);
  }
  return checks;
}

std::vector<model::Save> read_saves(LoaderContext& context, const YamlNode& node) {
  std::vector<model::Save> saves;
  if (!context.expect_map(node, "'save'", "{ token: json.token }")) return saves;
  for (const YamlEntry& entry : node.map) {
    if (!context.expect_value_name(entry)) continue;
    if (!entry.value.is_scalar()) {
      context.report(entry.value.where, fmt::format("'{}' must be an expression such as json.token, found {}",
                                                    entry.key, describe(entry.value)));
      continue;
    }
    saves.push_back({entry.key, {entry.value.text, entry.value.where}});
  }
  return saves;
}

std::vector<model::Tag> read_tags(LoaderContext& context, const YamlNode& node) {
  std::vector<model::Tag> tags;
  if (!context.expect_map(node, "'tags'", "{ team: shop }")) return tags;
  for (const YamlEntry& entry : node.map) {
    if (!entry.value.is_scalar()) {
      context.report(entry.value.where,
                     fmt::format("tag '{}' must be text, found {}", entry.key, describe(entry.value)));
      continue;
    }
    tags.push_back({entry.key, {entry.value.text, entry.value.where}});
  }
  return tags;
}

}  // namespace muster::authoring
