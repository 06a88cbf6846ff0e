#include "authoring/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "authoring/functions.h"
#include "authoring/options.h"
#include "authoring/value_text.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

using model::Value;
using model::ValueType;

struct Comparing {
  std::string_view spelling;
  Op op;
};

constexpr std::array kComparisons{Comparing{"==", Op::kEqual},     Comparing{"!=", Op::kNotEqual},
                                  Comparing{"<=", Op::kLessEqual}, Comparing{">=", Op::kGreaterEqual},
                                  Comparing{"<", Op::kLess},       Comparing{">", Op::kGreater}};

bool is_constant(const NodePointer& node) {
  return node->op == Op::kConstant;
}

bool pure(const Node& node) {
  switch (node.op) {
    case Op::kSlot:
    case Op::kVu:
    case Op::kIteration:
    case Op::kPick:
      return false;
    case Op::kCall:
      return node.function->pure;
    default:
      return true;
  }
}

std::vector<NodePointer> list_of(NodePointer first, NodePointer second) {
  std::vector<NodePointer> children;
  children.reserve(2);
  children.push_back(std::move(first));
  children.push_back(std::move(second));
  return children;
}

}  // namespace

// Counts how deep the parser is within itself for as long as it lives.
class Parser::Deeper {
 public:
  explicit Deeper(Parser& parser) : parser_(parser) { ++parser_.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --parser_.depth_; }

  bool too_deep() const { return parser_.depth_ > kExpressionLimits.depth; }

 private:
  Parser& parser_;
};

NodePointer make_constant(const Value& value) {
  auto node = std::make_unique<Node>();
  node->value = value;
  if (!value.textual()) return node;
  node->extra = std::make_unique<Node::Extra>();
  node->extra->text = value.text();
  node->value = value.type() == ValueType::kText ? Value::of(std::string_view(node->extra->text))
                                                 : Value::json(node->extra->text);
  return node;
}

std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern, std::string& why) {
  if (pattern.size() > kExpressionLimits.pattern_bytes) {
    why = fmt::format("the pattern is longer than {} bytes", kExpressionLimits.pattern_bytes);
    return nullptr;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<std::int64_t>(kExpressionLimits.pattern_memory));
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (compiled->ok()) return compiled;
  why = compiled->error();
  return nullptr;
}

Parser::Parser(std::string_view text, Scope& scope, std::size_t base) : tokens_(text), scope_(scope), base_(base) {
  if (text.size() > kExpressionLimits.text_bytes) {
    failure_ = ExpressionError{
        fmt::format("an expression may be at most {} bytes long, this one has {}; split it with 'set' steps",
                    kExpressionLimits.text_bytes, text.size()),
        base};
    return;
  }
  advance();
}

void Parser::advance() {
  if (failure_) return;
  auto token = tokens_.next();
  if (token) {
    token_ = std::move(*token);
    return;
  }
  failure_ = std::move(token.error());
  failure_->offset += base_;
  token_ = Token{.offset = failure_->offset};
}

bool Parser::at(std::string_view spelling) const {
  return token_.kind == TokenKind::kOperator && token_.spelling == spelling;
}

bool Parser::at_word(std::string_view word) const {
  return token_.kind == TokenKind::kName && token_.spelling == word;
}

// What the tokenizer could not read comes first: what the parser makes of it would only confuse.
std::unexpected<ExpressionError> Parser::error(std::size_t offset, std::string message) const {
  if (failure_) return std::unexpected(*failure_);
  return std::unexpected(ExpressionError{std::move(message), base_ + offset});
}

std::unexpected<ExpressionError> Parser::unexpected_token(std::string_view wanted) const {
  return error(token_.offset, fmt::format("expected {}, found {}", wanted, found(token_)));
}

