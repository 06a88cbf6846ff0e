#include "authoring/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace muster::authoring {
namespace {

constexpr std::size_t kShown = 60;

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether `text` is a decimal number as JSON writes it, with an optional leading '+'.
bool decimal(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!digits_only(power)) return false;
    text = text.substr(0, exponent);
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.size() > 1 && whole.front() == '0') return false;
  if (point == std::string_view::npos) return digits_only(whole);
  return digits_only(whole) && digits_only(text.substr(point + 1));
}

void scalar_to_tree(const YamlNode& node, model::Tree& tree) {
  const std::string& text = node.text;
  tree.value = text;
  if (!node.plain) return;
  if (text == "true" || text == "True" || text == "TRUE") tree.value = true;
  if (text == "false" || text == "False" || text == "FALSE") tree.value = false;
  if (!decimal(text)) return;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [rest, error] = std::from_chars(begin, end, integer); error == std::errc{} && rest == end) {
    tree.value = integer;
    return;
  }
  double number = 0;
  if (const auto [rest, error] = std::from_chars(begin, end, number);
      error == std::errc{} && rest == end && std::isfinite(number)) {
    tree.value = number;
    if (text.find_first_of(".eE") == std::string::npos) tree.digits.assign(begin, end);
  }
}

}  // namespace

const YamlEntry* YamlNode::entry(std::string_view key) const {
  for (const YamlEntry& each : map) {
    if (each.key == key) return &each;
  }
  return nullptr;
}

const YamlNode* YamlNode::find(std::string_view key) const {
  const YamlEntry* found = entry(key);
  return found == nullptr ? nullptr : &found->value;
}

YamlNode* YamlNode::find(std::string_view key) {
  for (YamlEntry& each : map) {
    if (each.key == key) return &each.value;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return node.list.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.text.size() <= kShown) return fmt::format("'{}'", node.text);
  return fmt::format("'{}…'", std::string_view(node.text).substr(0, kShown));
}

bool too_large(const YamlNode& node) {
  return node.is_scalar() && node.plain && digits_only(node.text) && !node.text.starts_with('0');
}

std::string_view quotes_advice(const YamlNode& node) {
  if (!node.is_scalar() || node.plain) return {};
  YamlNode bare = node;
  bare.plain = true;
  const model::Tree tree = to_tree(bare);
  return tree.text() == nullptr ? "; leave out the quotes" : std::string_view();
}

std::string number_advice(const YamlNode& node) {
  const bool zero = node.is_scalar() && node.plain && node.text.size() > 1 && node.text.size() <= kShown &&
                    node.text.starts_with('0') && digits_only(node.text);
  if (!zero) return std::string(quotes_advice(node));
  const std::size_t first = std::min(node.text.find_first_not_of('0'), node.text.size() - 1);
  return fmt::format("; leave out the leading zero: {}", std::string_view(node.text).substr(first));
}

model::Tree to_tree(const YamlNode& node) {
  model::Tree tree;
  tree.where = node.where;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      break;
    case YamlNode::Kind::kScalar:
      scalar_to_tree(node, tree);
      break;
    case YamlNode::Kind::kList: {
      model::TreeList list;
      list.reserve(node.list.size());
      for (const YamlNode& each : node.list) list.push_back(to_tree(each));
      tree.value = std::move(list);
      break;
    }
    case YamlNode::Kind::kMap: {
      model::TreeMap map;
      map.reserve(node.map.size());
      for (const YamlEntry& each : node.map) map.emplace_back(each.key, to_tree(each.value));
      tree.value = std::move(map);
      break;
    }
  }
  return tree;
}

}  // namespace muster::authoring
