#include "authoring/loader_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "authoring/loader_fields.h"
#include "authoring/loader_step_parts.h"
#include "authoring/loader_synonyms.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

using model::Field;
using model::FieldType;
using model::Shorthand;
using model::Step;
using model::StepKind;

constexpr std::array<std::string_view, 6> kStepKeys{"name", "on", "check", "save", "tags", "after"};
constexpr std::array<std::string_view, 2> kBranchKeys{"weight", "steps"};

bool step_key(std::string_view key) {
  return std::ranges::find(kStepKeys, key) != kStepKeys.end();
}

struct Chosen {
  const StepKind* kind = nullptr;
  const Shorthand* shorthand = nullptr;
  const YamlEntry* entry = nullptr;

  // Whether the kind's fields may stand beside its key.
  bool beside() const { return shorthand != nullptr || kind->inline_fields; }
};

Chosen kind_of(const LoaderContext& context, const YamlEntry& entry) {
  for (const StepKind& kind : context.languages.kinds.all()) {
    if (kind.name == entry.key) return {&kind, nullptr, &entry};
    for (const Shorthand& shorthand : kind.shorthands) {
      if (shorthand.key == entry.key) return {&kind, &shorthand, &entry};
    }
  }
  return {};
}

std::vector<std::string_view> kind_keys(const LoaderContext& context) {
  std::vector<std::string_view> keys;
  for (const StepKind& kind : context.languages.kinds.all()) {
    for (const Shorthand& shorthand : kind.shorthands) keys.push_back(shorthand.key);
    keys.push_back(kind.name);
  }
  return keys;
}

// The first kind with a field of that name, and how a step of it begins.
const StepKind* kind_with(const LoaderContext& context, std::string_view field) {
  for (const StepKind& kind : context.languages.kinds.all()) {
    if (kind.field(field) != nullptr && kind.role == model::StepRole::kTest) return &kind;
  }
  return nullptr;
}

const YamlEntry* field_without_kind(const LoaderContext& context, const YamlNode& node) {
  for (const YamlEntry& entry : node.map) {
    if (!step_key(entry.key) && kind_with(context, entry.key) != nullptr) return &entry;
  }
  return nullptr;
}

std::string beside_advice(const LoaderContext& context, std::string_view field) {
  const StepKind& kind = *kind_with(context, field);
  const std::string inside = fmt::format("`{}: {{ {}: … }}`", kind.name, field);
  if (kind.shorthands.empty()) return fmt::format("write {}", inside);
  if (field == kind.primary || field == kind.shorthands.front().field) {
    return fmt::format("write `{}: …`, or {}", kind.shorthands.front().key, inside);
  }
  return fmt::format("it goes beside `{}: …` in the same step, without a dash of its own", kind.shorthands.front().key);
}

void report_no_kind(LoaderContext& context, const YamlNode& node) {
  const std::vector<std::string_view> keys = kind_keys(context);
  for (const YamlEntry& entry : node.map) {
    if (step_key(entry.key)) continue;
    std::string hint = kind_advice(entry.key);
    if (hint.empty()) hint = base::did_you_mean(entry.key, keys);
    if (!hint.empty()) {
      context.report(entry.key_where, fmt::format("unknown kind of step '{}'{}", entry.key, hint));
      return;
    }
  }
  if (const YamlEntry* field = field_without_kind(context, node)) {
    context.report(field->key_where, fmt::format("'{}' stands without a kind of step; {}", field->key,
                                                 beside_advice(context, field->key)));
    return;
  }
  if (std::ranges::all_of(node.map, [](const YamlEntry& entry) { return step_key(entry.key); })) {
    context.report(node.where,
                   "this step says nothing to do, such as `get: /`; if the next line belongs to it, leave "
                   "out that line's dash");
    return;
  }
  context.report(node.where, fmt::format("this step says nothing to do; it needs one of {}", quoted_list(keys, "or")));
}

