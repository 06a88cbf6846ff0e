// Conditions of checks: "exists", "< 5", "matches ^a", "contains x", "in [1, 2]", each also after "not", or a literal
// to be equal to. Unlike in an expression, text needs no quotes here.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "authoring/holes.h"
#include "authoring/parser.h"
#include "authoring/value_text.h"
#include "base/characters.h"

namespace muster::authoring {
namespace {

using model::Value;

struct Symbol {
  std::string_view spelling;
  Op op;
};

constexpr std::array kSymbols{Symbol{"==", Op::kEqual},     Symbol{"!=", Op::kNotEqual},
                              Symbol{"<=", Op::kLessEqual}, Symbol{">=", Op::kGreaterEqual},
                              Symbol{"<", Op::kLess},       Symbol{">", Op::kGreater}};

// How others write a comparison, and what it is here. The lone `=` comes last: others begin with it.
struct Slip {
  std::string_view spelling;
  std::string_view meant;
};

constexpr std::array kSlips{Slip{"=>", ">="}, Slip{"=<", "<="},      Slip{"=!", "!="},
                            Slip{"<>", "!="}, Slip{"=~", "matches"}, Slip{"=", "=="}};

bool space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// A part of the condition and where it starts within it.
struct Part {
  std::string_view text;
  std::size_t offset = 0;

