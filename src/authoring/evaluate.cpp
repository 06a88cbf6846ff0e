// Walks the tree. Every function here returns missing rather than failing.
#include <array>
#include <cmath>

#include "authoring/arena_text.h"
#include "authoring/compare.h"
#include "authoring/expression.h"
#include "authoring/functions.h"
#include "authoring/json_scan.h"
#include "authoring/node.h"
#include "authoring/value_text.h"

namespace muster::authoring {
namespace {

using model::Value;
using model::ValueType;

Value finite(double number) {
  return std::isfinite(number) ? Value::of(number) : Value();
}

Value divide(const Value& left, const Value& right) {
  if (right.number() == 0) return {};
  if (left.type() == ValueType::kInteger && right.type() == ValueType::kInteger && right.integer() != -1 &&
      left.integer() % right.integer() == 0) {
    return Value::of(left.integer() / right.integer());
  }
  return finite(left.number() / right.number());
}

Value modulo(const Value& left, const Value& right) {
  if (right.number() == 0) return {};
  if (left.type() == ValueType::kInteger && right.type() == ValueType::kInteger) {
    return Value::of(right.integer() == -1 ? std::int64_t{0} : left.integer() % right.integer());
  }
  return finite(std::fmod(left.number(), right.number()));
}

// Integers stay integers as long as the result fits.
Value calculate(Op op, const Value& given_left, const Value& given_right) {
  const Value left = to_number(given_left);
  const Value right = to_number(given_right);
  if (left.missing() || right.missing()) return {};
  const bool integers = left.type() == ValueType::kInteger && right.type() == ValueType::kInteger;
  std::int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      if (integers && !__builtin_add_overflow(left.integer(), right.integer(), &result)) return Value::of(result);
      return finite(left.number() + right.number());
    case Op::kSubtract:
      if (integers && !__builtin_sub_overflow(left.integer(), right.integer(), &result)) return Value::of(result);
      return finite(left.number() - right.number());
    case Op::kMultiply:
      if (integers && !__builtin_mul_overflow(left.integer(), right.integer(), &result)) return Value::of(result);
      return finite(left.number() * right.number());
    case Op::kDivide:
      return divide(left, right);
    default:
      return modulo(left, right);
  }
}

Value joined(const Value& left, const Value& right, base::Arena& arena) {
  ArenaText out(arena);
  append_plain(out, left);
  append_plain(out, right);
  return out.overflowed() ? Value() : Value::of(out.finish());
}

Value add(const Node& node, const Evaluation& evaluation) {
  Value sum = evaluate_node(*node.children[0], evaluation);
  for (std::size_t at = 1; at < node.children.size(); ++at) {
    if (sum.missing()) return {};
    const Value next = evaluate_node(*node.children[at], evaluation);
    if (next.missing()) return {};
    sum = sum.textual() || next.textual() ? joined(sum, next, *evaluation.arena) : calculate(Op::kAdd, sum, next);
  }
  return sum;
}

bool compare(Op op, const Value& left, const Value& right) {
  if (left.missing() || right.missing()) return false;
  switch (op) {
    case Op::kEqual:
      return equal(left, right);
    case Op::kNotEqual:
      return !equal(left, right);
    case Op::kLess:
      return order(left, right) < 0;
    case Op::kLessEqual:
      return order(left, right) <= 0;
    case Op::kGreater:
      return order(left, right) > 0;
    default:
      return order(left, right) >= 0;
  }
}

bool within(const Node& node, const Evaluation& evaluation) {
  const Value part = evaluate_node(*node.children[0], evaluation);
  if (part.missing()) return false;
  const Node& whole = *node.children[1];
  if (whole.op != Op::kList) return contains(evaluate_node(whole, evaluation), part, *evaluation.arena);
  for (const NodePointer& each : whole.children) {
    if (equal(part, evaluate_node(*each, evaluation))) return true;
  }
  return false;
}

// Calls `use` with the node's compiled pattern, or with one that is compiled now from the second child.
template <class Use>
Value with_pattern(const Node& node, const Evaluation& evaluation, Use use) {
  if (node.extra && node.extra->pattern) return use(*node.extra->pattern);
  const Value pattern = evaluate_node(*node.children[1], evaluation);
  if (pattern.missing()) return {};
  std::string why;
  const auto compiled = compile_pattern(call::as_text(evaluation, pattern), why);
  return compiled ? use(*compiled) : Value();
}

bool matches(const Node& node, const Evaluation& evaluation) {
  const Value subject = evaluate_node(*node.children[0], evaluation);
  if (subject.missing()) return false;
  const std::string_view text = call::as_text(evaluation, subject);
  const Value result = with_pattern(node, evaluation, [&](const re2::RE2& pattern) {
    const bool found = pattern.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
    return Value::of(found);
  });
  return !result.missing() && result.boolean();
}

// The given group, else the first one where the pattern has groups, else the whole match.
Value regex(const Node& node, const Evaluation& evaluation) {
  constexpr int kMostGroups = 10;
  const Value subject = evaluate_node(*node.children[0], evaluation);
  if (subject.missing()) return {};
  Value group;
  if (node.children.size() == 3) {
    group = to_number(evaluate_node(*node.children[2], evaluation));
    if (group.type() != ValueType::kInteger || group.integer() < 0 || group.integer() >= kMostGroups) return {};
  }
  const std::string_view text = call::as_text(evaluation, subject);
  return with_pattern(node, evaluation, [&](const re2::RE2& pattern) {
    const int groups = pattern.NumberOfCapturingGroups();
    const int wanted = group.missing() ? std::min(groups, 1) : static_cast<int>(group.integer());
    std::array<re2::StringPiece, kMostGroups> found;
    if (wanted > groups) return Value();
    if (!pattern.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, found.data(), wanted + 1)) {
      return Value();
    }
    const re2::StringPiece& piece = found[static_cast<std::size_t>(wanted)];
    return piece.data() == nullptr ? Value() : Value::of(std::string_view(piece.data(), piece.size()));
  });
}

