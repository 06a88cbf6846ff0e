#include "authoring/loader_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "authoring/paths.h"
#include "base/closest.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

using model::Field;
using model::FieldType;
using model::Tree;

std::string bound_text(const Field& field, double value) {
  switch (field.type) {
    case FieldType::kDuration:
    case FieldType::kDurationRange:
      return base::format_duration(base::from_seconds(value));
    case FieldType::kSize:
      return base::format_size(static_cast<std::uint64_t>(value));
    default:
      return fmt::format("{}", value);
  }
}

bool within(LoaderContext& context, const Field& field, const YamlNode& node, double value) {
  if (value >= field.min && value <= field.max) return true;
  const bool low = field.min > std::numeric_limits<double>::lowest();
  const bool high = field.max < std::numeric_limits<double>::max();
  const std::string range =
      low && high ? fmt::format("between {} and {}", bound_text(field, field.min), bound_text(field, field.max))
      : low       ? fmt::format("at least {}", bound_text(field, field.min))
                  : fmt::format("at most {}", bound_text(field, field.max));
  context.report(node.where, fmt::format("'{}' must be {}, found {}", field.name, range, describe(node)));
  return false;
}

std::optional<Tree> wrong(LoaderContext& context, const Field& field, const YamlNode& node, std::string_view expected) {
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kNumber;
  const std::string advice = number                           ? number_advice(node)
                             : field.type == FieldType::kText ? std::string()
                                                              : std::string(quotes_advice(node));
  context.report(node.where, fmt::format("'{}' must be {}, found {}{}", field.name, expected, describe(node), advice));
  return std::nullopt;
}

std::optional<Tree> wrong_unit(LoaderContext& context, const Field& field, const YamlNode& node,
                               const std::string& message) {
  context.report(node.where, fmt::format("'{}': {}", field.name, message));
  return std::nullopt;
}

Tree text_of(const YamlNode& node) {
  return {node.where, node.text};
}

// A file that cannot be read was still named: what goes with it is not blamed for standing alone.
std::optional<Tree> read_path(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_scalar()) {
    wrong(context, field, node, "the path of a file");
    return Tree{node.where, std::string()};
  }
  std::string path = resolve_path(node.where, node.text);
  const std::string why = context.input.file_problem ? context.input.file_problem(path) : std::string();
  if (!why.empty()) context.report(node.where, fmt::format("'{}': cannot read '{}': {}", field.name, path, why));
  return Tree{node.where, std::move(path)};
}

std::optional<Tree> read_bool(LoaderContext& context, const Field& field, const YamlNode& node) {
  Tree tree = to_tree(node);
  if (tree.boolean() == nullptr) return wrong(context, field, node, "true or false");
  return tree;
}

std::optional<Tree> read_integer(LoaderContext& context, const Field& field, const YamlNode& node) {
  Tree tree = to_tree(node);
  if (tree.integer() == nullptr && !too_large(node)) {
    return wrong(context, field, node, "a whole number");
  }
  if (tree.integer() == nullptr) {
    within(context, field, node, std::numeric_limits<double>::infinity());
    return std::nullopt;
  }
  if (!within(context, field, node, static_cast<double>(*tree.integer()))) return std::nullopt;
  return tree;
}

std::optional<Tree> read_number(LoaderContext& context, const Field& field, const YamlNode& node) {
  Tree tree = to_tree(node);
  if (const std::int64_t* integer = tree.integer()) tree.value = static_cast<double>(*integer);
  if (tree.number() == nullptr) {
    const bool percent = node.is_scalar() && node.text.ends_with('%');
    return wrong(context, field, node, percent ? "a number such as 50, without '%'" : "a number");
  }
  if (!within(context, field, node, *tree.number())) return std::nullopt;
  return tree;
}

std::optional<Tree> read_duration(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_scalar()) return wrong(context, field, node, "a time such as 300ms");
  const auto parsed = base::parse_duration(node.text);
  if (!parsed) return wrong_unit(context, field, node, parsed.error().message);
  if (!within(context, field, node, base::seconds(*parsed))) return std::nullopt;
  return Tree{node.where, std::int64_t{parsed->count()}};
}

