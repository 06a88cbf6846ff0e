// Turns tokens into a tree, by recursive descent, one function for each level of precedence. Works out constant parts
// on the way. Private to the expression sources.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "authoring/expression.h"
#include "authoring/node.h"
#include "authoring/token.h"
#include "base/arena.h"

namespace muster::authoring {

class Parser {
 public:
  using Result = std::expected<NodePointer, ExpressionError>;

  // `base` is added to every offset in an error: the place of `text` within what the user wrote.
  Parser(std::string_view text, Scope& scope, std::size_t base = 0);

  Result whole();          // one expression and then the end
  Result whole_path();     // a path and then the end
  Result whole_operand();  // an operand of a comparison and then the end
  Result whole_list();     // a list and then the end

  // A node over `children`; worked out at once where all are constant.
  Result make(Op op, std::vector<NodePointer> children, std::size_t offset);
  Result make(Op op, NodePointer left, NodePointer right, std::size_t offset);
  Result make(Op op, NodePointer only, std::size_t offset);

 private:
  class Deeper;

  Result expression();  // ??
  Result either();      // ||
  Result both();        // &&
  Result negation();    // not
  Result comparison();
  Result membership();  // in contains matches exists !
  Result sum();
  Result product();
  Result unary();
  Result primary();
  Result name();
  Result path(Path path, std::size_t offset);
  Result call(std::string_view name, std::size_t offset);
  Result list();
  Result chain(Op op, std::string_view symbol, std::string_view word, Result (Parser::*operand)());
  Result test(NodePointer subject);  // what may follow a subject at the level of membership
  Result fold(NodePointer node);
  // Constant lists stay trees until it is known that no `in` follows, which then need not read their text again.
  void settle(NodePointer& node);
  Result finished(Result node);

  std::expected<std::vector<NodePointer>, ExpressionError> items(std::string_view close, std::size_t offset);
  std::expected<void, ExpressionError> expect_end();
  std::expected<void, ExpressionError> check_call(const Function& function, const std::vector<NodePointer>& arguments,
                                                  std::size_t offset) const;
  // Where the next token cannot be read, the error waits in `failure_` and the parser sees the end.
  void advance();
  bool at(std::string_view operator_spelling) const;
  bool at_word(std::string_view word) const;
  std::unexpected<ExpressionError> error(std::size_t offset, std::string message) const;
  std::unexpected<ExpressionError> unexpected_token(std::string_view wanted) const;

  Tokenizer tokens_;
  Scope& scope_;
  std::size_t base_;
  Token token_;
  std::optional<ExpressionError> failure_;
  std::size_t depth_ = 0;
  base::BlockPool pool_;
  base::Arena arena_{pool_};
};

// The tree of a check, as Expression::compile_check describes it (check_condition.cpp).
Parser::Result parse_check(std::string_view subject, std::string_view condition, Scope& scope);

}  // namespace muster::authoring
