// The leaves of the grammar: literals, paths, calls, lists and parentheses.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "authoring/expression_words.h"
#include "authoring/functions.h"
#include "authoring/loader_synonyms.h"
#include "authoring/options.h"
#include "authoring/parser.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

using model::Value;

constexpr std::array<std::string_view, 10> kReservedWords{"not",     "and",    "or",   "in",    "contains",
                                                          "matches", "exists", "true", "false", "null"};
constexpr auto kConstants = std::span(kReservedWords).last<3>();
constexpr auto kReserved = std::span(kReservedWords).first<kReservedWords.size() - kConstants.size()>();
constexpr std::array<std::string_view, 4> kAlgorithms{"md5", "sha1", "sha256", "sha512"};
constexpr std::array<std::string_view, 2> kEncodings{"hex", "base64"};

constexpr std::string_view kOperand = "a value (a number, 'text', a name, a function or a list)";

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Empty, or what is wrong with a constant argument that must be one of a few words.
std::string wrong_word(const std::vector<NodePointer>& arguments, std::size_t at,
                       std::span<const std::string_view> known) {
  if (at >= arguments.size() || arguments[at]->op != Op::kConstant) return {};
  const Value& value = arguments[at]->value;
  const std::string_view word = value.textual() ? value.text() : std::string_view("this");
  if (std::ranges::find(known, word) != known.end()) return {};
  return fmt::format("'{}' is none of {}{}", word, fmt::join(known, ", "), base::did_you_mean(word, known));
}

bool among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::span<const std::string_view> expression_words() {
  return kReservedWords;
}

bool expression_word(std::string_view name) {
  return among(kReservedWords, name);
}

Parser::Result Parser::primary() {
  if (failure_) return std::unexpected(*failure_);
  const std::size_t offset = token_.offset;
  switch (token_.kind) {
    case TokenKind::kNumber: {
      NodePointer node = make_constant(token_.number);
      advance();
      return node;
    }
    case TokenKind::kText: {
      NodePointer node = make_constant(Value::of(std::string_view(token_.text)));
      advance();
      return node;
    }
    case TokenKind::kName:
      return name();
    case TokenKind::kOperator:
      break;
    case TokenKind::kEnd:
      return unexpected_token(kOperand);
  }
  if (at("[")) return list();
  if (!at("(")) return unexpected_token(kOperand);
  advance();
  auto inside = expression();
  if (!inside) return inside;
  if (!at(")")) return error(offset, fmt::format("this '(' is not closed: expected ')', found {}", found(token_)));
  advance();
  return inside;
}

Parser::Result Parser::name() {
  const std::string_view word = token_.spelling;
  const std::size_t offset = token_.offset;
  if (among(kReserved, word)) return unexpected_token(kOperand);
  const bool continues = tokens_.directly_followed_by('.') || tokens_.directly_followed_by('[');
  if (!continues) {
    if (tokens_.directly_followed_by('(')) return call(word, offset);
    if (among(kConstants, word)) {
      advance();
      return make_constant(word == "null" ? Value::null() : Value::of(word == "true"));
    }
  }
  Path parts{std::string(word)};
  if (auto rest = tokens_.read_path_rest(parts); !rest) {
    return error(rest.error().offset, std::move(rest.error().message));
  }
  advance();
  return path(std::move(parts), offset);
}

Parser::Result Parser::path(Path parts, std::size_t offset) {
  auto node = std::make_unique<Node>();
  auto slot = scope_.resolve(parts);
  if (slot) {
    node->op = Op::kSlot;
    node->slot = slot->index;
    if (!slot->rest.empty()) {
      node->extra = std::make_unique<Node::Extra>();
      node->extra->rest = std::move(slot->rest);
    }
    return node;
  }
  const auto* const first = std::get_if<std::string>(&parts.front());
  if (parts.size() == 1 && (*first == "vu" || *first == "iteration")) {
    if (auto allowed = scope_.allow_changing(*first); !allowed)
      return error(offset, std::move(allowed.error().message));
    node->op = *first == "vu" ? Op::kVu : Op::kIteration;
    return node;
  }
  std::string message = std::move(slot.error().message);
  const bool dashed = first->find('-') != std::string::npos;
  if (dashed) message += "; to subtract, put spaces around '-'";
  if (at("(")) message += fmt::format("; to call a function, write '(' directly after its name");
  return error(offset, std::move(message));
}

