// Reads a value by its descriptor: type, unit, bounds and choices come from the Field, whatever kind of step, target or
// load shape it belongs to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "authoring/loader_context.h"
#include "model/step_kind.h"
#include "model/tree.h"

namespace muster::authoring {

// In the form that FieldType states, or nothing after reporting. Fields of steps (kSteps, kBranches) are not read here.
std::optional<model::Tree> read_field(LoaderContext& context, const model::Field& field, const YamlNode& node);

// The field's default in the same form; nothing if it has none.
std::optional<model::Tree> default_of(LoaderContext& context, const model::Field& field);

struct GivenField {
  std::string_view name;
  model::Where key_where;
  const YamlNode* value = nullptr;
};

// Reads all that was given, reports unknown and missing fields, and fills in defaults. The result has the order of
// `fields`. `what` names the owner in messages: "an http step". Fields of steps are passed over.
model::TreeMap read_fields(LoaderContext& context, std::span<const model::Field> fields,
                           std::span<const GivenField> given, const model::Where& owner, std::string_view what);

bool holds_steps(const model::Field& field);

}  // namespace muster::authoring