Value list(const Node& node, const Evaluation& evaluation) {
  ArenaText out(*evaluation.arena);
  out.push_back('[');
  for (std::size_t at = 0; at < node.children.size(); ++at) {
    if (at > 0) out.push_back(',');
    append_as_json(out, evaluate_node(*node.children[at], evaluation));
  }
  out.push_back(']');
  return out.overflowed() ? Value() : Value::json(out.finish());
}

Value call_function(const Node& node, const Evaluation& evaluation) {
  std::array<Value, kExpressionLimits.arguments> arguments;
  const std::size_t count = node.children.size();
  for (std::size_t at = 0; at < count; ++at) {
    arguments[at] = evaluate_node(*node.children[at], evaluation);
    if (arguments[at].missing()) return {};
  }
  return node.function->call(evaluation, {arguments.data(), count});
}

Value coalesce(const Node& node, const Evaluation& evaluation) {
  Value value;
  for (const NodePointer& child : node.children) {
    value = evaluate_node(*child, evaluation);
    if (!value.missing() && value.type() != ValueType::kNull) break;
  }
  return value;
}

bool any(const Node& node, const Evaluation& evaluation, bool wanted) {
  for (const NodePointer& child : node.children) {
    if (truthy(evaluate_node(*child, evaluation)) == wanted) return true;
  }
  return false;
}

Value slot(const Node& node, const Evaluation& evaluation) {
  const Value& value = evaluation.slots[node.slot];
  if (!node.extra) return value;
  return value.textual() ? find_in_json(value.text(), node.extra->rest, *evaluation.arena) : Value();
}

}  // namespace

Value evaluate_node(const Node& node, const Evaluation& evaluation) {
  const auto child = [&](std::size_t at) { return evaluate_node(*node.children[at], evaluation); };
  switch (node.op) {
    case Op::kConstant:
      return node.value;
    case Op::kSlot:
      return slot(node, evaluation);
    case Op::kVu:
      return Value::of(static_cast<std::int64_t>(evaluation.vu));
    case Op::kIteration:
      return Value::of(static_cast<std::int64_t>(evaluation.iteration));
    case Op::kList:
      return list(node, evaluation);
    case Op::kCoalesce:
      return coalesce(node, evaluation);
    case Op::kOr:
      return Value::of(any(node, evaluation, true));
    case Op::kAnd:
      return Value::of(!any(node, evaluation, false));
    case Op::kNot:
      return Value::of(!truthy(child(0)));
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
      return Value::of(compare(node.op, child(0), child(1)));
    case Op::kIn:
      return Value::of(within(node, evaluation));
    case Op::kContains: {
      const Value whole = child(0);
      return Value::of(contains(whole, child(1), *evaluation.arena));
    }
    case Op::kMatches:
      return Value::of(matches(node, evaluation));
    case Op::kExists:
      return Value::of(!child(0).missing());
    case Op::kAdd:
      return add(node, evaluation);
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo: {
      const Value left = child(0);
      return calculate(node.op, left, child(1));
    }
    case Op::kNegate:
      return calculate(Op::kSubtract, Value::of(std::int64_t{0}), child(0));
    case Op::kPick:
      return child(static_cast<std::size_t>(evaluation.random->below(node.children.size())));
    case Op::kRegex:
      return regex(node, evaluation);
    case Op::kCall:
      return call_function(node, evaluation);
  }
  return {};
}

}  // namespace muster::authoring