Parser::Result Parser::call(std::string_view name, std::size_t offset) {
  const Function* const function = find_function(name);
  if (function == nullptr) {
    std::vector<std::string_view> names;
    for (const Function& each : functions()) names.push_back(each.name);
    const std::string_view ours = function_for(name);
    return error(offset,
                 fmt::format("there is no function '{}'{}", name,
                             ours.empty() ? base::did_you_mean(name, names) : fmt::format("; write {}(…)", ours)));
  }
  if (!function->pure) {
    auto allowed = scope_.allow_changing(fmt::format("{}()", name));
    if (!allowed) return error(offset, std::move(allowed.error().message));
  }
  advance();
  const std::size_t open = token_.offset;
  advance();
  auto arguments = items(")", open);
  if (!arguments) return std::unexpected(arguments.error());
  if (auto good = check_call(*function, *arguments, offset); !good) return std::unexpected(good.error());

  std::unique_ptr<re2::RE2> pattern;
  if (function->op == Op::kRegex && (*arguments)[1]->op == Op::kConstant && (*arguments)[1]->value.textual()) {
    std::string why;
    pattern = compile_pattern((*arguments)[1]->value.text(), why);
    if (!pattern) return error(offset, fmt::format("the pattern of regex() is not a regular expression: {}", why));
  }
  auto node = std::make_unique<Node>();
  node->function = function;
  node->op = function->op;
  for (NodePointer& argument : *arguments) {
    node->depth = std::max(node->depth, argument->depth);
    settle(argument);
  }
  if (node->depth >= kExpressionLimits.depth) return error(offset, "this expression is nested too deeply");
  ++node->depth;
  node->children = std::move(*arguments);
  if (pattern) {
    node->extra = std::make_unique<Node::Extra>();
    node->extra->pattern = std::move(pattern);
  }
  return fold(std::move(node));
}

std::expected<void, ExpressionError> Parser::check_call(const Function& function,
                                                        const std::vector<NodePointer>& arguments,
                                                        std::size_t offset) const {
  const std::size_t count = arguments.size();
  const bool half_random = function.name == "random" && count == 1;
  if (count < function.least || count > function.most || half_random) {
    const std::string takes =
        half_random || function.name == "random" ? "no or 2 arguments"
        : function.least == function.most
            ? (function.least == 0 ? std::string("no arguments") : plural(function.least, "argument"))
            : fmt::format("{} to {} arguments", function.least, function.most);
    return error(offset, fmt::format("{}() takes {}, here are {}: {}", function.name, takes, count, function.usage));
  }
  std::string wrong;
  if (function.name == "hmac") wrong = wrong_word(arguments, 0, kAlgorithms);
  const bool hash = function.name.starts_with("sha") || function.name == "md5";
  if (wrong.empty() && (hash || function.name == "hmac")) wrong = wrong_word(arguments, hash ? 1 : 3, kEncodings);
  if (!wrong.empty()) return error(offset, fmt::format("{}: {}", function.usage, wrong));
  return {};
}

Parser::Result Parser::list() {
  const std::size_t offset = token_.offset;
  advance();
  auto elements = items("]", offset);
  if (!elements) return std::unexpected(elements.error());
  return make(Op::kList, std::move(*elements), offset);
}

std::expected<std::vector<NodePointer>, ExpressionError> Parser::items(std::string_view close, std::size_t offset) {
  std::vector<NodePointer> nodes;
  while (!at(close)) {
    if (!nodes.empty()) {
      if (!at(",")) {
        return error(token_.offset, fmt::format("expected ',' or '{}', found {}; what opens at {} is not closed", close,
                                                found(token_), base_ + offset + 1));
      }
      advance();
    }
    auto node = expression();
    if (!node) return std::unexpected(node.error());
    nodes.push_back(std::move(*node));
  }
  advance();
  return nodes;
}

}  // namespace muster::authoring