std::optional<Tree> read_duration_range(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_scalar()) return wrong(context, field, node, "a time such as 2s or a range such as 1s..3s");
  const std::size_t dots = node.text.find("..");
  const std::string first = node.text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : node.text.substr(dots + 2);
  const auto from = base::parse_duration(first);
  const auto to = base::parse_duration(last);
  if (!from || !to) {
    const bool range = last.starts_with('.') || node.text.find('-', 1) != std::string::npos;
    return wrong_unit(context, field, node,
                      range ? fmt::format("expected a time such as 2s or a range with two dots such as 1s..3s, found "
                                          "'{}'",
                                          node.text)
                            : (from ? to : from).error().message);
  }
  if (*from > *to) {
    return wrong_unit(context, field, node, fmt::format("the range '{}' ends before it begins", node.text));
  }
  if (!within(context, field, node, base::seconds(*from))) return std::nullopt;
  if (!within(context, field, node, base::seconds(*to))) return std::nullopt;
  return Tree{node.where,
              model::TreeList{{node.where, std::int64_t{from->count()}}, {node.where, std::int64_t{to->count()}}}};
}

std::optional<Tree> read_size(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_scalar()) return wrong(context, field, node, "a size such as 10KB");
  const auto parsed = base::parse_size(node.text);
  if (!parsed) return wrong_unit(context, field, node, parsed.error().message);
  if (!within(context, field, node, static_cast<double>(*parsed))) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return Tree{node.where, static_cast<std::int64_t>(std::min(*parsed, kMost))};
}

std::optional<Tree> read_choice(LoaderContext& context, const Field& field, const YamlNode& node) {
  const auto chosen = context.choice(node, fmt::format("'{}'", field.name), field.choices);
  if (!chosen) return std::nullopt;
  return Tree{node.where, std::string(field.choices[*chosen])};
}

std::optional<Tree> read_text_map(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_map()) return wrong(context, field, node, "a map of name to text");
  model::TreeMap map;
  for (const YamlEntry& entry : node.map) {
    if (field.repeats && entry.value.is_list() && std::ranges::all_of(entry.value.list, &YamlNode::is_scalar)) {
      model::TreeList list;
      for (const YamlNode& each : entry.value.list) list.push_back(text_of(each));
      map.emplace_back(entry.key, Tree{entry.value.where, std::move(list)});
      map.back().second.key_where = entry.key_where;
      continue;
    }
    if (field.repeats && entry.value.is_list()) {
      const YamlNode& first = *std::ranges::find_if_not(entry.value.list, &YamlNode::is_scalar);
      context.report(first.where,
                     fmt::format("'{}' of '{}' must be a list of texts, found {} in it{}", entry.key, field.name,
                                 describe(first), first.null() ? "; write \"\" for an empty text" : ""));
      continue;
    }
    if (entry.value.is_list() || entry.value.is_map()) {
      context.report(entry.value.where,
                     fmt::format("'{}' of '{}' must be text, found {}", entry.key, field.name, describe(entry.value)));
      continue;
    }
    map.emplace_back(entry.key,
                     entry.value.null() && field.repeats ? Tree{entry.value.where, {}} : text_of(entry.value));
    map.back().second.key_where = entry.key_where;
  }
  return Tree{node.where, std::move(map)};
}

std::optional<Tree> read_expression_map(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (!node.is_map() || node.map.empty()) return wrong(context, field, node, "a map of name to expression");
  model::TreeMap map;
  for (const YamlEntry& entry : node.map) {
    if (!context.expect_value_name(entry)) continue;
    if (entry.value.is_list() || entry.value.is_map()) {
      context.report(entry.value.where, fmt::format("'{}' must be an expression or a plain value, found {}", entry.key,
                                                    describe(entry.value)));
      continue;
    }
    map.emplace_back(entry.key, to_tree(entry.value));
  }
  return Tree{node.where, std::move(map)};
}

std::optional<Tree> read_text_list(LoaderContext& context, const Field& field, const YamlNode& node) {
  model::TreeList list;
  if (node.is_scalar()) {
    list.push_back(text_of(node));
  } else if (node.is_list()) {
    for (const YamlNode& each : node.list) {
      if (!each.is_scalar()) return wrong(context, field, each, "a list of texts");
      list.push_back(text_of(each));
    }
  } else {
    return wrong(context, field, node, "a text or a list of texts");
  }
  return Tree{node.where, std::move(list)};
}