// The one kind of the step, or none after reporting. `check` is a kind only where nothing else is.
Chosen choose_kind(LoaderContext& context, const YamlNode& node) {
  std::vector<Chosen> found;
  Chosen common;
  for (const YamlEntry& entry : node.map) {
    const Chosen each = kind_of(context, entry);
    if (each.kind == nullptr) continue;
    if (step_key(entry.key)) {
      common = each;
    } else {
      found.push_back(each);
    }
  }
  if (found.empty() && common.kind != nullptr) return common;
  if (found.empty()) {
    report_no_kind(context, node);
    return {};
  }
  // A field may have the name of another kind: then it is that field.
  for (const Chosen& each : found) {
    const bool others_are_fields = std::ranges::all_of(found, [&](const Chosen& other) {
      return other.entry == each.entry || (each.beside() && each.kind->field(other.entry->key) != nullptr);
    });
    if (others_are_fields) return each;
  }
  const auto& own = found[0].entry->key_where;
  const auto& other = found[1].entry->key_where;
  const bool merged = std::pair(other.line, other.column) < std::pair(node.where.line, node.where.column);
  context.report(
      merged ? own : other,
      fmt::format("a step is of one kind, but both '{}' and '{}'{} stand here; make them two steps",
                  found[0].entry->key, found[1].entry->key, merged ? fmt::format(" (from line {})", other.line) : ""));
  return {};
}

bool takes_map(const Field& field) {
  return field.type == FieldType::kTextMap || field.type == FieldType::kExpressionMap || field.type == FieldType::kTree;
}

class FieldCollector {
 public:
  FieldCollector(LoaderContext& context, const Chosen& chosen) : context_(context), chosen_(chosen) {}

  std::vector<GivenField> collect(const YamlNode& node) {
    from_kind_key();
    for (const YamlEntry& entry : node.map) {
      if (&entry == chosen_.entry || step_key(entry.key)) continue;
      if (chosen_.beside() && chosen_.kind->field(entry.key) != nullptr) {
        add(entry.key, entry.key_where, &entry.value);
      } else {
        report_stranger(entry);
      }
    }
    return std::move(given_);
  }

 private:
  void from_kind_key() {
    const YamlEntry& entry = *chosen_.entry;
    if (step_key(entry.key)) return;
    const Field* primary = chosen_.kind->field(chosen_.kind->primary);
    if (entry.value.null()) {
      const bool wanted = primary != nullptr && primary->required;
      if (wanted && primary->type == FieldType::kText && primary->name != entry.key) {
        context_.report(entry.key_where, fmt::format("'{}' needs a value: its {}", entry.key, primary->name));
        static const YamlNode empty = [] {
          YamlNode node;
          node.kind = YamlNode::Kind::kScalar;
          return node;
        }();
        add(primary->name, entry.key_where, &empty);
      } else if (wanted) {
        add(primary->name, entry.key_where, &entry.value);
      }
      return;
    }
    const bool only_primary = primary != nullptr && chosen_.kind->fields.size() == 1;
    if (entry.value.is_map() && (primary == nullptr || !(takes_map(*primary) || only_primary))) {
      const bool texts = primary != nullptr && primary->type == FieldType::kText && chosen_.kind->inline_fields;
      for (const YamlEntry& each : entry.value.map) {
        if (texts && chosen_.kind->field(each.key) == nullptr && step_key(each.key)) {
          context_.report(each.key_where, fmt::format("'{0}' takes a text; write `{0}: {1}`, and the other keys beside "
                                                      "it",
                                                      entry.key, each.value.text));
          given_.push_back({primary->name, each.key_where, &each.value});
        } else {
          add(each.key, each.key_where, &each.value);
        }
      }
    } else if (primary != nullptr) {
      add(primary->name, entry.key_where, &entry.value);
    } else {
      context_.report(entry.value.where,
                      fmt::format("'{}' takes a map of its options, found {}", entry.key, describe(entry.value)));
    }
  }

  void add(std::string_view name, const model::Where& where, const YamlNode* value) {
    if (chosen_.kind->field(name) == nullptr) {
      given_.push_back({name, where, value});  // reported with its siblings
    } else if (std::ranges::find(given_, name, &GivenField::name) != given_.end()) {
      context_.report(where, fmt::format("'{}' is given twice in this step", name));
    } else if (chosen_.shorthand != nullptr && name == chosen_.shorthand->field) {
      context_.report(where, fmt::format("'{}' already says the {}; leave this out or write '{}:'",
                                         chosen_.shorthand->key, name, chosen_.kind->name));
    } else {
      given_.push_back({name, where, value});
    }
  }

