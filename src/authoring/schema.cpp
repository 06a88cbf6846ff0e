#include "authoring/schema.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "authoring/expression_words.h"

namespace muster::authoring {
namespace {

using Json = nlohmann::ordered_json;
using model::Field;
using model::FieldType;

constexpr std::string_view kDuration = R"(^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+)$|\$\{)";
constexpr std::string_view kRate = R"(^[0-9]+(\.[0-9]+)?(/[0-9]*(ns|us|µs|ms|s|m|h|d))?$|\$\{)";

Json reference(std::string_view name) {
  return {{"$ref", "#/$defs/" + std::string(name)}};
}

Json described(Json schema, std::string_view doc) {
  schema["description"] = doc;
  return schema;
}

Json text_or_list() {
  return {{"anyOf", Json::array({{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}})}};
}

Json scalar() {
  return {{"type", Json::array({"string", "number", "boolean", "null"})}};
}

// A number or a truth value is read as its text.
Json text() {
  return {{"type", Json::array({"string", "number", "boolean"})}};
}

// What `set`, `save`, `provide` and `use` may call a value.
Json value_names() {
  Json words = Json::array();
  for (const std::string_view word : expression_words()) words.push_back(word);
  return {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}, {"not", {{"enum", words}}}};
}

void add_bounds(Json& schema, const Field& field) {
  if (field.min > std::numeric_limits<double>::lowest()) schema["minimum"] = field.min;
  if (field.max < std::numeric_limits<double>::max()) schema["maximum"] = field.max;
}

// A number, or text in which ${env.X} gives one.
Json number(std::string_view type, const Field& field) {
  Json plain{{"type", type}};
  add_bounds(plain, field);
  return {{"anyOf", Json::array({plain, {{"type", "string"}, {"pattern", R"(\$\{)"}}})}};
}

Json field_schema(const Field& field) {
  switch (field.type) {
    case FieldType::kPath:
      return {{"type", "string"}};
    case FieldType::kText:
    case FieldType::kExpression:
      return {{"type", Json::array({"string", "number", "boolean"})}};
    case FieldType::kBool:
      return {{"type", "boolean"}};
    case FieldType::kInteger:
      return number("integer", field);
    case FieldType::kNumber:
      return number("number", field);
    case FieldType::kDuration:
      return reference("duration");
    case FieldType::kDurationRange:
      return {{"type", Json::array({"string", "integer"})}};
    case FieldType::kSize:
      return {{"type", Json::array({"string", "integer"})}};
    case FieldType::kChoice: {
      Json words = Json::array();
      for (const std::string_view choice : field.choices) words.push_back(choice);
      // YAML reads 1.2 and 4 as numbers; the loader takes them as the words they are.
      return {{"anyOf", Json::array({{{"enum", words}}, {{"type", "number"}}})}};
    }
    case FieldType::kTextMap:
      if (field.repeats) {
        const Json several{{"type", "array"}, {"items", scalar()}};
        return {{"type", "object"}, {"additionalProperties", {{"anyOf", Json::array({scalar(), several})}}}};
      }
      return {{"type", "object"}, {"additionalProperties", scalar()}};
    case FieldType::kExpressionMap:
      return {{"type", "object"}, {"propertyNames", value_names()}, {"additionalProperties", scalar()}};
    case FieldType::kTextList:
      return text_or_list();
    case FieldType::kRanges: {
      const Json one{{"type", Json::array({"integer", "string"})}};
      return {{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}, {"minItems", 1}}})}};
    }
    case FieldType::kTree:
      return Json::object();
    case FieldType::kSteps:
      return reference("steps");
    case FieldType::kBranches:
      return reference("branches");
  }
  return Json::object();
}

Json documented(const Field& field) {
  Json schema = described(field_schema(field), field.doc);
  if (!field.fallback.empty()) schema["default"] = field.fallback;
  return schema;
}

Json properties(const std::vector<Field>& fields) {
  Json all = Json::object();
  for (const Field& field : fields) all[std::string(field.name)] = documented(field);
  return all;
}

