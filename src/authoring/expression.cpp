#include "authoring/expression.h"

#include <algorithm>

#include "authoring/node.h"
#include "authoring/parser.h"

namespace muster::authoring {

using model::Value;
using model::ValueType;

bool truthy(const Value& value) {
  switch (value.type()) {
    case ValueType::kMissing:
    case ValueType::kNull:
      return false;
    case ValueType::kBool:
      return value.boolean();
    case ValueType::kInteger:
      return value.integer() != 0;
    case ValueType::kNumber:
      return value.number() != 0;
    case ValueType::kText:
      return !value.text().empty() && value.text() != "false";
    case ValueType::kJson:
      return true;
  }
  return false;
}

Expression::Expression(std::unique_ptr<Node> root) : root_(std::move(root)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

std::expected<Expression, ExpressionError> Expression::compile(std::string_view text, Scope& scope) {
  auto root = Parser(text, scope).whole();
  if (!root) return std::unexpected(std::move(root.error()));
  return Expression(std::move(*root));
}

std::expected<Expression, ExpressionError> Expression::compile_check(std::string_view subject,
                                                                     std::string_view condition, Scope& scope) {
  auto root = parse_check(subject, condition, scope);
  if (!root) return std::unexpected(std::move(root.error()));
  return Expression(std::move(*root));
}

Value Expression::evaluate(const Evaluation& evaluation) const {
  return evaluate_node(*root_, evaluation);
}

bool Expression::holds(const Evaluation& evaluation) const {
  return truthy(evaluate_node(*root_, evaluation));
}

namespace {

// Recursion ends at the depth that the parser allows.
bool node_reads(const Node& node, std::uint32_t slot) {
  if (node.op == Op::kSlot && node.slot == slot) return true;
  return std::ranges::any_of(node.children, [slot](const NodePointer& each) { return node_reads(*each, slot); });
}

}  // namespace

bool Expression::reads(std::uint32_t slot) const {
  return node_reads(*root_, slot);
}

bool Expression::constant() const {
  return root_->op == Op::kConstant;
}

}  // namespace muster::authoring