  void report_stranger(const YamlEntry& entry) {
    if (chosen_.kind->field(entry.key) != nullptr) {
      context_.report(entry.key_where, fmt::format("'{0}' belongs inside '{1}': write `{1}: {{ {0}: … }}`", entry.key,
                                                   chosen_.entry->key));
      return;
    }
    std::vector<std::string_view> known(kStepKeys.begin(), kStepKeys.end());
    if (chosen_.beside()) {
      for (const Field& field : chosen_.kind->fields) known.push_back(field.name);
    }
    context_.report(entry.key_where, fmt::format("unknown key '{}' in this '{}' step{}", entry.key, chosen_.entry->key,
                                                 base::did_you_mean(entry.key, known)));
  }

  LoaderContext& context_;
  const Chosen& chosen_;
  std::vector<GivenField> given_;
};

// A branch of a kBranches field: { weight, steps }, a list of steps, or a single step.
model::Branch read_branch(LoaderContext& context, const YamlNode& node, std::size_t index) {
  model::Branch branch;
  branch.label = fmt::format("{}", index);
  if (node.is_list()) {
    branch.steps = read_steps(context, node, "a branch");
    return branch;
  }
  const bool bare = node.is_map() && std::ranges::none_of(node.map, [&](const YamlEntry& entry) {
                      return kind_of(context, entry).kind != nullptr;
                    });
  if (!bare || (node.find("steps") == nullptr && node.find("weight") == nullptr)) {
    YamlNode single;
    single.kind = YamlNode::Kind::kList;
    single.where = node.where;
    single.list.push_back(node);
    branch.steps = read_steps(context, single, "a branch");
    return branch;
  }
  const bool known = context.check_keys(node, kBranchKeys, "a branch");
  static const Field kWeight{
      .name = "weight", .type = FieldType::kNumber, .doc = "Share of this branch.", .min = 0, .max = 1e9};
  if (const YamlNode* weight = node.find("weight")) {
    if (const auto read = read_field(context, kWeight, *weight)) branch.weight = *read->number();
  }
  if (const YamlNode* steps = node.find("steps")) {
    branch.steps = read_steps(context, *steps, "'steps' of a branch");
  } else if (known) {
    context.report(node.where, "a branch needs 'steps'");
  }
  return branch;
}

// "{ weight, steps }" where the field's documentation has it, otherwise plain steps.
std::string_view items_of(const Field& field) {
  const std::size_t open = field.doc.find('{');
  const std::size_t close = field.doc.find('}');
  return open == std::string_view::npos ? "steps" : field.doc.substr(open, close - open + 1);
}

void read_branches(LoaderContext& context, const StepKind& kind, const std::vector<GivenField>& given, Step& step) {
  for (const GivenField& each : given) {
    const Field* field = kind.field(each.name);
    if (field == nullptr || !holds_steps(*field)) continue;
    if (field->type == FieldType::kSteps) {
      model::Branch branch;
      branch.label = field->name;
      branch.steps = read_steps(context, *each.value, fmt::format("'{}'", field->name));
      step.branches.push_back(std::move(branch));
      continue;
    }
    if (!each.value->is_list() || each.value->list.empty()) {
      context.report(each.value->where,
                     fmt::format("'{}' must be a list of {} that is not empty, found {}", field->name, items_of(*field),
                                 each.value->is_list() ? "an empty list" : describe(*each.value)));
      continue;
    }
    double total = 0;
    for (std::size_t i = 0; i < each.value->list.size(); ++i) {
      step.branches.push_back(read_branch(context, each.value->list[i], i));
      total += step.branches.back().weight;
    }
    if (total <= 0) context.report(each.key_where, fmt::format("the weights of '{}' are all 0", field->name));
  }
}

