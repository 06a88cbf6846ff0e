#include "authoring/yaml_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <variant>
#include <vector>

#include "authoring/yaml_include.h"
#include "authoring/yaml_tree.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

using PathStep = std::variant<std::string, std::size_t>;

// Nothing if the path is malformed. `a.b[2].c`
std::optional<std::vector<PathStep>> split(std::string_view path) {
  std::vector<PathStep> parts;
  bool name_next = true;
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t end = path.find(']');
      if (parts.empty() || end == std::string_view::npos) return std::nullopt;
      std::size_t index = 0;
      const auto [rest, error] = std::from_chars(path.data() + 1, path.data() + end, index);
      if (error != std::errc{} || rest != path.data() + end) return std::nullopt;
      parts.emplace_back(index);
      path.remove_prefix(end + 1);
      name_next = false;
      continue;
    }
    if (!name_next) {
      if (path.front() != '.') return std::nullopt;
      path.remove_prefix(1);
    }
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    if (end == 0) return std::nullopt;
    parts.emplace_back(std::string(path.substr(0, end)));
    path.remove_prefix(end);
    name_next = false;
  }
  if (parts.empty()) return std::nullopt;
  return parts;
}

class Setter {
 public:
  Setter(LoaderContext& context, const std::string& path, const std::string& value) : context_(context) {
    place_.file = std::make_shared<const std::string>(fmt::format("--set {}={}", path, value));
    parts_ = split(path);
    if (!parts_) {
      context_.report(place_, "this is not a path; write one such as workflows[0].load.vus=5 or target=https://…");
    }
  }

  void apply(YamlNode& root, const std::string& value) {
    if (!parts_) return;
    // Parsed under a name of its own, so that no place in the value is taken for one in the file.
    std::optional<YamlNode> parsed =
        value.empty() ? empty_text() : parse_yaml(value, place_.file, context_.limits, context_.reporter);
    if (!parsed) return;
    move_to(*parsed);
    if (misplaced(root)) return;
    YamlNode* node = start_of(root);
    for (const PathStep& part : *parts_) {
      node = std::holds_alternative<std::string>(part) ? step(*node, std::get<std::string>(part))
                                                       : step(*node, std::get<std::size_t>(part));
      if (node == nullptr) return;
    }
    if (YamlNode* address = address_of_target(*node, *parsed)) node = address;
    *node = std::move(*parsed);
  }

 private:
  // In a file that is one workflow, load.vus means that one's.
  YamlNode* start_of(YamlNode& root) const {
    const auto* first = std::get_if<std::string>(&parts_->front());
    YamlNode* workflows = root.find("workflows");
    const bool inside = context_.single_workflow && first != nullptr && workflows != nullptr && workflows->is_list() &&
                        std::ranges::find(workflow_keys(), *first) != workflow_keys().end();
    return inside && !workflows->list.empty() ? &workflows->list.front() : &root;
  }

  // `load.vus` says whose only where there is one workflow; other files were read in before anything is set.
  bool misplaced(const YamlNode& root) const {
    const auto* first = std::get_if<std::string>(&parts_->front());
    if (first != nullptr && *first == "include") {
      context_.report(
          place_, "'include' cannot be set: files are included before; write it in the file, or set what they hold");
      return true;
    }
    const bool of_workflow = first != nullptr && std::ranges::find(workflow_keys(), *first) != workflow_keys().end();
    if (context_.single_workflow || !of_workflow || root.find("workflows") == nullptr) return false;
    context_.report(place_, fmt::format("'{0}' belongs to one of the 'workflows': write workflows[0].{0}… or, by name, "
                                        "workflows.NAME.{0}…",
                                        *first));
    return true;
  }

  // An address alone replaces that of a target written as a map and leaves its options.
  YamlNode* address_of_target(YamlNode& node, const YamlNode& value) const {
    const auto* first = std::get_if<std::string>(&parts_->front());
    if (parts_->size() != 1 || first == nullptr || *first != "target" || !value.is_scalar()) return nullptr;
    YamlNode* url = node.find("url");
    return url != nullptr ? url : node.find("address");
  }

  YamlNode empty_text() const {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.plain = false;
    return node;
  }

  void move_to(YamlNode& node) const {
    node.where = place_;
    for (YamlNode& each : node.list) move_to(each);
    for (YamlEntry& each : node.map) {
      each.key_where = place_;
      move_to(each.value);
    }
  }

  YamlNode* step(YamlNode& node, const std::string& name) {
    if (node.is_list()) return item(node, name);
    if (node.is_scalar()) {
      context_.report(place_,
                      fmt::format("there is nothing under '{}': the value above it is {}", name, describe(node)));
      return nullptr;
    }
    if (YamlNode* found = node.find(name)) return found;
    node.kind = YamlNode::Kind::kMap;
    node.map.push_back({name, place_, {}});
    node.map.back().value.where = place_;
    return &node.map.back().value;
  }

  YamlNode* item(YamlNode& list, const std::string& name) {
    std::vector<std::string_view> names;
    for (YamlNode& each : list.list) {
      const YamlNode* given = each.find("name");
      if (given == nullptr) continue;
      if (given->text == name) return &each;
      names.push_back(given->text);
    }
    context_.report(place_, fmt::format("nothing there is named '{}'{}", name, base::did_you_mean(name, names)));
    return nullptr;
  }

  YamlNode* step(YamlNode& node, std::size_t index) {
    if (node.is_list() && index < node.list.size()) return &node.list[index];
    context_.report(place_, node.is_list()
                                ? fmt::format("there is no [{}]: the list has {} item{}, counted from 0", index,
                                              node.list.size(), node.list.size() == 1 ? "" : "s")
                                : fmt::format("there is no [{}]: the value is {}, not a list", index, describe(node)));
    return nullptr;
  }

  LoaderContext& context_;
  model::Where place_;
  std::optional<std::vector<PathStep>> parts_;
};

}  // namespace

void apply_set(LoaderContext& context, YamlNode& root, const std::string& path, const std::string& value) {
  Setter(context, path, value).apply(root, value);
}

}  // namespace muster::authoring