  void trim() {
    while (!text.empty() && space(text.front())) drop(1);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
  }
  void drop(std::size_t count) {
    text.remove_prefix(count);
    offset += count;
  }
  // Takes `word` off the start where it stands there as a word of its own.
  bool take_word(std::string_view word) {
    if (!text.starts_with(word)) return false;
    if (text.size() > word.size() && !space(text[word.size()])) return false;
    drop(word.size());
    trim();
    return true;
  }
};

// Text with ${…} holes; a single hole keeps its type.
Parser::Result with_holes(const Part& part, Scope& scope) {
  auto pieces = split_holes(part.text);
  if (!pieces) return error_at(part.offset + pieces.error().offset, std::move(pieces.error().message));
  std::vector<NodePointer> nodes;
  if (pieces->empty() || !pieces->front().hole) nodes.push_back(make_constant(Value::of("")));
  for (const TextPiece& piece : *pieces) {
    if (!piece.hole) {
      nodes.push_back(make_constant(Value::of(std::string_view(piece.text))));
      continue;
    }
    auto node = Parser(piece.text, scope, part.offset + piece.offset).whole();
    if (!node) return node;
    if (nodes.empty() && pieces->size() > 1) nodes.push_back(make_constant(Value::of("")));
    nodes.push_back(std::move(*node));
  }
  if (nodes.size() == 1) return std::move(nodes.front());
  return Parser("", scope).make(Op::kAdd, std::move(nodes), part.offset);
}

// Whether the text is one number, perhaps negative, or one quoted text. Dates and telephone numbers are sums to the
// parser.
bool one_token(std::string_view text) {
  Tokenizer tokens(text);
  auto token = tokens.next();
  const bool negative = token && token->kind == TokenKind::kOperator && token->spelling == "-";
  if (negative) token = tokens.next();
  if (!token || (token->kind != TokenKind::kNumber && (negative || token->kind != TokenKind::kText))) return false;
  const auto end = tokens.next();
  return end && end->kind == TokenKind::kEnd;
}

// The text that contains and matches look for: quoted, or as it stands.
Parser::Result bare_text(const Part& part, Scope& scope, bool holes) {
  if ((part.text.starts_with('"') || part.text.starts_with('\'')) && one_token(part.text)) {
    if (auto node = Parser(part.text, scope, part.offset).whole_operand(); node && (*node)->op == Op::kConstant)
      return node;
  }
  if (holes && part.text.find("${") != std::string_view::npos) return with_holes(part, scope);
  return make_constant(Value::of(part.text));
}

bool literal_start(std::string_view text) {
  const char c = text.front();
  return base::is_digit(c) || c == '-' || c == '"' || c == '\'' || c == '[' || text == "true" || text == "false" ||
         text == "null";
}

bool one_literal(std::string_view text, Scope& scope) {
  if (text.front() == '[') return Parser(text, scope).whole_list().has_value();
  return text == "true" || text == "false" || text == "null" || one_token(text);
}

// A literal where it reads as one, else the text as it stands: 200, 'text', [1, 2], 300ms, OK, 2024-01-02.
Parser::Result literal(const Part& part, Scope& scope) {
  if (!part.text.empty() && literal_start(part.text)) {
    auto node = Parser(part.text, scope, part.offset).whole_operand();
    if (node && (*node)->op == Op::kConstant && one_literal(part.text, scope)) return node;
    const char c = part.text.front();
    if (!node && (c == '"' || c == '\'' || c == '[')) return node;
  }
  return bare_text(part, scope, true);
}

Parser::Result make_matches(NodePointer subject, const Part& part, Scope& scope) {
  auto pattern = bare_text(part, scope, false);
  if (!pattern) return pattern;
  std::string why;
  auto compiled = compile_pattern((*pattern)->value.text(), why);
  if (!compiled) return error_at(part.offset, fmt::format("this is not a regular expression: {}", why));
  auto node = Parser("", scope).make(Op::kMatches, std::move(subject), std::move(*pattern), part.offset);
  if (node && (*node)->op == Op::kMatches) {
    (*node)->extra = std::make_unique<Node::Extra>();
    (*node)->extra->pattern = std::move(compiled);
  }
  return node;
}

Parser::Result word_condition(NodePointer& subject, Part part, Scope& scope, bool& known) {
  known = true;
  const Part whole = part;
  const auto needs = [&](std::string_view what) {
    return error_at(whole.offset,
                    fmt::format("{}; to compare with the text itself, quote it: '\"{}\"'", what, whole.text));
  };
  if (part.take_word("exists")) {
    if (!part.text.empty()) return needs("nothing may follow 'exists'");
    return Parser("", scope).make(Op::kExists, std::move(subject), whole.offset);
  }
  if (part.take_word("contains")) {
    if (part.text.empty()) return needs("'contains' needs what to look for");
    auto right = bare_text(part, scope, true);
    if (!right) return right;
    return Parser("", scope).make(Op::kContains, std::move(subject), std::move(*right), whole.offset);
  }
  if (part.take_word("matches")) {
    if (part.text.empty()) return needs("'matches' needs a regular expression");
    return make_matches(std::move(subject), part, scope);
  }
  if (part.take_word("in") || part.text.starts_with("in[")) {
    if (part.text.starts_with("in[")) part.drop(2);
    if (!part.text.starts_with('[')) return needs("'in' needs a list such as [200, 201]");
    auto right = Parser(part.text, scope, part.offset).whole_list();
    if (!right) return right;
    return Parser("", scope).make(Op::kIn, std::move(subject), std::move(*right), whole.offset);
  }
  known = false;
  return NodePointer();
}

// `=> 200` would be compared as text, which nothing ever is.
std::optional<ExpressionError> operator_slip(const Part& part) {
  if (part.text.starts_with("==")) return std::nullopt;
  for (const Slip& slip : kSlips) {
    if (!part.text.starts_with(slip.spelling)) continue;
    Part right = part;
    right.drop(slip.spelling.size());
    right.trim();
    if (right.text.empty()) return std::nullopt;
    return ExpressionError{fmt::format("'{}' is no comparison: write \"{} {}\"; to compare with the text itself, quote "
                                       "it: '\"{}\"'",
                                       slip.spelling, slip.meant, right.text, part.text),
                           part.offset};
  }
  return std::nullopt;
}

}  // namespace

Parser::Result parse_check(std::string_view subject_text, std::string_view condition, Scope& scope) {
  auto subject = Parser(subject_text, scope).whole_operand();
  if (!subject) {
    subject.error().in_subject = true;
    return subject;
  }
  Part part{.text = condition, .offset = 0};
  part.trim();
  bool known = false;
  Part after_not = part;
  const bool negated = after_not.take_word("not");
  auto node = word_condition(*subject, negated ? after_not : part, scope, known);
  if (known) {
    if (!node || !negated) return node;
    return Parser("", scope).make(Op::kNot, std::move(*node), part.offset);
  }
  if (auto slip = operator_slip(part)) return std::unexpected(std::move(*slip));
  for (const Symbol& symbol : kSymbols) {
    if (!part.text.starts_with(symbol.spelling)) continue;
    Part right = part;
    right.drop(symbol.spelling.size());
    right.trim();
    const bool holes = right.text.find("${") != std::string_view::npos;
    auto operand = holes ? with_holes(right, scope) : Parser(right.text, scope, right.offset).whole_operand();
    if (!operand) return operand;
    return Parser("", scope).make(symbol.op, std::move(*subject), std::move(*operand), part.offset);
  }
  auto right = literal(part, scope);
  if (!right) return right;
  return Parser("", scope).make(Op::kEqual, std::move(*subject), std::move(*right), part.offset);
}

}  // namespace muster::authoring