void read_target(LoaderContext& context, const StepKind& kind, const YamlNode& on, Step& step) {
  const auto name = context.constant_text(on, "'on'");
  if (!name) return;
  std::vector<std::string_view> names;
  for (const model::Target& target : context.targets) {
    if (target.name == *name && !name->empty()) {
      step.target = *name;
      if (target.kind != kind.name) {
        context.report(on.where, fmt::format("target '{}' is for '{}' steps, and this is a step of kind '{}'", *name,
                                             target.kind, kind.name));
      }
      return;
    }
    if (!target.name.empty()) names.push_back(target.name);
  }
  std::string hint = base::did_you_mean(*name, names);
  if (hint.empty()) hint = names.empty() ? "; name it under `targets:`" : "; there is " + quoted_list(names, "and");
  context.report(on.where, fmt::format("unknown target '{}'{}", *name, hint));
}

// A kind that connects somewhere needs a target, unless the step's main field is a whole address.
void check_has_target(LoaderContext& context, const StepKind& kind, const Step& step) {
  if (kind.target_fields.empty()) return;
  for (const model::Target& target : context.targets) {
    if (target.name.empty() && target.kind == kind.name) return;
  }
  const model::Tree* address = step.field(kind.primary);
  const std::string* text = address == nullptr ? nullptr : address->text();
  if (text != nullptr && !text->starts_with("${") && text->find("://") == std::string::npos) {
    context.report(address->where,
                   fmt::format("'{}' has no target to go to; add `target: …` at the top of the file, name one with "
                               "`on:`, or write the whole address",
                               *text));
  }
}

void read_common(LoaderContext& context, const YamlNode& node, const Chosen& chosen, Step& step) {
  StepPlaces& places = context.places(step);
  places.name = node.where;
  if (const YamlEntry* name = node.entry("name")) {
    places.name = name->value.where;
    if (auto text = context.shown_text(name->value, "'name'")) {
      step.named = !text->empty();
      if (text->empty()) context.report(name->value.where, "'name' is empty; leave it out or give one");
      step.name = std::move(*text);
    }
  }
  if (const YamlNode* on = node.find("on")) {
    read_target(context, *chosen.kind, *on, step);
  } else {
    check_has_target(context, *chosen.kind, step);
  }
  if (const YamlNode* check = node.find("check")) step.checks = read_checks(context, *check);
  if (const YamlNode* save = node.find("save")) step.saves = read_saves(context, *save);
  if (const YamlNode* tags = node.find("tags")) step.tags = read_tags(context, *tags);
  if (const YamlNode* after = node.find("after")) {
    places.has_after = true;
    places.after.clear();
    step.after = context.text_list(*after, "'after'");
    for (std::size_t i = 0; i < step.after.size(); ++i) {
      places.after.push_back(after->is_list() && i < after->list.size() ? after->list[i].where : after->where);
    }
  }
}

std::optional<Step> read_step(LoaderContext& context, const YamlNode& node) {
  if (!context.expect_map(node, "a step", "get: /")) return std::nullopt;
  const Chosen chosen = choose_kind(context, node);
  if (chosen.kind == nullptr) return std::nullopt;
  Step step;
  step.kind = chosen.kind->name;
  step.where = node.where;
  const std::vector<GivenField> given = FieldCollector(context, chosen).collect(node);
  step.fields = read_fields(context, chosen.kind->fields, given, chosen.entry->key_where,
                            fmt::format("this '{}' step", chosen.entry->key));
  if (chosen.shorthand != nullptr && !chosen.shorthand->field.empty()) {
    std::erase_if(step.fields, [&](const auto& each) { return each.first == chosen.shorthand->field; });
    step.fields.emplace_back(chosen.shorthand->field,
                             model::Tree{chosen.entry->key_where, std::string(chosen.shorthand->value)});
  }
  read_common(context, node, chosen, step);
  read_branches(context, *chosen.kind, given, step);
  return step;
}

}  // namespace

std::vector<Step> read_steps(LoaderContext& context, const YamlNode& node, std::string_view what) {
  std::vector<Step> steps;
  if (!context.expect_list(node, what, "[ { get: / } ]")) return steps;
  if (node.list.empty()) context.report(node.where, fmt::format("{} is empty; give it at least one step", what));
  for (const YamlNode& each : node.list) {
    if (auto step = read_step(context, each)) steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace muster::authoring