Json step_schema(const Languages& languages) {
  Json keys{
      {"name", described(text(), "Name of the step, unique in its workflow.")},
      {"on", {{"type", "string"}, {"description", "Name of the target to use."}}},
      {"check", {{"description", "A map of path to condition, one expression, or a list of either."}}},
      {"save",
       {{"type", "object"},
        {"propertyNames", value_names()},
        {"additionalProperties", scalar()},
        {"description", "Name → expression over the result."}}},
      {"tags", reference("tags")},
      {"after", described(text_or_list(), "Steps that must have finished before this one starts.")},
  };
  Json kinds = Json::array();
  const auto add_kind = [&](std::string_view key) { kinds.push_back({{"required", Json::array({key})}}); };
  for (const model::StepKind& kind : languages.kinds.all()) {
    const Field* primary = kind.field(kind.primary);
    Json inside{{"type", "object"}, {"properties", properties(kind.fields)}, {"additionalProperties", false}};
    const Json value = primary == nullptr ? inside : Json{{"anyOf", Json::array({field_schema(*primary), inside})}};
    if (!keys.contains(kind.name)) {
      keys[std::string(kind.name)] = described(value, kind.doc);
      add_kind(kind.name);
    }
    for (const model::Shorthand& shorthand : kind.shorthands) {
      keys[std::string(shorthand.key)] = described(value, kind.doc);
      add_kind(shorthand.key);
    }
    if (kind.shorthands.empty() && !kind.inline_fields) continue;
    for (const Field& field : kind.fields) {
      if (!keys.contains(field.name)) keys[std::string(field.name)] = documented(field);
    }
  }
  // `check` alone is a kind too, and stands in any other step: hence no oneOf.
  add_kind("check");
  return {{"type", "object"}, {"properties", keys}, {"additionalProperties", false}, {"anyOf", kinds}};
}

Json target_schema(const Languages& languages) {
  Json keys{{"url", {{"type", "string"}}}, {"address", {{"type", "string"}}}};
  for (const model::StepKind& kind : languages.kinds.all()) {
    if (kind.role != model::StepRole::kTest) continue;
    keys[std::string(kind.name)] = described({{"type", "string"}}, "Address for steps of this kind.");
    for (const Field& field : kind.target_fields) keys[std::string(field.name)] = documented(field);
  }
  const Json map{{"type", "object"}, {"properties", keys}, {"additionalProperties", false}};
  return {{"anyOf", Json::array({{{"type", "string"}}, map})}};
}

Json load_schema(const Languages& languages) {
  const Json count{{"type", Json::array({"integer", "string"})}};
  const Json stage{{"type", "object"},
                   {"properties",
                    {{"to", {{"type", Json::array({"number", "string"})}}},
                     {"over", reference("duration")},
                     {"hold", reference("duration")}}},
                   {"additionalProperties", false}};
  const Json stages{{"type", "array"}, {"items", stage}, {"minItems", 1}};
  const Json rate{{"type", Json::array({"string", "number"})}, {"pattern", kRate}};
  Json keys{
      {"vus", described({{"anyOf", Json::array({count, stages})}}, "Virtual users, or the stages of a ramp.")},
      {"iterations", described(count, "How many in all, or '50 each' for every VU.")},
      {"rate", described({{"anyOf", Json::array({rate, stages})}}, "Arrivals, such as 200/s, or stages of a ramp.")},
      {"for", described(reference("duration"), "How long.")},
      {"max_vus", described(count, "Most VUs at once, with 'rate'.")},
      {"spacing", {{"enum", Json::array({"even", "poisson"})}}},
      {"warm_up", described(reference("duration"), "Runs first and is not counted.")},
      {"every", described(reference("duration"), "Least time between two starts of a VU's iterations.")},
      {"late", {{"enum", Json::array({"queue", "drop"})}}},
      {"grace", described(reference("duration"), "Time for work in flight at the end.")},
  };
  for (const LoadShapeKey& shape : languages.shapes) {
    keys[shape.name] = {{"type", "object"}, {"properties", properties(shape.fields)}, {"additionalProperties", false}};
  }
  return {{"type", "object"}, {"properties", keys}, {"additionalProperties", false}};
}