std::optional<Tree> read_ranges(LoaderContext& context, const Field& field, const YamlNode& node) {
  const std::vector<YamlNode> single{node};
  const std::vector<YamlNode>& items = node.is_list() ? node.list : single;
  if (items.empty()) return wrong(context, field, node, "a list of numbers and ranges such as [200, 300..399]");
  model::TreeList list;
  for (const YamlNode& item : items) {
    const std::size_t dots = item.text.find("..");
    YamlNode bound = item;
    bound.plain = item.plain || dots != std::string::npos;  // a range is a text in YAML anyway
    std::vector<std::int64_t> ends;
    for (const std::string& text :
         {item.text.substr(0, dots), dots == std::string::npos ? item.text : item.text.substr(dots + 2)}) {
      bound.text = text;
      const Tree tree = to_tree(bound);
      if (tree.integer() == nullptr) {
        // What keeps either end from being a number keeps the range from being one.
        context.report(item.where, fmt::format("'{}' must be a number or a range such as 200..299, found {}{}",
                                               field.name, describe(item), number_advice(bound)));
        return std::nullopt;
      }
      if (!within(context, field, item, static_cast<double>(*tree.integer()))) return std::nullopt;
      ends.push_back(*tree.integer());
    }
    if (ends[0] > ends[1]) {
      return wrong_unit(context, field, item, fmt::format("the range '{}' ends before it begins", item.text));
    }
    list.push_back({item.where, model::TreeList{{item.where, ends[0]}, {item.where, ends[1]}}});
  }
  return Tree{node.where, std::move(list)};
}

std::optional<Tree> read_filled(LoaderContext& context, const Field& field, const YamlNode& node) {
  switch (field.type) {
    case FieldType::kPath:
      return read_path(context, field, node);
    case FieldType::kText:
    case FieldType::kExpression:
      if (!node.is_scalar()) {
        return wrong(context, field, node, field.type == FieldType::kText ? "text" : "an expression");
      }
      return text_of(node);
    case FieldType::kBool:
      return read_bool(context, field, node);
    case FieldType::kInteger:
      return read_integer(context, field, node);
    case FieldType::kNumber:
      return read_number(context, field, node);
    case FieldType::kDuration:
      return read_duration(context, field, node);
    case FieldType::kDurationRange:
      return read_duration_range(context, field, node);
    case FieldType::kSize:
      return read_size(context, field, node);
    case FieldType::kChoice:
      return read_choice(context, field, node);
    case FieldType::kTextMap:
      return read_text_map(context, field, node);
    case FieldType::kExpressionMap:
      return read_expression_map(context, field, node);
    case FieldType::kTextList:
      return read_text_list(context, field, node);
    case FieldType::kRanges:
      return read_ranges(context, field, node);
    case FieldType::kTree:
      return to_tree(node);
    case FieldType::kSteps:
    case FieldType::kBranches:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool holds_steps(const Field& field) {
  return field.type == FieldType::kSteps || field.type == FieldType::kBranches;
}

std::optional<Tree> read_field(LoaderContext& context, const Field& field, const YamlNode& node) {
  if (field.holes || field.type == FieldType::kExpression) return read_filled(context, field, node);
  YamlNode filled = node;
  if (!context.fill_constants(filled)) {
    if (field.type == FieldType::kPath) return Tree{node.where, std::string()};  // named, as in read_path()
    return std::nullopt;
  }
  return read_filled(context, field, filled);
}

std::optional<Tree> default_of(LoaderContext& context, const Field& field) {
  if (field.fallback.empty()) return std::nullopt;
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.text = field.fallback;
  return read_filled(context, field, node);
}

model::TreeMap read_fields(LoaderContext& context, std::span<const Field> fields, std::span<const GivenField> given,
                           const model::Where& owner, std::string_view what) {
  bool known = true;
  for (const GivenField& each : given) {
    if (std::ranges::any_of(fields, [&](const Field& field) { return field.name == each.name; })) continue;
    known = false;
    if (context.reporter.full()) break;
    std::vector<std::string_view> names;
    for (const Field& field : fields) names.push_back(field.name);
    context.report(each.key_where,
                   fmt::format("unknown key '{}' in {}{}", each.name, what, base::did_you_mean(each.name, names)));
  }
  model::TreeMap read;
  for (const Field& field : fields) {
    const auto found = std::ranges::find(given, field.name, &GivenField::name);
    if (found == given.end()) {
      if (field.required && known) context.report(owner, fmt::format("{} needs '{}'", what, field.name));
      if (auto tree = holds_steps(field) ? std::nullopt : default_of(context, field)) {
        read.emplace_back(field.name, std::move(*tree));
      }
    } else if (!holds_steps(field)) {
      if (auto tree = read_field(context, field, *found->value)) read.emplace_back(field.name, std::move(*tree));
    }
  }
  return read;
}

}  // namespace muster::authoring
