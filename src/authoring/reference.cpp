#include "authoring/reference.h"

#include <fmt/format.h>

#include <limits>

#include "base/units.h"

namespace muster::authoring {
namespace {

using model::Field;
using model::FieldType;

std::string_view type_name(FieldType type) {
  switch (type) {
    case FieldType::kText:
      return "text";
    case FieldType::kPath:
      return "path of a file";
    case FieldType::kExpression:
      return "expression";
    case FieldType::kBool:
      return "true or false";
    case FieldType::kInteger:
      return "whole number";
    case FieldType::kNumber:
      return "number";
    case FieldType::kDuration:
      return "time";
    case FieldType::kDurationRange:
      return "time or range of times";
    case FieldType::kSize:
      return "size";
    case FieldType::kChoice:
      return "choice";
    case FieldType::kTextMap:
      return "map of text";
    case FieldType::kExpressionMap:
      return "map of expressions";
    case FieldType::kTextList:
      return "text or list of texts";
    case FieldType::kRanges:
      return "numbers and ranges";
    case FieldType::kTree:
      return "any value";
    case FieldType::kSteps:
      return "list of steps";
    case FieldType::kBranches:
      return "list of branches";
  }
  return "";
}

std::string bound(const Field& field, double value) {
  if (field.type == FieldType::kDuration || field.type == FieldType::kDurationRange) {
    return base::format_duration(base::from_seconds(value));
  }
  if (field.type == FieldType::kSize) return base::format_size(static_cast<std::uint64_t>(value));
  return fmt::format("{}", value);
}

std::string allowed(const Field& field) {
  std::string text;
  for (const std::string_view choice : field.choices) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", choice);
  const bool low = field.min > std::numeric_limits<double>::lowest();
  const bool high = field.max < std::numeric_limits<double>::max();
  if (low && high) text = fmt::format("{} to {}", bound(field, field.min), bound(field, field.max));
  if (low && !high) text = fmt::format("from {}", bound(field, field.min));
  if (!low && high) text = fmt::format("up to {}", bound(field, field.max));
  // What the type does not already say.
  const bool counts = field.type == FieldType::kInteger || field.type == FieldType::kNumber;
  if (counts && !text.empty() && !field.unit.empty()) text += fmt::format(" {}", field.unit);
  return text;
}

// A bar would end the table's cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char each : text) {
    if (each == '|') escaped += '\\';
    escaped += each == '\n' ? ' ' : each;
  }
  return escaped;
}

void append_fields(std::string& out, const std::vector<Field>& fields) {
  out += "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : fields) {
    const std::string fallback = field.required           ? "required"
                                 : field.fallback.empty() ? ""
                                                          : fmt::format("`{}`", field.fallback);
    out += fmt::format("| `{}` | {}{} | {} | {} | {} |\n", field.name, type_name(field.type),
                       field.holes ? ", may hold `${…}`" : "", cell(fallback), cell(allowed(field)), cell(field.doc));
  }
  out += '\n';
}

void append_kind(std::string& out, const model::StepKind& kind) {
  out += fmt::format("## {}\n\n{} ({} step)\n\n", kind.name, kind.doc, to_text(kind.role));
  if (!kind.shorthands.empty()) {
    std::string keys;
    for (const auto& each : kind.shorthands) keys += fmt::format("{}`{}`", keys.empty() ? "" : ", ", each.key);
    out += fmt::format("Short forms: {}. Their other fields stand beside them in the step.\n\n", keys);
  }
  if (!kind.example.empty()) out += fmt::format("```\n{}```\n\n", kind.example);
  if (!kind.fields.empty()) append_fields(out, kind.fields);
  if (!kind.results.empty()) {
    out += "Results, for `check`, `save` and later steps:\n\n| name | type | meaning |\n|---|---|---|\n";
    for (const auto& each : kind.results) {
      out += fmt::format("| `{}` | {} | {} |\n", each.name, type_name(each.type), cell(each.doc));
    }
    out += '\n';
  }
  if (!kind.target_fields.empty()) {
    out += fmt::format("Options of a target for `{}` steps:\n\n", kind.name);
    append_fields(out, kind.target_fields);
  }
}

}  // namespace

std::string markdown_reference(const model::StepKinds& kinds) {
  std::string out =
      "# Reference of steps\n\n"
      "Made from the descriptors in `src/model`; do not edit. How a file is put together is in [yaml.md](yaml.md).\n\n"
      "Every step may also have `name`, `on`, `check`, `save`, `tags` and `after`.\n\n";
  for (const model::StepKind& kind : kinds.all()) append_kind(out, kind);
  out.pop_back();
  return out;
}

}  // namespace muster::authoring
