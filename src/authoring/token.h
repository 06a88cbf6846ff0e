// The words of the expression language. One tokenizer serves expressions, conditions of checks and thresholds.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "authoring/expression.h"
#include "authoring/scope.h"
#include "model/value.h"

namespace muster::authoring {

enum class TokenKind : std::uint8_t {
  kEnd,
  kNumber,    // also with a unit: 300ms, 10KB, 1%
  kText,      // quoted
  kName,      // a bare word: start of a path, a function, a word operator or a literal such as true
  kOperator,  // its spelling is in Token::spelling
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t offset = 0;
  std::string_view spelling = {};  // as written
  model::Value number = {};        // kNumber
  std::string text = {};           // kText, with escapes resolved
};

// Gives one token after the other. The text must outlive it. After an error it must not be used further.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text, std::size_t start = 0) : text_(text), at_(start) {}

  std::expected<Token, ExpressionError> next();

  // Called right after a kName token: reads what follows it without space as the rest of a path, `.c[0]["odd name"]`.
  std::expected<void, ExpressionError> read_path_rest(Path& path);

  // Whether the next character, without space between, is `c`.
  bool directly_followed_by(char c) const { return at_ < text_.size() && text_[at_] == c; }

  std::size_t offset() const { return at_; }

 private:
  std::expected<Token, ExpressionError> number();
  std::expected<Token, ExpressionError> quoted();
  std::expected<void, ExpressionError> escape(std::string& out);
  std::expected<void, ExpressionError> bracket(Path& path);
  std::size_t name_length(std::size_t from) const;
  void skip_space();

  std::string_view text_;
  std::size_t at_;
};

// "'x'" for messages: what was found at a token.
std::string found(const Token& token);

}  // namespace muster::authoring