std::expected<void, ExpressionError> Parser::expect_end() {
  if (failure_) return std::unexpected(*failure_);
  if (token_.kind == TokenKind::kEnd) return {};
  if (at("=") && tokens_.directly_followed_by('~')) {
    return error(token_.offset, "'=~' is no operator; write 'matches' and the pattern in quotes");
  }
  if (at("=")) return error(token_.offset, "'=' does not compare; write '=='");
  for (const std::string_view capital : {"AND", "OR", "IN", "NOT", "CONTAINS", "MATCHES", "EXISTS"}) {
    if (!at_word(capital)) continue;
    std::string small(capital);
    std::ranges::transform(small, small.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    return error(token_.offset, fmt::format("write '{}' in small letters", small));
  }
  if (at("&") || at("|"))
    return error(token_.offset, fmt::format("'{0}' is no operator; write '{0}{0}'", token_.spelling));
  return unexpected_token("an operator or the end");
}

Parser::Result Parser::whole() {
  return finished(expression());
}

Parser::Result Parser::whole_operand() {
  return finished(sum());
}

Parser::Result Parser::whole_path() {
  if (token_.kind != TokenKind::kName) return unexpected_token("a path such as status or json.token");
  return finished(name());
}

Parser::Result Parser::whole_list() {
  auto node = list();
  if (!node) return node;
  if (auto end = expect_end(); !end) return std::unexpected(end.error());
  return node;
}

Parser::Result Parser::make(Op op, std::vector<NodePointer> children, std::size_t offset) {
  auto node = std::make_unique<Node>();
  node->op = op;
  std::size_t deepest = 0;
  for (std::size_t at = 0; at < children.size(); ++at) {
    deepest = std::max<std::size_t>(deepest, children[at]->depth);
    if (op != Op::kIn || at == 0 || is_constant(children[0])) settle(children[at]);
  }
  if (deepest >= kExpressionLimits.depth) {
    return error(offset, fmt::format("this expression is nested deeper than {} levels; split it with 'set' steps",
                                     kExpressionLimits.depth));
  }
  node->depth = static_cast<std::uint16_t>(deepest + 1);
  node->children = std::move(children);
  return fold(std::move(node));
}

Parser::Result Parser::make(Op op, NodePointer left, NodePointer right, std::size_t offset) {
  return make(op, list_of(std::move(left), std::move(right)), offset);
}

Parser::Result Parser::make(Op op, NodePointer only, std::size_t offset) {
  std::vector<NodePointer> children;
  children.push_back(std::move(only));
  return make(op, std::move(children), offset);
}

Parser::Result Parser::fold(NodePointer node) {
  if (!pure(*node) || !std::ranges::all_of(node->children, is_constant)) return node;
  if (node->op == Op::kList) return node;
  const Evaluation evaluation{.arena = &arena_};
  NodePointer constant = make_constant(evaluate_node(*node, evaluation));
  arena_.reset();
  return constant;
}

void Parser::settle(NodePointer& node) {
  if (node->op != Op::kList || !std::ranges::all_of(node->children, is_constant)) return;
  node = make_constant(evaluate_node(*node, Evaluation{.arena = &arena_}));
  arena_.reset();
}

Parser::Result Parser::finished(Result node) {
  if (!node) return node;
  if (auto end = expect_end(); !end) return std::unexpected(end.error());
  settle(*node);
  return node;
}

Parser::Result Parser::chain(Op op, std::string_view symbol, std::string_view word, Result (Parser::*operand)()) {
  auto first = (this->*operand)();
  if (!first || (!at(symbol) && !at_word(word))) return first;
  std::vector<NodePointer> children;
  children.push_back(std::move(*first));
  const std::size_t offset = token_.offset;
  while (at(symbol) || at_word(word)) {
    advance();
    auto next = (this->*operand)();
    if (!next) return next;
    children.push_back(std::move(*next));
  }
  return make(op, std::move(children), offset);
}

Parser::Result Parser::expression() {
  const Deeper deeper(*this);
  if (deeper.too_deep()) {
    return error(token_.offset,
                 fmt::format("this expression is nested deeper than {} levels; split it with 'set' steps",
                             kExpressionLimits.depth));
  }
  return chain(Op::kCoalesce, "??", {}, &Parser::either);
}

Parser::Result Parser::either() {
  return chain(Op::kOr, "||", "or", &Parser::both);
}

Parser::Result Parser::both() {
  return chain(Op::kAnd, "&&", "and", &Parser::negation);
}

Parser::Result Parser::negation() {
  if (!at_word("not")) return comparison();
  const Deeper deeper(*this);
  const std::size_t offset = token_.offset;
  if (deeper.too_deep()) return error(offset, "too many 'not' in a row");
  advance();
  auto operand = negation();
  if (!operand) return operand;
  return make(Op::kNot, std::move(*operand), offset);
}

Parser::Result Parser::comparison() {
  const auto find = [this] {
    return std::ranges::find_if(kComparisons, [this](const Comparing& each) { return at(each.spelling); });
  };
  auto left = membership();
  if (!left) return left;
  const auto* found = find();
  if (found == kComparisons.end()) return left;
  const std::size_t offset = token_.offset;
  advance();
  if (at("=")) return error(offset, fmt::format("'{0}=' is no operator; write '{0}'", found->spelling));
  auto right = membership();
  if (!right) return right;
  if (find() != kComparisons.end()) return error(token_.offset, "comparisons do not chain; write a < b && b < c");
  return make(found->op, std::move(*left), std::move(*right), offset);
}

Parser::Result Parser::membership() {
  if (at("!") || at_word("not")) {
    const Deeper deeper(*this);
    const std::size_t offset = token_.offset;
    if (deeper.too_deep()) return error(offset, "too many '!' in a row");
    advance();
    auto operand = membership();
    if (!operand) return operand;
    return make(Op::kNot, std::move(*operand), offset);
  }
  auto subject = sum();
  if (!subject) return subject;
  return test(std::move(*subject));
}

Parser::Result Parser::test(NodePointer subject) {
  const std::size_t offset = token_.offset;
  const bool negated = at_word("not");
  if (negated) advance();
  Result result;
  if (at_word("exists")) {
    advance();
    result = make(Op::kExists, std::move(subject), offset);
  } else if (at_word("in") || at_word("contains") || at_word("matches")) {
    const Op op = at_word("in") ? Op::kIn : at_word("contains") ? Op::kContains : Op::kMatches;
    advance();
    const std::size_t place = token_.offset;
    auto right = sum();
    if (!right) return right;
    std::unique_ptr<re2::RE2> pattern;
    if (op == Op::kMatches && (*right)->op == Op::kConstant && (*right)->value.textual()) {
      std::string why;
      pattern = compile_pattern((*right)->value.text(), why);
      if (!pattern) return error(place, fmt::format("this is not a regular expression: {}", why));
    }
    result = make(op, std::move(subject), std::move(*right), offset);
    if (result && (*result)->op == Op::kMatches && pattern) {
      (*result)->extra = std::make_unique<Node::Extra>();
      (*result)->extra->pattern = std::move(pattern);
    }
  } else {
    if (negated) return unexpected_token("in, contains, matches or exists after 'not'");
    return subject;
  }
  if (!result || !negated) return result;
  return make(Op::kNot, std::move(*result), offset);
}

Parser::Result Parser::sum() {
  auto left = product();
  while (left && (at("+") || at("-"))) {
    const Op op = at("+") ? Op::kAdd : Op::kSubtract;
    const std::size_t offset = token_.offset;
    advance();
    auto right = product();
    if (!right) return right;
    if (op == Op::kAdd && (*left)->op == Op::kAdd) {
      (*left)->children.push_back(std::move(*right));
      auto children = std::move((*left)->children);
      left = make(op, std::move(children), offset);
    } else {
      left = make(op, std::move(*left), std::move(*right), offset);
    }
  }
  return left;
}

Parser::Result Parser::product() {
  auto left = unary();
  while (left && (at("*") || at("/") || at("%"))) {
    const Op op = at("*") ? Op::kMultiply : at("/") ? Op::kDivide : Op::kModulo;
    const std::size_t offset = token_.offset;
    advance();
    auto right = unary();
    if (!right) return right;
    left = make(op, std::move(*left), std::move(*right), offset);
  }
  return left;
}

Parser::Result Parser::unary() {
  if (!at("-")) return primary();
  const Deeper deeper(*this);
  const std::size_t offset = token_.offset;
  if (deeper.too_deep()) return error(offset, "too many '-' in a row");
  advance();
  if (token_.kind == TokenKind::kNumber && token_.number.type() != ValueType::kInteger) {
    // The smallest whole number of 64 bits: without its sign it is too large for one.
    if (const Value whole = number_of(fmt::format("-{}", token_.spelling)); whole.type() == ValueType::kInteger) {
      advance();
      return make_constant(whole);
    }
  }
  auto operand = unary();
  if (!operand) return operand;
  return make(Op::kNegate, std::move(*operand), offset);
}

}  // namespace muster::authoring
