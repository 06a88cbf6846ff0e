// The one expression language of muster: checks, `if`, `set`, `${…}` holes and thresholds. Parsing and compiling happen
// once, before the clock starts; evaluating allocates nothing but arena space and never fails with more than a missing
// value.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "authoring/scope.h"
#include "base/error.h"
#include "model/value.h"

namespace muster::authoring {

struct Node;  // the parsed form, private to the expression sources

// An error at a place within the expression's text; the loader turns it into file:line:column and a caret.
struct ExpressionError {
  std::string message;
  std::size_t offset = 0;   // bytes from the start of the text
  bool in_subject = false;  // compile_check only: the place is in the subject rather than in the condition
};

inline std::unexpected<ExpressionError> error_at(std::size_t offset, std::string message) {
  return std::unexpected(ExpressionError{.message = std::move(message), .offset = offset});
}

class Expression {
 public:
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  static std::expected<Expression, ExpressionError> compile(std::string_view text, Scope& scope);

  // `subject` is a path such as json.token, `condition` as in a check: "exists", "< 5", "matches ^a", "contains x",
  // "in [1, 2]", or a literal to be equal to.
  static std::expected<Expression, ExpressionError> compile_check(std::string_view subject, std::string_view condition,
                                                                  Scope& scope);

  model::Value evaluate(const Evaluation& evaluation) const;

  // True for true, non-zero numbers, and non-empty text other than "false"; missing and null are false.
  bool holds(const Evaluation& evaluation) const;

  bool reads(std::uint32_t slot) const;
  bool constant() const;  // yields the same value each time and reads no slot

 private:
  explicit Expression(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

bool truthy(const model::Value& value);

}  // namespace muster::authoring
