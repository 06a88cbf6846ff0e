// Text with ${…} holes: compiled once into literals and expressions, then rendered by appending to a buffer that the
// caller reuses. Each hole is escaped for its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/expression.h"
#include "authoring/holes.h"
#include "base/error.h"

namespace muster::authoring {

enum class Escape : std::uint8_t {
  kNone,
  kPath,    // of a URL: everything but unreserved characters and '/' is percent-encoded
  kQuery,   // of a URL's query value or a form
  kHeader,  // CR, LF and NUL are refused: rendering fails
  kJson,    // inside a JSON string
};

// What happens to the text around the holes.
enum class Literals : std::uint8_t {
  kAsWritten,
  kEscaped,   // as the holes: the whole text is one value of its place
  kRepaired,  // of a URL: what may not stand bare in it is percent-encoded, triplets and separators stay
};

class TextTemplate {
 public:
  // `${x}` is a hole, `$${` stands for a literal `${`.
  static std::expected<TextTemplate, ExpressionError> compile(std::string_view text, Scope& scope, Escape escape,
                                                              Literals literals = Literals::kAsWritten);

  bool constant() const { return holes_ == 0; }

  // Appends the rendered text. On a missing value or a character that the place does not allow, returns what was wrong
  // and leaves `out` with a part of the text.
  base::Expected<void> render(const Evaluation& evaluation, std::string& out) const;

  // The value itself, with its type, where the whole text is one hole; otherwise the rendered text, made in the arena.
  base::Expected<model::Value> value(const Evaluation& evaluation) const;

  // What it is made of, escaping done in the literals: neighbouring literals are one piece.
  void append_to(std::vector<TextPiece>& pieces) const;

  // Where the whole text is exactly one hole.
  bool single_hole() const { return holes_ == 1 && parts_.size() == 1; }

 private:
  struct Part {
    std::string literal;
    std::unique_ptr<Expression> hole;  // null: literal
    std::string source;                // the hole's text, for messages
  };

  template <class Out>
  base::Expected<void> render_to(const Evaluation& evaluation, Out& out) const;

  std::vector<Part> parts_;
  std::size_t holes_ = 0;
  Escape escape_ = Escape::kNone;
};

// Appends `value` as text, escaped; false for a missing value, or one that the place does not allow: then nothing was
// appended.
bool append_value(std::string& out, const model::Value& value, Escape escape);

// Appends `value` as a JSON value: text is quoted, JSON stands as it is, null and missing become null.
void append_json(std::string& out, const model::Value& value);

}  // namespace muster::authoring