Json workflow_keys() {
  return {
      {"name", text()},
      {"load", reference("load")},
      {"priority", {{"enum", Json::array({"auto", "low", "normal", "high", "exclusive"})}}},
      {"depends", described(text_or_list(), "Workflows that must have ended before this one starts.")},
      {"timeout", reference("duration")},
      {"reset", {{"enum", Json::array({"never", "iteration"})}}},
      {"start", described(reference("steps"), "Once for each VU, before its first iteration.")},
      {"steps", described(reference("steps"), "One iteration.")},
      {"stop", described(reference("steps"), "Once for each VU, after its last iteration.")},
      {"provide",
       {{"type", "object"},
        {"propertyNames", value_names()},
        {"description", "Values for workflows that depend on this one."}}},
      {"use",
       {{"type", "object"}, {"propertyNames", value_names()}, {"description", "Key → workflow that provides it."}}},
      {"tags", reference("tags")},
  };
}

Json job_keys_schema() {
  Json keys{
      {"muster", {{"enum", Json::array({1, "1"})}, {"description", "Version of the format."}}},
      {"name", text()},
      {"target", described(reference("target"), "Where steps go that name no other.")},
      {"targets", {{"type", "object"}, {"additionalProperties", reference("target")}}},
      {"data",
       {{"type", "object"},
        {"additionalProperties",
         {{"anyOf", Json::array({{{"type", "string"}},
                                 {{"type", "object"},
                                  {"properties",
                                   {{"csv", {{"type", "string"}}},
                                    {"json", {{"type", "string"}}},
                                    {"pick", {{"enum", Json::array({"sequential", "random", "unique", "per_vu"})}}},
                                    {"delimiter", {{"type", "string"}}}}},
                                  {"additionalProperties", false}}})}}}}},
      {"secrets", described(text_or_list(), "Environment variables that are never shown.")},
      {"env", {{"type", "object"}, {"additionalProperties", {{"type", Json::array({"string", "number", "boolean"})}}}}},
      {"thresholds",
       described({{"type", Json::array({"array", "string", "object"})}}, "What makes the run a failure.")},
      {"workflows", {{"type", "array"}, {"items", reference("workflow")}, {"minItems", 1}}},
      {"tags", reference("tags")},
      {"datacenters", text_or_list()},
      {"timeout", reference("duration")},
      {"seed", {{"type", "integer"}, {"minimum", 1}}},
      {"include", text_or_list()},
  };
  const Json of_workflow = workflow_keys();
  for (const auto& [key, schema] : of_workflow.items()) {
    if (!keys.contains(key)) keys[key] = schema;
  }
  return keys;
}

}  // namespace

std::string json_schema(const Languages& languages) {
  const Json branch{
      {"anyOf",
       Json::array({reference("step"),
                    reference("steps"),
                    {{"type", "object"},
                     {"properties", {{"weight", {{"type", "number"}, {"minimum", 0}}}, {"steps", reference("steps")}}},
                     {"required", Json::array({"steps"})},
                     {"additionalProperties", false}}})}};
  const Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "muster job"},
      {"type", "object"},
      {"properties", job_keys_schema()},
      {"additionalProperties", false},
      {"$defs",
       {{"duration", {{"type", Json::array({"string", "integer"})}, {"pattern", kDuration}}},
        {"tags", {{"type", "object"}, {"additionalProperties", scalar()}}},
        {"target", target_schema(languages)},
        {"load", load_schema(languages)},
        {"workflow", {{"type", "object"}, {"properties", workflow_keys()}, {"additionalProperties", false}}},
        {"steps", {{"type", "array"}, {"items", reference("step")}, {"minItems", 1}}},
        {"branches", {{"type", "array"}, {"items", branch}, {"minItems", 1}}},
        {"step", step_schema(languages)}}},
  };
  return schema.dump(2) + "\n";
}

}  // namespace muster::authoring
