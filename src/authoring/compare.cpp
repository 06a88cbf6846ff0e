#include "authoring/compare.h"

#include "authoring/json_scan.h"
#include "authoring/value_text.h"

namespace muster::authoring {
namespace {

using model::Value;
using model::ValueType;

std::partial_ordering order_numbers(const Value& left, const Value& right) {
  if (left.type() == ValueType::kInteger && right.type() == ValueType::kInteger) {
    return left.integer() <=> right.integer();
  }
  return left.number() <=> right.number();
}

}  // namespace

bool equal(const Value& left, const Value& right) {
  if (left.missing() || right.missing()) return false;
  if (left.numeric() || right.numeric()) {
    const Value a = to_number(left);
    const Value b = to_number(right);
    return !a.missing() && !b.missing() && order_numbers(a, b) == std::partial_ordering::equivalent;
  }
  if (left.type() != right.type()) return false;
  switch (left.type()) {
    case ValueType::kBool:
      return left.boolean() == right.boolean();
    case ValueType::kText:
      return left.text() == right.text();
    case ValueType::kJson:
      return same_json(left.text(), right.text());
    default:
      return true;
  }
}

std::partial_ordering order(const Value& left, const Value& right) {
  const Value a = to_number(left);
  const Value b = to_number(right);
  if (!a.missing() && !b.missing()) return order_numbers(a, b);
  if (left.type() == ValueType::kText && right.type() == ValueType::kText) return left.text() <=> right.text();
  return std::partial_ordering::unordered;
}

bool contains(const Value& whole, const Value& part, base::Arena& arena) {
  if (part.missing()) return false;
  if (whole.type() == ValueType::kJson) {
    JsonElements elements(whole.text());
    for (std::string_view element; elements.next(element);) {
      if (equal(json_value(element, arena), part)) return true;
    }
    return false;
  }
  if (whole.type() != ValueType::kText) return false;
  if (part.textual()) return whole.text().find(part.text()) != std::string_view::npos;
  if (!part.numeric()) return false;
  const NumberText number = part.type() == ValueType::kInteger ? NumberText(part.integer()) : NumberText(part.number());
  return whole.text().find(number.text()) != std::string_view::npos;
}

}  // namespace muster::authoring
